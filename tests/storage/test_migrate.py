"""Migrations: from a blank file, from the first schema with rows in it, and from what this checkout does not know."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

from crane_core.errors import StoreError
from crane_core.storage import migrate as migrations_of
from crane_core.storage.migrate import Migration, applied, migrate, migrations
from crane_core.storage.store import open_store

VALUES = {"VARCHAR": "text", "JSON": '{"a":1}', "INTEGER": 7, "BIGINT": 2**40, "BOOLEAN": True}


def columns_of(cursor: duckdb.DuckDBPyConnection) -> dict[str, list[tuple[str, str]]]:
    """Table to its columns with their types, the ledger of migrations apart."""
    found: dict[str, list[tuple[str, str]]] = {}
    rows = cursor.execute(
        "SELECT table_name, column_name, data_type FROM duckdb_columns() WHERE schema_name = 'main' AND NOT internal "
        "ORDER BY table_name, column_index"
    ).fetchall()
    for table, column, kind in rows:
        if table != "migrations":
            found.setdefault(table, []).append((column, kind))
    return found


def row_of_each(cursor: duckdb.DuckDBPyConnection) -> dict[str, tuple[list[str], tuple[Any, ...]]]:
    """Put one row into every table; table to its columns and that row."""
    put = {}
    for table, columns in columns_of(cursor).items():
        row = tuple(VALUES.get(kind) for _, kind in columns)
        cursor.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)
        put[table] = ([f'"{name}"' for name, _ in columns], row)
    return put


def test_numbers_count_from_one_without_gaps() -> None:
    assert [migration.number for migration in migrations()] == list(range(1, len(migrations()) + 1))


def test_blank_file_gets_every_migration_once(tmp_path: Path) -> None:
    store = open_store(tmp_path / "crane.duckdb")
    numbers = [migration.number for migration in migrations()]
    assert applied(store.cursor()) == numbers
    assert migrate(store.cursor()) == []
    store.close()
    again = open_store(tmp_path / "crane.duckdb")
    assert applied(again.cursor()) == numbers
    again.close()


def test_rows_of_the_first_schema_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "crane.duckdb"
    with duckdb.connect(str(path)) as connection:
        assert migrate(connection.cursor(), upto=1) == [1]
        put = row_of_each(connection.cursor())
    assert {"sources", "cases", "runs", "judgements", "ledger_files"} <= put.keys()
    store = open_store(path)
    assert applied(store.cursor()) == [migration.number for migration in migrations()]
    for table, (columns, row) in put.items():
        question = f"SELECT {', '.join(columns)} FROM {table}"
        assert store.cursor().execute(question).fetchall() == [row]
    store.close()


def test_first_schema_brought_up_to_date_is_the_schema_of_a_blank_file(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "old.duckdb")) as connection:
        migrate(connection.cursor(), upto=1)
    old, new = open_store(tmp_path / "old.duckdb"), open_store(tmp_path / "new.duckdb")
    assert columns_of(old.cursor()) == columns_of(new.cursor())
    old.close()
    new.close()


def test_a_later_migration_runs_on_rows_that_are_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "crane.duckdb"
    store = open_store(path)
    store.cursor().execute("INSERT INTO detectors VALUES ('rules', 'Rules', 'rules', 'made')")
    store.close()
    later = Migration(
        9001, "9001_later.sql", "ALTER TABLE detectors ADD COLUMN maker VARCHAR; UPDATE detectors SET maker = 'us';"
    )
    known = [*migrations(), later]
    monkeypatch.setattr(migrations_of, "migrations", lambda: known)
    store = open_store(path)
    assert store.cursor().execute("FROM detectors").fetchall() == [("rules", "Rules", "rules", "made", "us")]
    assert applied(store.cursor())[-1] == 9001
    store.close()


def test_a_migration_that_fails_leaves_the_old_schema(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "crane.duckdb"
    open_store(path).close()
    known = migrations()
    broken = Migration(9001, "9001_broken.sql", "CREATE TABLE half (a INTEGER); INSERT INTO nowhere VALUES (1);")
    monkeypatch.setattr(migrations_of, "migrations", lambda: [*known, broken])
    with pytest.raises(StoreError, match="nowhere"):
        open_store(path)
    monkeypatch.undo()
    store = open_store(path)
    assert applied(store.cursor()) == [migration.number for migration in known]
    assert "half" not in columns_of(store.cursor())
    store.close()


def test_the_cursor_of_a_migration_that_fails_is_out_of_its_transaction(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = Migration(9001, "9001_broken.sql", "CREATE TABLE half (a INTEGER); INSERT INTO nowhere VALUES (1);")
    monkeypatch.setattr(migrations_of, "migrations", lambda: [broken])
    with duckdb.connect() as connection:
        with pytest.raises(duckdb.CatalogException, match="nowhere"):
            migrate(connection)
        assert applied(connection) == []
        assert columns_of(connection) == {}


def test_database_of_a_newer_version_is_refused_with_a_remedy(tmp_path: Path) -> None:
    path = tmp_path / "crane.duckdb"
    store = open_store(path)
    store.cursor().execute("INSERT INTO migrations VALUES (9001, '9001_from_the_future.sql')")
    store.close()
    with pytest.raises(StoreError, match="newer version \\(migration 9001\\)") as refused:
        open_store(path)
    assert "Update this checkout" in refused.value.remedy
