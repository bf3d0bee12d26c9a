"""Access to DuckDB: the only SQL of the project."""
