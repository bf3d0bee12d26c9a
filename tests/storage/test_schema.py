"""The schema: made once in an empty file, and never mixed with that of another version."""

from __future__ import annotations

import hashlib
from pathlib import Path

import duckdb
import pytest

from crane_core.errors import StoreError
from crane_core.storage import schema
from crane_core.storage.schema import (
    TABLE,
    VERSION,
    OtherVersionError,
    make_schema,
    schema_text,
    version_of,
)
from crane_core.storage.store import open_as_it_is, open_store, open_to_read
from tests.old_database import make_old

SCHEMA = "47ad 415f eaec 0ec2"
"""First digits of the SHA-256 of schema.sql at VERSION, in fours.

Where the schema changes, both change: VERSION is one more, and this is of the new text.
"""


def test_a_changed_schema_has_another_version() -> None:
    assert hashlib.sha256(schema_text().encode()).hexdigest()[
        :16
    ] == SCHEMA.replace(" ", ""), "raise VERSION in storage/schema.py"


def test_an_empty_file_gets_the_schema_once(tmp_path: Path) -> None:
    path = tmp_path / "crane.duckdb"
    store = open_store(path)
    assert version_of(store.bare_cursor()) == VERSION
    store.write(
        lambda cursor: cursor.execute(
            "INSERT INTO detectors VALUES ('rules', 'Rules', 'rules', 'made')"
        )
    )
    store.close()
    again = open_store(path)
    assert version_of(again.bare_cursor()) == VERSION
    assert again.cursor().execute("FROM detectors").fetchall() == [
        ("rules", "Rules", "rules", "made")
    ]
    again.close()


def test_every_table_view_and_column_says_what_it_holds() -> None:
    with duckdb.connect() as connection:
        make_schema(connection)
        silent = connection.execute(
            """
            SELECT table_name FROM duckdb_tables() WHERE comment IS NULL
            UNION ALL SELECT view_name FROM duckdb_views() WHERE NOT internal AND comment IS NULL
            UNION ALL SELECT table_name || '.' || column_name FROM duckdb_columns()
            WHERE NOT internal AND comment IS NULL
            ORDER BY ALL
            """
        ).fetchall()
    assert silent == [(TABLE,), (f"{TABLE}.number",)]


def test_without_comments_the_tables_and_views_are_the_same() -> None:
    made = []
    for with_comments in (True, False):
        with duckdb.connect() as connection:
            make_schema(connection, with_comments=with_comments)
            made.append(
                connection.execute(
                    """
                    SELECT table_name, column_name, data_type, is_nullable FROM duckdb_columns() WHERE NOT internal
                    UNION ALL SELECT table_name, constraint_text, '', true FROM duckdb_constraints()
                    UNION ALL SELECT view_name, sql, '', true FROM duckdb_views() WHERE NOT internal
                    ORDER BY ALL
                    """
                ).fetchall()
            )
    described, bare = made
    assert described == bare


def test_a_database_of_release_0_2_is_refused_and_can_be_read_as_it_is(
    tmp_path: Path,
) -> None:
    path = tmp_path / "crane.duckdb"
    open_store(path).close()
    make_old(path)
    before = path.read_bytes()
    for opened in (open_store, open_to_read):
        with pytest.raises(
            OtherVersionError, match=f"schema 18; this one has {VERSION}"
        ) as refused:
            opened(path)
        assert refused.value.is_older and "rebuild" in refused.value.remedy
    assert path.read_bytes() == before
    store = open_as_it_is(path, read_only=True)
    assert store.bare_cursor().execute(
        "SELECT count(*) FROM cases"
    ).fetchall() == [(0,)]
    store.close()


def test_a_database_of_a_newer_version_is_refused_with_a_remedy(
    tmp_path: Path,
) -> None:
    path = tmp_path / "crane.duckdb"
    store = open_store(path)
    store.bare_cursor().execute(f"UPDATE {TABLE} SET number = 9001")
    store.close()
    with pytest.raises(
        OtherVersionError, match="newer version \\(schema 9001"
    ) as refused:
        open_store(path)
    assert (
        not refused.value.is_older and "Update this app" in refused.value.remedy
    )


def test_a_database_of_another_program_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "crane.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE boats (name VARCHAR)")
    with pytest.raises(
        OtherVersionError, match="not one of this app"
    ) as refused:
        open_store(path)
    assert not refused.value.is_older
    with duckdb.connect(str(path)) as connection:
        assert connection.execute(
            "SELECT table_name FROM duckdb_tables()"
        ).fetchall() == [("boats",)]


def test_a_schema_that_fails_leaves_an_empty_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "crane.duckdb"
    monkeypatch.setattr(
        schema,
        "schema_text",
        lambda: (
            "CREATE TABLE half (a INTEGER); INSERT INTO nowhere VALUES (1);"
        ),
    )
    with pytest.raises(StoreError, match="nowhere"):
        open_store(path)
    monkeypatch.undo()
    store = open_store(path)
    tables = (
        store.bare_cursor()
        .execute("SELECT table_name FROM duckdb_tables()")
        .fetchall()
    )
    assert ("half",) not in tables and version_of(
        store.bare_cursor()
    ) == VERSION
    store.close()
