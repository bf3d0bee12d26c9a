"""Questions about cases: the list, and everything that belongs to one pair."""

from dataclasses import fields
from typing import Any

import duckdb
import pandas as pd

from crane_core.domain import Verification, VerifiedAs, Version


def benchmarks(cursor: duckdb.DuckDBPyConnection) -> pd.DataFrame:
    """benchmark, title, licence, url, n_cases, n_instances, in order of size."""
    return cursor.execute(
        """
        SELECT b.benchmark, b.title, b.licence, b.url,
               (SELECT count(*) FROM cases c WHERE c.benchmark = b.benchmark) AS n_cases,
               (SELECT count(*) FROM instances i WHERE i.benchmark = b.benchmark) AS n_instances
        FROM benchmarks b ORDER BY n_cases DESC, b.benchmark
        """
    ).df()


def benchmark_titles(cursor: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """How the owners of the benchmarks write their names, by id; the largest first."""
    known = benchmarks(cursor)
    return dict(zip(known["benchmark"], known["title"], strict=True))


def varied_benchmarks(cursor: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """Benchmarks of copies with other names and numbers, each with the loaded benchmark of the originals."""
    return dict(
        cursor.execute(
            """
            SELECT c.benchmark, c.varied_from FROM benchmarks c
            JOIN benchmarks o ON o.benchmark = c.varied_from AND o.benchmark <> c.benchmark
            ORDER BY ALL
            """
        ).fetchall()
    )


def dated_cases(
    cursor: duckdb.DuckDBPyConnection, benchmark: str
) -> dict[str, str]:
    """When the notebooks of a benchmark's cases were written, by case_id; without those of which it is not stated."""
    rows = cursor.execute(
        "SELECT case_id, created FROM cases WHERE benchmark = ? AND created IS NOT NULL ORDER BY ALL",
        [benchmark],
    ).fetchall()
    return dict(rows)


def case_list(
    cursor: duckdb.DuckDBPyConnection, benchmark: str
) -> pd.DataFrame:
    """Cases of a benchmark with their labels, and whether code and runtime state are available."""
    return cursor.execute(
        """
        WITH cells_of AS (
            SELECT i.case_id, count(DISTINCT i.version) AS n FROM instances i
            WHERE i.benchmark = $1 AND EXISTS (
                SELECT 1 FROM cells x WHERE x.benchmark = $1 AND x.instance_id = i.instance_id)
            GROUP BY ALL
        ), states_of AS (
            SELECT i.case_id, count(DISTINCT i.version) AS n FROM instances i
            JOIN kernel_states k ON k.benchmark = i.benchmark AND k.instance_id = i.instance_id
            WHERE i.benchmark = $1 GROUP BY ALL
        )
        SELECT c.case_id, c.library, c.root_cause, c.exception, c.crash_type, c.stage,
               coalesce(cells_of.n, 0) = 2 AS has_code, coalesce(states_of.n, 0) = 2 AS has_state
        FROM cases c LEFT JOIN cells_of USING (case_id) LEFT JOIN states_of USING (case_id)
        WHERE c.benchmark = $1
        """,
        [benchmark],
    ).df()


def case(
    cursor: duckdb.DuckDBPyConnection, benchmark: str, case_id: str
) -> dict[str, Any] | None:
    """All columns of one case, or None."""
    rows = cursor.execute(
        "SELECT c.*, b.title AS benchmark_title, b.licence, b.url FROM cases c "
        "JOIN benchmarks b USING (benchmark) WHERE benchmark = ? AND case_id = ?",
        [benchmark, case_id],
    )
    names = [column[0] for column in rows.description]
    found = rows.fetchall()
    return dict(zip(names, found[0], strict=True)) if found else None


def remarks(
    cursor: duckdb.DuckDBPyConnection, benchmark: str, case_id: str
) -> dict[str, str]:
    """Version to the benchmark authors' remark, if there is one."""
    return dict(
        cursor.execute(
            "SELECT version, remark FROM instances WHERE benchmark = ? AND case_id = ? AND remark IS NOT NULL",
            [benchmark, case_id],
        ).fetchall()
    )


def cells(
    cursor: duckdb.DuckDBPyConnection, benchmark: str, case_id: str
) -> pd.DataFrame:
    """Cells of both versions, every origin: version, origin, position, role, code, execution_count, ..."""
    return cursor.execute(
        """
        SELECT i.version, x.origin, x.position, x.role, x.code, x.execution_count, x.notebook_index, x.crash_line
        FROM instances i JOIN cells x USING (benchmark, instance_id)
        WHERE benchmark = ? AND i.case_id = ? ORDER BY i.version, x.origin, x.position
        """,
        [benchmark, case_id],
    ).df()


def cells_of_instance(
    cursor: duckdb.DuckDBPyConnection, benchmark: str, instance_id: str
) -> list[dict[str, Any]]:
    """Cells of one notebook, every origin: origin, position, role, code, execution_count, and where they stand."""
    rows = cursor.execute(
        """
        SELECT origin, position, role, code, execution_count, notebook_index, crash_line
        FROM cells WHERE benchmark = ? AND instance_id = ? ORDER BY origin, position
        """,
        [benchmark, instance_id],
    )
    names = [column[0] for column in rows.description]
    return [dict(zip(names, row, strict=True)) for row in rows.fetchall()]


def kernel_states(
    cursor: duckdb.DuckDBPyConnection, benchmark: str, case_id: str
) -> pd.DataFrame:
    """Runtime states of both versions: version, setting, origin, state (JSON text), is_literal."""
    return cursor.execute(
        """
        SELECT i.version, k.setting, k.origin, k.state::VARCHAR AS state, k.is_literal
        FROM instances i JOIN kernel_states k USING (benchmark, instance_id)
        WHERE benchmark = ? AND i.case_id = ? ORDER BY ALL
        """,
        [benchmark, case_id],
    ).df()


def runs(
    cursor: duckdb.DuckDBPyConnection, benchmark: str, case_id: str
) -> pd.DataFrame:
    """Every answer of every detector to both versions, in the order of asking."""
    return cursor.execute(
        """
        SELECT i.version, d.title AS detector_title, d.kind AS detector_kind, r.detector, r.setting, r.experiment,
               r.run_index, r.crashes, r.reasoning, r.unanswered, r.diagnostics, r.prompt_sha256
        FROM instances i JOIN runs r USING (benchmark, instance_id) JOIN detectors d USING (detector)
        WHERE benchmark = ? AND i.case_id = ?
        ORDER BY d.kind DESC, d.title, r.experiment, r.setting, i.version, r.run_index
        """,
        [benchmark, case_id],
    ).df()


def verdict_labels(
    cursor: duckdb.DuckDBPyConnection, benchmark: str, case_id: str
) -> pd.DataFrame:
    """Labels that people gave to the verdicts of a case: version, detector, setting, experiment, annotator, label."""
    return cursor.execute(
        """
        SELECT i.version, j.detector, j.setting, j.experiment, j.annotator, j.label
        FROM instances i JOIN judgements j USING (benchmark, instance_id)
        WHERE benchmark = ? AND i.case_id = ? AND j.annotator_kind = 'human' AND j.run_index = 0 ORDER BY ALL
        """,
        [benchmark, case_id],
    ).df()


def prompt_list(
    cursor: duckdb.DuckDBPyConnection, benchmark: str, case_id: str
) -> pd.DataFrame:
    """Published or rendered prompts of a case without their texts: version, setting, origin, sha256, n_chars."""
    return cursor.execute(
        """
        SELECT i.version, p.setting, p.origin, p.sha256, length(p.text) AS n_chars
        FROM instances i JOIN prompts p USING (benchmark, instance_id)
        WHERE benchmark = ? AND i.case_id = ? ORDER BY ALL
        """,
        [benchmark, case_id],
    ).df()


def prompt_text(cursor: duckdb.DuckDBPyConnection, sha256: str) -> str | None:
    """The text with this address, or None."""
    rows = cursor.execute(
        "SELECT text FROM prompts WHERE sha256 = ? LIMIT 1", [sha256]
    ).fetchall()
    return str(rows[0][0]) if rows else None


_COLUMNS = tuple(field.name for field in fields(Verification))


def verifications(cursor: duckdb.DuckDBPyConnection) -> list[Verification]:
    """All of them, the newest of each notebook and environment; sorted by benchmark, environment, case and version."""
    columns = ", ".join(_COLUMNS)
    rows = cursor.execute(
        f"SELECT {columns} FROM verifications ORDER BY benchmark, environment, case_id, version DESC"
    ).fetchall()
    return [_record(dict(zip(_COLUMNS, row, strict=True))) for row in rows]


def _record(row: dict[str, object]) -> Verification:
    words = {
        "version": Version(str(row["version"])),
        "outcome": VerifiedAs(str(row["outcome"])),
    }
    return Verification(**(row | words))  # type: ignore[arg-type]
