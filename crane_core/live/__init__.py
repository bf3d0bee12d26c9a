"""The workbench in an open notebook: verdicts on a live kernel before a cell runs."""
