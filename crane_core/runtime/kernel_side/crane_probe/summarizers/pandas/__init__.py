"""Frames, series and indexes of pandas: how they are stored, what they hold, where a chain leads."""
