"""The schema of the database and its version: one file of SQL, run once on a new database.

Every row of a database comes from sources and ledger. So a database of an earlier version is not migrated but built
again from them (`pipeline.loading.load.prepare`).
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from typing import Final

import duckdb

from crane_core.errors import StoreError

VERSION: Final = 24
"""Of schema.sql. Versions 1 to 18 were numbers of migrations, which releases until 0.2 ran one after the other."""
TABLE: Final = "schema_version"
"""Holds the version of the database in one row; it has no comment, so that no list of tables shows it."""
_TABLE_UNTIL_0_2: Final = "migrations"
_COMMENT: Final = re.compile(r"^COMMENT ON .*?;\n", re.DOTALL | re.MULTILINE)


@contextmanager
def transaction(
    cursor: duckdb.DuckDBPyConnection,
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Commit the changes of the body, or roll all of them back if it raises."""
    cursor.execute("BEGIN TRANSACTION")
    try:
        yield cursor
    except BaseException:
        cursor.execute("ROLLBACK")
        raise
    cursor.execute("COMMIT")


class OtherVersionError(StoreError):
    """The database was made by another version; `is_older` if that can be built again here."""

    def __init__(self, message: str, *, remedy: str, is_older: bool) -> None:
        super().__init__(message, remedy=remedy)
        self.is_older = is_older


def schema_text() -> str:
    """The SQL that makes every table and view."""
    return (files("crane_core.storage") / "schema.sql").read_text("utf-8")


def version_of(cursor: duckdb.DuckDBPyConnection) -> int | None:
    """The version of a database; None where it is empty, 0 where tables are there that no version explains."""
    tables = {
        name
        for (name,) in cursor.execute(
            "SELECT table_name FROM duckdb_tables()"
        ).fetchall()
    }
    if not tables:
        return None
    # Databases of 0.2 and before count their migrations, which are lower numbers than any version.
    for table in (TABLE, _TABLE_UNTIL_0_2):
        if table in tables:
            [(number,)] = cursor.execute(
                f"SELECT max(number) FROM {table}"
            ).fetchall()
            return int(number or 0)
    return 0


def table_names(cursor: duckdb.DuckDBPyConnection) -> list[str]:
    """The tables whose rows come from sources and ledger, sorted."""
    found = cursor.execute(
        "SELECT table_name FROM duckdb_tables() WHERE table_name <> ? ORDER BY 1",
        [TABLE],
    ).fetchall()
    return [name for (name,) in found]


def make_schema(
    cursor: duckdb.DuckDBPyConnection, *, with_comments: bool = True
) -> None:
    """Make the schema in an empty database. Raises OtherVersionError if it holds another one; that stays as it is.

    with_comments: whether tables and columns say what they hold, which takes two thirds of the time.
    """
    version = version_of(cursor)
    if version is not None:
        _refuse_unless_this(version)
        return
    # All or nothing: a start that is killed here must not leave half a schema under a version's name.
    with transaction(cursor):
        text = schema_text()
        cursor.execute(text if with_comments else _COMMENT.sub("", text))
        cursor.execute(f"CREATE TABLE {TABLE} (number INTEGER NOT NULL)")
        cursor.execute(f"INSERT INTO {TABLE} VALUES (?)", [VERSION])


def refuse_other_version(cursor: duckdb.DuckDBPyConnection) -> None:
    """Raise OtherVersionError unless the database has this schema; changes nothing."""
    _refuse_unless_this(version_of(cursor))


def _refuse_unless_this(version: int | None) -> None:
    if version == VERSION:
        return
    if version is not None and version > VERSION:
        raise OtherVersionError(
            f"The database was made by a newer version (schema {version}; this one has {VERSION}).",
            remedy="Update this app, or point --data at another folder.",
            is_older=False,
        )
    if not version:
        raise OtherVersionError(
            "The file is a database, but not one of this app.",
            remedy="Move it away, or point --data at another folder.",
            is_older=False,
        )
    raise OtherVersionError(
        f"The database was made by an earlier version (schema {version}; this one has {VERSION}).",
        remedy="Start the app, or run `python -m crane_core rebuild`: it is built again from sources and ledger.",
        is_older=True,
    )
