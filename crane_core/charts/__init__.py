"""Finished tidy frames in, Altair charts out."""
