"""Rows of a whole database put into another one, and which names they are about.

Goes through Arrow, because a database of this app may open no other file. Knows no source and no ledger.
"""

import dataclasses
from collections.abc import Iterator

import duckdb

from crane_core.storage.schema import table_names
from crane_core.storage.tables import TABLES

_BATCH_ROWS = 10_000
"""At a time, so that a table of millions of rows is never in memory as a whole."""


def copy_rows(
    source: duckdb.DuckDBPyConnection, target: duckdb.DuckDBPyConnection
) -> None:
    """Every row of every table, in its order, into the empty tables of `target`, inside the caller's transaction."""
    for table in table_names(source):
        # Most tables of most folders are empty.
        [(has_rows,)] = source.execute(
            f'SELECT EXISTS (FROM "{table}")'
        ).fetchall()
        if not has_rows:
            continue
        rows = source.sql(f'FROM "{table}"').to_arrow_reader(_BATCH_ROWS)
        target.register("copied", rows)
        target.execute(f'INSERT INTO "{table}" FROM copied')
        target.unregister("copied")


def may_be_about(
    cursor: duckdb.DuckDBPyConnection, member: str, name: str
) -> bool:
    """Whether a record with this value of `member` (benchmark, experiment, job, campaign) may have left a trace.

    Where the member is part of a table's key, such a record has left its row. Where it is not, the record may have
    filled gaps of the row of another name, so that any name there counts.
    """
    for table, is_key in _tables_with(member):
        where = f'"{member}" = ?' if is_key else f'"{member}" IS NOT NULL'
        asked = [name] if is_key else []
        if cursor.execute(
            f"SELECT 1 FROM {table} WHERE {where} LIMIT 1", asked
        ).fetchall():
            return True
    return False


def _tables_with(member: str) -> Iterator[tuple[str, bool]]:
    for record, table in TABLES.items():
        if member in {field.name for field in dataclasses.fields(record)}:
            yield table.name, member in table.key
