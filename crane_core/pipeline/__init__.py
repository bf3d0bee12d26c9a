"""The steps of the workbench, one verb per file, from a question to its answer."""
