"""Questions about the loaded data: sources, ledger positions, problems, counts."""

import hashlib
from typing import Any

import duckdb
import pandas as pd

from crane_core.domain import LoadProblem, ProblemKind
from crane_core.storage.schema import table_names
from crane_core.storage.tables import TABLES
from crane_core.storage.write import LEDGER_SOURCE


def loaded_sources(cursor: duckdb.DuckDBPyConnection) -> set[str]:
    """Ids of the sources in the store."""
    return {
        row[0]
        for row in cursor.execute("SELECT source_id FROM sources").fetchall()
    }


def source_digests(cursor: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """sha256 of each source by its id."""
    return dict(
        cursor.execute("SELECT source_id, sha256 FROM sources").fetchall()
    )


def imported_sources(cursor: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """Name by id of each source that does not ship with the app."""
    return dict(
        cursor.execute(
            "SELECT source_id, name FROM sources WHERE imported_at IS NOT NULL"
        ).fetchall()
    )


def ledger_positions(
    cursor: duckdb.DuckDBPyConnection,
) -> dict[str, tuple[int, int, str]]:
    """Ledger file to (loaded bytes, where the last loaded line begins, its sha256)."""
    return {
        row[0]: (row[1], row[2], row[3])
        for row in cursor.execute("FROM ledger_files").fetchall()
    }


def revision(cursor: duckdb.DuckDBPyConnection) -> str:
    """A token that changes when anything is loaded: the key of every cache above the store."""
    parts = [
        *cursor.execute(
            "SELECT source_id, sha256 FROM sources ORDER BY ALL"
        ).fetchall()
    ]
    parts += cursor.execute(
        "SELECT path, loaded_bytes, last_line_sha FROM ledger_files ORDER BY ALL"
    ).fetchall()
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def answers_token(cursor: duckdb.DuckDBPyConnection) -> str:
    """A token that changes when anything except the acts of a campaign's annotators is loaded."""
    rows = cursor.execute(
        """
        SELECT path, loaded_bytes, last_line_sha FROM ledger_files
        WHERE NOT EXISTS (FROM campaigns WHERE starts_with(path, 'labels/' || campaign || '/')) ORDER BY ALL
        """
    ).fetchall()
    return hashlib.sha256(
        repr([sources_token(cursor), rows]).encode()
    ).hexdigest()[:16]


def sources_token(cursor: duckdb.DuckDBPyConnection) -> str:
    """A token that changes when a source is loaded, but not when a label is."""
    rows = cursor.execute(
        "SELECT source_id, sha256 FROM sources ORDER BY ALL"
    ).fetchall()
    return hashlib.sha256(repr(rows).encode()).hexdigest()[:16]


def sources(cursor: duckdb.DuckDBPyConnection) -> pd.DataFrame:
    """Every source: source_id, kind, name, sha256, n_bytes, imported_at (UTC, NaT: ships with the app), n_problems."""
    return cursor.execute(
        "FROM sources ORDER BY imported_at NULLS FIRST, source_id"
    ).df()


def source_counts(cursor: duckdb.DuckDBPyConnection) -> pd.DataFrame:
    """Records by source: source_id, record, n_read, n_new."""
    return cursor.execute("FROM source_counts ORDER BY source_id, record").df()


def load_problems(
    cursor: duckdb.DuckDBPyConnection,
    source_id: str | None = None,
    limit: int = 10_000,
) -> pd.DataFrame:
    """Load problems, of one source if it is named, in order: source_id, ordinal, kind, path, place, reason."""
    return cursor.execute(
        "FROM load_problems WHERE $1 IS NULL OR source_id = $1 ORDER BY source_id, ordinal LIMIT $2",
        [source_id, limit],
    ).df()


def experiments_of_source(
    cursor: duckdb.DuckDBPyConnection, source_id: str
) -> list[tuple[str, str]]:
    """(benchmark, experiment) of the answers that a source has, those with most answers first."""
    return cursor.execute(
        """
        SELECT benchmark, experiment FROM runs WHERE source_id = ?
        GROUP BY ALL ORDER BY count(*) DESC, benchmark, experiment
        """,
        [source_id],
    ).fetchall()


def without_instance(
    cursor: duckdb.DuckDBPyConnection, source_id: str | None = None
) -> list[LoadProblem]:
    """Runs, labels and states of instances that no source contains; they are kept, and count as soon as one does.

    One problem per source, table and benchmark; for one source only if it is named. If another benchmark has an
    instance of that name, the problem says so.
    """
    rows = []
    for table in ("runs", "judgements", "kernel_states"):
        rows += cursor.execute(
            f"""
            WITH waiting AS (
                SELECT t.source_id, t.benchmark, count(*) AS n, count(DISTINCT t.instance_id) AS n_instances,
                       min(t.instance_id) AS instance_id
                FROM {table} t ANTI JOIN instances i USING (benchmark, instance_id)
                WHERE $1 IS NULL OR t.source_id = $1 GROUP BY ALL
            ), elsewhere AS (
                SELECT instance_id, string_agg(benchmark, ', ' ORDER BY benchmark) AS names
                FROM instances GROUP BY ALL
            )
            SELECT source_id, '{table}', w.benchmark, n, n_instances, instance_id, names
            FROM waiting w LEFT JOIN elsewhere USING (instance_id) ORDER BY ALL
            """,
            [source_id],
        ).fetchall()
    return [_waiting(*row) for row in rows]


def _waiting(
    source_id: str,
    table: str,
    benchmark: str,
    n_rows: int,
    n_instances: int,
    first: str,
    elsewhere: str | None,
) -> LoadProblem:
    names = first if n_instances == 1 else f"{first} and {n_instances - 1} more"
    reason = f"{benchmark} has no such instance yet; its rows in {table} ({n_rows}) count once it is imported"
    hint = (
        f" (the benchmark {elsewhere} has one with this name: set it in the field benchmark)"
        if elsewhere
        else ""
    )
    return LoadProblem(
        f"source {source_id}", names, reason + hint, ProblemKind.WAITING
    )


def damaged_tables(cursor: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """Tables that cannot be read to their end, with DuckDB's reason: it compares the checksum of every block."""
    named = cursor.execute(
        "SELECT table_name FROM duckdb_tables() WHERE NOT internal ORDER BY 1"
    ).fetchall()
    found = {}
    for (table,) in named:
        try:
            # The hash of a whole row makes DuckDB read every column; counting alone would read none.
            cursor.execute(
                f'SELECT sum(hash(rows)) FROM "{table}" rows'
            ).fetchall()
        except duckdb.Error as error:
            found[table] = str(error).splitlines()[0]
    return found


def table_counts(cursor: duckdb.DuckDBPyConnection) -> dict[str, int]:
    """Rows of each table that holds records."""
    counts = {}
    for table in TABLES.values():
        [(counts[table.name],)] = cursor.execute(
            f"SELECT count(*) FROM {table.name}"
        ).fetchall()
    return counts


def rows_of_ledger(
    cursor: duckdb.DuckDBPyConnection,
) -> dict[str, dict[str, int]]:
    """Ledger file to its number of rows, by table; a table that an earlier version lacks has none."""
    found: dict[str, dict[str, int]] = {}
    there = table_names(cursor)
    # One question: of each table by itself it takes four times as long.
    parts = [
        f"SELECT '{table.name}', source_id, count(*) FROM {table.name}"
        " WHERE starts_with(source_id, $ledger) GROUP BY ALL"
        for table in TABLES.values()
        if table.name in there
    ]
    rows = cursor.execute(
        f"{' UNION ALL '.join(parts)} ORDER BY ALL", {"ledger": LEDGER_SOURCE}
    ).fetchall()
    for table, source_id, n_rows in rows:
        found.setdefault(source_id.removeprefix(LEDGER_SOURCE), {})[table] = (
            n_rows
        )
    return found


def has_prompts(cursor: duckdb.DuckDBPyConnection, benchmark: str) -> bool:
    """Whether any text that a detector was shown of this benchmark is loaded."""
    return bool(
        cursor.execute(
            "SELECT EXISTS (FROM prompts WHERE benchmark = ?)", [benchmark]
        ).fetchall()[0][0]
    )


def content(
    cursor: duckdb.DuckDBPyConnection,
) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table, sorted: what `rebuild` must restore."""
    names = [
        row[0]
        for row in cursor.execute(
            "SELECT table_name FROM duckdb_tables() ORDER BY 1"
        ).fetchall()
    ]
    return {
        name: cursor.execute(f"FROM {name} ORDER BY ALL").fetchall()
        for name in names
        if name != "batch"
    }
