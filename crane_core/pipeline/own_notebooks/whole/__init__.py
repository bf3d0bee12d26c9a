"""Whole notebooks: every cell predicted and executed, the order that cells need, and reports for other tools."""
