"""A verdict with a fix: edits of the target cell that ran through in a copy of its kernel."""
