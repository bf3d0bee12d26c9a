"""Questions about diagnoses: which verdicts have a text, and what one verdict's item looks like to an annotator."""

import duckdb

from crane_core.storage.packed import packed

_TEXT = r"trim(reasoning, E' \t\r\n')"
_HAS_TEXT = r"regexp_matches(reasoning, '[^ \t\r\n]')"
"""Finds the first letter; trimming would copy every text."""
_OF_VERDICT = f"""
    WITH mine AS MATERIALIZED (
        SELECT run_index, {_TEXT} AS text FROM runs
        WHERE benchmark = ? AND instance_id = ? AND detector = ? AND setting = ? AND experiment = ? AND crashes
    ), told AS (SELECT * FROM mine WHERE length(text) > 0)
"""
"""Texts of one verdict. Materialized: else DuckDB trims the texts of all runs first, which takes four times as long."""


def answers_with_text(
    cursor: duckdb.DuckDBPyConnection, benchmark: str, experiment: str
) -> set[tuple[str, str, str, str, str]]:
    """(benchmark, instance, detector, setting, experiment) of the answers that explain their predicted crash."""
    found = packed(
        cursor,
        f"""
        SELECT DISTINCT benchmark, instance_id, detector, setting, experiment FROM runs
        WHERE benchmark = ? AND experiment = ? AND crashes AND {_HAS_TEXT}
        """,
        [benchmark, experiment],
    )
    return set(found.itertuples(index=False, name=None))


def has_answers_with_text(
    cursor: duckdb.DuckDBPyConnection, benchmark: str, experiment: str
) -> bool:
    """Whether any answer of an experiment explains its predicted crash."""
    return bool(
        cursor.execute(
            f"SELECT 1 FROM runs WHERE benchmark = ? AND experiment = ? AND crashes AND {_HAS_TEXT} LIMIT 1",
            [benchmark, experiment],
        ).fetchall()
    )


def diagnoses(
    cursor: duckdb.DuckDBPyConnection,
    benchmark: str,
    instance_id: str,
    detector: str,
    setting: str,
    experiment: str,
) -> list[tuple[str, int]]:
    """The distinct texts of the runs that predict a crash, each with its number of runs, the most frequent first."""
    return cursor.execute(
        f"{_OF_VERDICT} SELECT text, count(*) FROM told GROUP BY ALL ORDER BY count(*) DESC, min(run_index)",
        [benchmark, instance_id, detector, setting, experiment],
    ).fetchall()


def texts_by_run(
    cursor: duckdb.DuckDBPyConnection,
    benchmark: str,
    instance_id: str,
    detector: str,
    setting: str,
    experiment: str,
) -> list[tuple[int, str]]:
    """The text of each run that predicts a crash: index and text, in the order of the runs."""
    return cursor.execute(
        f"{_OF_VERDICT} SELECT run_index, text FROM told ORDER BY run_index",
        [benchmark, instance_id, detector, setting, experiment],
    ).fetchall()


def detector_names(cursor: duckdb.DuckDBPyConnection) -> list[str]:
    """Ids and titles of every detector."""
    rows = cursor.execute(
        "SELECT detector, title FROM detectors ORDER BY ALL"
    ).fetchall()
    return [name for row in rows for name in row]
