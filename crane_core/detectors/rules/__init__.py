"""Certain crashes, predicted from code and kernel state alone: the target is interpreted over abstract values."""
