"""The cases of a benchmark with what detectors answered: to list, to draw, to read."""
