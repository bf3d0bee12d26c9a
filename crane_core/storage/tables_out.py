"""Whole tables as Arrow, in the order of their keys: what an export writes and an import reads."""

from __future__ import annotations

import duckdb
import pyarrow as pa

from crane_core.storage.tables import TABLES


def table_rows(cursor: duckdb.DuckDBPyConnection, record: type) -> pa.Table:
    """Every row of the records of this type: the columns of its table, JSON as text."""
    table = TABLES[record]
    columns = ", ".join(
        f'"{name}"::VARCHAR AS "{name}"' if name == "state" else f'"{name}"'
        for name in table.columns
    )
    order = ", ".join(f'"{name}"' for name in table.key)
    by = "source_id, ordinal" if table.keeps_order else order
    return cursor.sql(
        f"SELECT {columns} FROM {table.name} ORDER BY {by}"
    ).to_arrow_table()
