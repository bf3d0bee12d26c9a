"""Writing rows: batches of records, merged by key. The first source to state a fact keeps it; later ones fill gaps.

A row that contradicts a stored one is not dropped silently: it is returned as a problem that names both values.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable
from datetime import datetime
from operator import itemgetter
from typing import Any, NamedTuple

import duckdb
import pyarrow as pa

from crane_core.domain import LoadProblem, ProblemKind, Record
from crane_core.storage.tables import TABLES, Table

LEDGER_SOURCE = "ledger:"
"""Prefix of the source of a row that came from a ledger file."""


class Added(NamedTuple):
    """The outcome of a batch for one table."""

    record: str
    n_read: int
    n_new: int
    problems: list[LoadProblem]


class SourceRow(NamedTuple):
    """The identity of a source: `imported_at` is UTC without zone, None for data that ship with the checkout."""

    source_id: str
    kind: str
    name: str
    sha256: str
    n_bytes: int
    imported_at: datetime | None


def add_records(
    cursor: duckdb.DuckDBPyConnection,
    records: Iterable[Record],
    *,
    source_id: str,
    latest_wins: bool = False,
) -> list[Added]:
    """Merge `records` into their tables inside the caller's transaction; counts and contradictions per table.

    With `latest_wins` a row replaces the stored one of the same key, whole: the rule for the local ledger, where a
    relabel is a new line. Sources add nothing to rows from the ledger.
    """
    batches: dict[type, list[Any]] = defaultdict(list)
    for record in records:
        batches[type(record)].append(record)
    return [
        _merge(cursor, table, batches[kind], source_id, latest_wins=latest_wins)
        for kind, table in TABLES.items()
        if batches.get(kind)
    ]


def _merge(
    cursor: duckdb.DuckDBPyConnection,
    table: Table,
    batch: list[Any],
    source_id: str,
    *,
    latest_wins: bool,
) -> Added:
    rows = [table.row(record) for record in batch]
    problems: list[LoadProblem] = []
    unique = _unique(table, rows, latest_wins=latest_wins)
    if len(unique) < len(rows) and not latest_wins:
        problems += _given_twice(table, rows)
    cursor.register("incoming", _arrow(table, unique, source_id))
    # A first load into an empty table needs no comparison with other rows.
    has_rows = _has_rows(cursor, table.name)
    if has_rows and not latest_wins:
        problems += _contradictions(cursor, table)
    if has_rows:
        _update_stored(cursor, table, latest_wins=latest_wins)
    n_new = _insert_new(cursor, table, beside_others=has_rows)
    cursor.unregister("incoming")
    return Added(table.name, len(batch), n_new, problems)


def _unique(
    table: Table, rows: list[tuple[Any, ...]], *, latest_wins: bool
) -> list[tuple[Any, ...]]:
    """One row per key: the first, or the last if `latest_wins`."""
    key = _key_of(table)
    # The usual case, without a second copy of the rows.
    if len(set(map(key, rows))) == len(rows):
        return rows
    if latest_wins:
        return list({key(row): row for row in rows}.values())
    first: dict[Any, tuple[Any, ...]] = {}
    for row in rows:
        first.setdefault(key(row), row)
    return list(first.values())


def _key_of(table: Table) -> Callable[[tuple[Any, ...]], Any]:
    return itemgetter(*map(table.columns.index, table.key))


def _arrow(
    table: Table, rows: list[tuple[Any, ...]], source_id: str
) -> pa.Table:
    """The rows as an Arrow table, with an ordinal and the source."""
    columns = [pa.array(values) for values in zip(*rows, strict=True)]
    ordinals = pa.array(range(len(rows)), type=pa.int64())
    sources = pa.array([source_id] * len(rows), type=pa.string())
    return pa.Table.from_arrays(
        [*columns, ordinals, sources],
        names=[*table.columns, "ordinal", "source_id"],
    )


def _update_stored(
    cursor: duckdb.DuckDBPyConnection, table: Table, *, latest_wins: bool
) -> None:
    """Change the stored rows whose keys occur again: replaced by the latest, else only their gaps are filled."""
    if latest_wins:
        # Ledger: the line that came last is the whole truth about its key.
        changes = [
            f"{_quoted(c)} = new.{_quoted(c)}"
            for c in (*table.others, "source_id")
        ]
        where = ""
    else:
        changes = [
            f"{_quoted(c)} = coalesce(old.{_quoted(c)}, new.{_quoted(c)})"
            for c in table.others
        ]
        gaps = " OR ".join(
            f"(old.{_quoted(c)} IS NULL AND new.{_quoted(c)} IS NOT NULL)"
            for c in table.others
        )
        where = f" AND NOT starts_with(old.source_id, '{LEDGER_SOURCE}') AND ({gaps})"
    same_key = " AND ".join(
        f"old.{_quoted(c)} = new.{_quoted(c)}" for c in table.key
    )
    cursor.execute(
        f"UPDATE {table.name} old SET {', '.join(changes)} FROM incoming new WHERE {same_key}{where}"
    )


def _insert_new(
    cursor: duckdb.DuckDBPyConnection, table: Table, *, beside_others: bool
) -> int:
    """Insert the rows whose keys are not stored, in their order; how many. No index guards the keys of large tables."""
    columns = _names(
        (
            *table.columns,
            "source_id",
            *(("ordinal",) if table.keeps_order else ()),
        )
    )
    # DuckDB's `INSERT OR IGNORE` needs an index of the key, which large tables do not have.
    others = (
        f"ANTI JOIN {table.name} USING ({_names(table.key)}) ORDER BY incoming.ordinal"
        if beside_others
        else ""
    )
    [(n_new,)] = cursor.execute(
        f"INSERT INTO {table.name} ({columns}) SELECT {columns} FROM incoming {others}"
    ).fetchall()
    return int(n_new)


def _contradictions(
    cursor: duckdb.DuckDBPyConnection, table: Table
) -> list[LoadProblem]:
    """Facts of the batch that differ from those of an earlier source; the ledger's rows are newer, not wrong."""
    found = []
    for fact in table.facts:
        rows = cursor.execute(
            f"SELECT {_names(table.key, 'new')}, old.{_quoted(fact)}, new.{_quoted(fact)}, old.source_id "
            f"FROM incoming new JOIN {table.name} old USING ({_names(table.key)}) "
            f"WHERE old.{_quoted(fact)} <> new.{_quoted(fact)} "
            f"AND NOT starts_with(old.source_id, '{LEDGER_SOURCE}') ORDER BY new.ordinal"
        ).fetchall()
        found += [
            problem for row in rows for problem in _difference(table, fact, row)
        ]
    return found


