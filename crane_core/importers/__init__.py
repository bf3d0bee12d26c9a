"""Readers of external files: one importer per file, found by the registry."""
