"""How the results of whole notebooks are written, one form per file; each turns results into text."""
