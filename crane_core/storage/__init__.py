"""The door to DuckDB: the only SQL in the house."""
