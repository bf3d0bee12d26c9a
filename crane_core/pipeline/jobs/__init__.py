"""Jobs: their files and locks, asking a model, answers on the disk before they count, and reading them."""
