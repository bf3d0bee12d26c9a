"""The door to others' files: one importer per file, found by the registry."""
