"""Questions in the user's own SQL, and the schema that they are about. Nothing can be changed, no file can be read."""

import threading
from typing import NamedTuple

import duckdb
import pandas as pd

from crane_core.errors import StoreError
from crane_core.storage.store import Store
from crane_core.storage.tables import TABLES

TIMEOUT_S = 60.0
_ASKS = (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN)
"""DESCRIBE, SHOW and SUMMARIZE are of the first kind."""


class ResultColumn(NamedTuple):
    """`kind` is DuckDB's type, `words` the comment."""

    name: str
    kind: str
    words: str


class Relation(NamedTuple):
    """A table, or a view. `key` are the columns of which a table has each combination once; a view has none."""

    name: str
    is_view: bool
    words: str
    key: tuple[str, ...]
    columns: tuple[ResultColumn, ...]


def answer(
    store: Store, question: str, timeout_s: float = TIMEOUT_S
) -> pd.DataFrame:
    """The rows that one SELECT, DESCRIBE, SHOW, SUMMARIZE or EXPLAIN returns.

    Raises StoreError for anything else, where it takes longer than `timeout_s`, and with DuckDB's reason where the
    question cannot be answered.
    """
    cursor = store.cursor()
    too_long = threading.Event()

    def interrupt() -> None:
        too_long.set()
        cursor.interrupt()

    # DuckDB itself has no time limit for a query.
    timer = threading.Timer(timeout_s, interrupt)
    try:
        # Parsed by DuckDB itself, so that a comment or a second statement cannot smuggle a change in.
        statements = duckdb.extract_statements(question)
        if len(statements) != 1 or statements[0].type not in _ASKS:
            raise StoreError(
                "Only one question at a time can be asked, and nothing can be changed.",
                remedy="Begin with SELECT, FROM, WITH, DESCRIBE, SHOW, SUMMARIZE or EXPLAIN.",
            )
        timer.start()
        return cursor.execute(statements[0]).df()
    except duckdb.Error as error:
        if too_long.is_set():
            raise StoreError(
                f"The question took longer than {timeout_s:g} s and was stopped.",
                remedy="Ask for less (LIMIT, WHERE), or allow more time with --timeout-s.",
            ) from error
        raise StoreError(
            f"The question cannot be answered: {' '.join(str(error).split())}",
            remedy="`sql` without a question lists tables, views and columns.",
        ) from error
    finally:
        timer.cancel()
        if timer.ident is not None:
            timer.join()  # a thread that is left when Python ends can abort it within DuckDB's code


def all_rows(store: Store, relation: str) -> pd.DataFrame:
    """Every row of a table or view of the schema, sorted by its columns from left to right."""
    return store.cursor().execute(f'FROM "{relation}" ORDER BY ALL').df()


def schema(store: Store) -> list[Relation]:
    """Views, then tables, each by name, with their comments and columns; only those of the schema."""
    cursor = store.cursor()
    named = cursor.execute(
        """
        SELECT view_name, true, comment, [] FROM duckdb_views() WHERE NOT internal AND NOT temporary
        UNION ALL
        SELECT t.table_name, false, t.comment, coalesce(any_value(k.constraint_column_names), [])
        FROM duckdb_tables() t
        LEFT JOIN duckdb_constraints() k ON k.table_oid = t.table_oid AND k.constraint_type = 'PRIMARY KEY'
        WHERE t.comment IS NOT NULL GROUP BY ALL
        ORDER BY 2 DESC, 1
        """
    ).fetchall()
    columns: dict[str, list[ResultColumn]] = {}
    for table, *column in cursor.execute(
        """
        SELECT table_name, column_name, data_type, coalesce(comment, '')
        FROM duckdb_columns() WHERE NOT internal AND database_name = current_database()
        ORDER BY table_name, column_index
        """
    ).fetchall():
        columns.setdefault(table, []).append(ResultColumn(*column))
    # Large tables have no index of their keys, so the database itself does not know them.
    kept_unique = {table.name: table.key for table in TABLES.values()}
    return [
        Relation(
            name,
            is_view,
            words,
            tuple(key) or kept_unique.get(name, ()),
            tuple(columns[name]),
        )
        for name, is_view, words, key in named
    ]
