"""Detectors run on a benchmark, one way of running them per file, and their scores beside the published ones."""
