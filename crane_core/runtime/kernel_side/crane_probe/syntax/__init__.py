"""Cells as syntax trees: what the target reads and calls, in the order of evaluation, without a kernel."""
