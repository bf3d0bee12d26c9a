"""A database as release 0.2 left it, made from one of this version."""

from __future__ import annotations

from pathlib import Path

import duckdb

from crane_core.storage.schema import TABLE


def make_old(path: Path) -> None:
    """Give the database the mark of release 0.2: 18 migrations in place of a version; its rows stay."""
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"DROP TABLE {TABLE}")
        connection.execute(
            "CREATE TABLE migrations (number INTEGER PRIMARY KEY, name VARCHAR NOT NULL)"
        )
        connection.execute(
            "INSERT INTO migrations SELECT i, printf('%04d.sql', i) FROM range(1, 19) numbers(i)"
        )
