"""Certain crashes, told from code and kernel state alone: the target is evaluated over what is known of its values."""
