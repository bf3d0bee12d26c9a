"""Numbered migrations: each file under migrations/ runs once, in order, in its own transaction."""

from __future__ import annotations

from importlib.resources import files
from typing import NamedTuple

import duckdb

from crane_core.errors import StoreError
from crane_core.storage.transaction import transaction


class Migration(NamedTuple):
    number: int
    name: str
    sql: str


def migrations() -> list[Migration]:
    """All migrations of this checkout, by number."""
    folder = files("crane_core.storage") / "migrations"
    scripts = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".sql"))
    return [Migration(int(name[:4]), name, (folder / name).read_text("utf-8")) for name in scripts]


def applied(cursor: duckdb.DuckDBPyConnection) -> list[int]:
    """Numbers of the migrations that were applied to this database."""
    cursor.execute("CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY, name VARCHAR NOT NULL)")
    return [row[0] for row in cursor.execute("SELECT number FROM migrations ORDER BY number").fetchall()]


def refuse_unlike(cursor: duckdb.DuckDBPyConnection) -> None:
    """Raise StoreError unless exactly this checkout's migrations were applied; changes nothing."""
    done = [row[0] for row in cursor.execute("SELECT number FROM migrations ORDER BY number").fetchall()]
    if done != [migration.number for migration in migrations()]:
        raise StoreError("The database was made by another version.", remedy="Start the app once to update it.")


def migrate(cursor: duckdb.DuckDBPyConnection, *, upto: int | None = None) -> list[int]:
    """Migrate the database to this checkout's schema; returns the numbers that ran now.

    Raises StoreError if the database has a migration that this checkout lacks.
    """
    known = migrations()
    done = set(applied(cursor))
    if unknown := done - {migration.number for migration in known}:
        raise StoreError(
            f"The database was made by a newer version (migration {max(unknown)}).",
            remedy="Update this checkout, or point --data at another folder.",
        )
    wanted = [m for m in known if m.number not in done and (upto is None or m.number <= upto)]
    for migration in wanted:
        with transaction(cursor):
            cursor.execute(migration.sql)
            cursor.execute("INSERT INTO migrations VALUES (?, ?)", [migration.number, migration.name])
    return [migration.number for migration in wanted]