def _difference(
    table: Table, fact: str, row: tuple[Any, ...]
) -> list[LoadProblem]:
    """One problem, or none if both mean the same."""
    *key, kept, refused, source_id = row
    reason = table.contradiction(fact, kept, refused, source_id)
    return (
        [
            LoadProblem(
                table.name,
                _place(table, key),
                reason,
                ProblemKind.CONTRADICTION,
            )
        ]
        if reason
        else []
    )


def _given_twice(
    table: Table, rows: list[tuple[Any, ...]]
) -> list[LoadProblem]:
    """Keys that one source states more than once; its first row counts. With other facts it contradicts itself."""
    key = _key_of(table)
    stated: dict[Any, list[tuple[Any, ...]]] = {}
    for row in rows:
        stated.setdefault(key(row), []).append(row)
    return [
        _repeated(table, entry, told)
        for entry, told in stated.items()
        if len(told) > 1
    ]


def _repeated(
    table: Table, entry: Any, told: list[tuple[Any, ...]]
) -> LoadProblem:
    place = _place(table, entry if isinstance(entry, tuple) else (entry,))
    facts = [table.columns.index(column) for column in table.facts]
    differing = [
        table.columns[at]
        for at in facts
        if len({row[at] for row in told if row[at] is not None}) > 1
    ]
    said = f"repeated {len(told)} times in one source"
    if not differing:
        return LoadProblem(table.name, place, f"{said}; the first is kept")
    reason = f"{said} with different values of {', '.join(differing)}; the first is kept"
    return LoadProblem(table.name, place, reason, ProblemKind.CONTRADICTION)


def add_source(
    cursor: duckdb.DuckDBPyConnection,
    source: SourceRow,
    added: list[Added],
    problems: list[LoadProblem],
) -> None:
    """Record a source with its counts and problems, inside the caller's transaction."""
    cursor.execute(
        "INSERT INTO sources VALUES (?, ?, ?, ?, ?, ?, ?)",
        [*source, len(problems)],
    )
    if added:
        cursor.executemany(
            "INSERT INTO source_counts VALUES (?, ?, ?, ?)",
            [
                (source.source_id, entry.record, entry.n_read, entry.n_new)
                for entry in added
            ],
        )
    add_problems(cursor, source.source_id, problems)


def add_problems(
    cursor: duckdb.DuckDBPyConnection,
    source_id: str,
    problems: list[LoadProblem],
) -> None:
    """Append load problems of a source or ledger file, numbered after those it has."""
    # A ledger file is loaded piece by piece, and each piece may add problems.
    [(first,)] = cursor.execute(
        "SELECT count(*) FROM load_problems WHERE source_id = ?", [source_id]
    ).fetchall()
    if problems:
        cursor.executemany(
            "INSERT INTO load_problems VALUES (?, ?, ?, ?, ?, ?)",
            [
                (
                    source_id,
                    ordinal,
                    str(problem.kind),
                    problem.path,
                    problem.place,
                    problem.reason,
                )
                for ordinal, problem in enumerate(problems, start=first)
            ],
        )


def set_ledger_position(
    cursor: duckdb.DuckDBPyConnection,
    path: str,
    loaded_bytes: int,
    last_line_from: int,
    last_line_sha: str,
) -> None:
    """Remember how far a ledger file has been loaded."""
    cursor.execute(
        "INSERT OR REPLACE INTO ledger_files VALUES (?, ?, ?, ?)",
        [path, loaded_bytes, last_line_from, last_line_sha],
    )


def _has_rows(cursor: duckdb.DuckDBPyConnection, table: str) -> bool:
    return bool(cursor.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchall())


def _quoted(name: str) -> str:
    return f'"{name}"'


def _names(columns: tuple[str, ...], of: str | None = None) -> str:
    return ", ".join(
        f"{of}.{_quoted(c)}" if of else _quoted(c) for c in columns
    )


def _place(table: Table, key: Iterable[Any]) -> str:
    return ", ".join(
        f"{name} {value}" for name, value in zip(table.key, key, strict=True)
    )
