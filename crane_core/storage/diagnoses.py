"""Questions about diagnoses: which verdicts have a text, and what one verdict's item looks like to an annotator."""

from __future__ import annotations

import duckdb

_TEXT = r"trim(reasoning, E' \t\r\n')"


def answers_with_text(
    cursor: duckdb.DuckDBPyConnection, benchmark: str, experiment: str
) -> set[tuple[str, str, str, str, str]]:
    """(benchmark, instance, detector, setting, experiment) of the answers that say why they predict a crash."""
    return set(
        cursor.execute(
            f"""
            SELECT DISTINCT benchmark, instance_id, detector, setting, experiment FROM runs
            WHERE benchmark = ? AND experiment = ? AND crashes AND length({_TEXT}) > 0
            """,
            [benchmark, experiment],
        ).fetchall()
    )


def diagnoses(
    cursor: duckdb.DuckDBPyConnection, benchmark: str, instance_id: str, detector: str, setting: str, experiment: str
) -> list[tuple[str, int]]:
    """The distinct texts of the runs that predict a crash with how many runs say each, the most frequent first."""
    return cursor.execute(
        f"""
        SELECT {_TEXT}, count(*) FROM runs
        WHERE benchmark = ? AND instance_id = ? AND detector = ? AND setting = ? AND experiment = ?
          AND crashes AND length({_TEXT}) > 0
        GROUP BY ALL ORDER BY count(*) DESC, min(run_index)
        """,
        [benchmark, instance_id, detector, setting, experiment],
    ).fetchall()


def detector_names(cursor: duckdb.DuckDBPyConnection) -> list[str]:
    """Ids and titles of every detector."""
    rows = cursor.execute("SELECT detector, title FROM detectors ORDER BY ALL").fetchall()
    return [name for row in rows for name in row]
