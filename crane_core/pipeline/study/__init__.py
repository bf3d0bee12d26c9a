"""The published tables beside ours: cells, scores and counts, as text in four formats."""
