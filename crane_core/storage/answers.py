"""Questions about the answers of one run: a detector in a setting of an experiment, instance by instance.

Every query is bounded: by a page of instances, or by one instance.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, NamedTuple

import duckdb
import pandas as pd

MAX_SAID = 240
"""Characters of a reasoning that a list holds."""


class RunKey(NamedTuple):
    """The key of a run."""

    benchmark: str
    experiment: str
    detector: str
    setting: str


class Only(StrEnum):
    """Filter over the instances of a run."""

    ALL = "all"
    WRONG = "wrong vote"
    FLIPS = "runs differ"
    UNANSWERED = "without an answer"


class AnswerPlace(NamedTuple):
    """The position of an instance among those of its run, in order of their names; `place` counts from 1."""

    before: str | None
    after: str | None
    place: int
    n: int


_HAVING = {
    Only.ALL: "TRUE",
    Only.WRONG: "truth IS NOT NULL AND 2 * n_crash <> n_crash + n_safe AND (2 * n_crash > n_crash + n_safe) <> truth",
    Only.FLIPS: "n_crash > 0 AND n_safe > 0",
    Only.UNANSWERED: "n_unanswered > 0",
}
_COUNTED = """r.instance_id, bool_or(i.crashes) AS truth,
                   count(*) FILTER (r.crashes) AS n_crash,
                   count(*) FILTER (NOT r.crashes) AS n_safe,
                   count(*) FILTER (r.crashes IS NULL) AS n_unanswered"""
"""What the filters of `_HAVING` ask of an instance."""
_FROM_RUNS = """FROM runs r
            LEFT JOIN instances i ON i.benchmark = r.benchmark AND i.instance_id = r.instance_id"""
_OF_RUN = "r.benchmark = ? AND r.experiment = ? AND r.detector = ? AND r.setting = ? AND r.run_index > 0"


def instance_page(
    cursor: duckdb.DuckDBPyConnection,
    run: RunKey,
    only: Only,
    *,
    page: int,
    size: int,
) -> pd.DataFrame:
    """One page (from 1) of a run's instances by name; the reasoning of each is cut to MAX_SAID characters.

    Columns: instance_id, truth (missing if the instance is not loaded), n_crash, n_safe, n_unanswered, marks (one
    letter per answer in order: C, a dot, or a question mark), said, n_all (instances on all pages).
    """
    return cursor.execute(
        f"""
        SELECT *, count(*) OVER () AS n_all FROM (
            SELECT {_COUNTED},
                   string_agg(CASE WHEN r.crashes THEN 'C' WHEN NOT r.crashes THEN '·' ELSE '?' END, ' '
                              ORDER BY r.run_index) AS marks,
                   left(arg_min(coalesce(r.reasoning, r.unanswered), r.run_index), {MAX_SAID}) AS said
            {_FROM_RUNS}
            WHERE {_OF_RUN} GROUP BY r.instance_id
        ) WHERE {_HAVING[only]}
        ORDER BY instance_id LIMIT ? OFFSET ?
        """,
        [*run, size, (page - 1) * size],
    ).df()


def place_of(
    cursor: duckdb.DuckDBPyConnection,
    run: RunKey,
    instance_id: str,
    only: Only = Only.ALL,
) -> AnswerPlace:
    """The neighbours of an instance among those that `only` leaves; `place` is 0 if it is none of them."""
    rows = cursor.execute(
        f"""
        SELECT max(instance_id) FILTER (instance_id < $5), min(instance_id) FILTER (instance_id > $5),
               CASE WHEN bool_or(instance_id = $5) THEN count(*) FILTER (instance_id <= $5) ELSE 0 END, count(*)
        FROM (
            SELECT {_COUNTED}
            {_FROM_RUNS}
            WHERE {_numbered(_OF_RUN)} GROUP BY r.instance_id
        ) WHERE {_HAVING[only]}
        """,
        [*run, instance_id],
    ).fetchall()
    return AnswerPlace(*rows[0])


def _numbered(condition: str) -> str:
    """The condition with numbered parameters, for a statement that uses one of them twice."""
    for number in range(1, len(RunKey._fields) + 1):
        condition = condition.replace("?", f"${number}", 1)
    return condition


def answers(
    cursor: duckdb.DuckDBPyConnection, run: RunKey, instance_id: str
) -> list[dict[str, Any]]:
    """Every answer of a run to one instance, in the order of asking.

    Members: truth (None if the instance is not loaded), case_id, run_index, crashes, reasoning, unanswered,
    diagnostics, prompt_sha256, has_reply, trouble, finish_reason, seconds, attempts, input_tokens, output_tokens, usd,
    is_usd_reported, answered_at. Those from `trouble` on are None if no reply is stored.
    """
    rows = cursor.execute(
        f"""
        SELECT i.crashes AS truth, i.case_id, r.run_index, r.crashes, r.reasoning, r.unanswered, r.diagnostics,
               r.prompt_sha256, p.job IS NOT NULL AS has_reply, p.trouble, p.finish_reason, p.seconds, p.attempts,
               p.input_tokens, p.output_tokens, p.usd, p.is_usd_reported, p.answered_at
        FROM runs r
        LEFT JOIN replies p ON p.job = r.experiment AND p.benchmark = r.benchmark
                           AND p.instance_id = r.instance_id AND p.run_index = r.run_index
        LEFT JOIN instances i ON i.benchmark = r.benchmark AND i.instance_id = r.instance_id
        WHERE {_OF_RUN} AND r.instance_id = ? ORDER BY r.run_index
        """,
        [*run, instance_id],
    )
    names = [column[0] for column in rows.description]
    return [dict(zip(names, row, strict=True)) for row in rows.fetchall()]


def reasons(
    cursor: duckdb.DuckDBPyConnection, run: RunKey
) -> list[tuple[str, int]]:
    """Why answers of a run are missing, each with how many times, the most frequent first."""
    return cursor.execute(
        f"""
        SELECT coalesce(r.unanswered, 'no reason is known'), count(*) FROM runs r
        WHERE {_OF_RUN} AND r.crashes IS NULL GROUP BY ALL ORDER BY 2 DESC, 1
        """,
        list(run),
    ).fetchall()


def query_times(
    cursor: duckdb.DuckDBPyConnection, benchmark: str, experiment: str
) -> pd.DataFrame:
    """One row per instance, detector and setting of a job whose replies were timed, if a capture timed the cells.

    Columns: instance_id, detector, setting, seconds_before (the cells before the target, as captured; of several
    captures the shortest), seconds_of_query (the mean of the instance's replies).
    """
    return cursor.execute(
        """
        WITH before AS (
            SELECT benchmark, instance_id, min(list_sum(CAST(
                       json_extract(state, '$.captured.cells[*].seconds') AS DOUBLE[]))) AS seconds_before
            FROM kernel_states
            WHERE json_array_length(json_extract(state, '$.captured.cells[*].seconds')) > 0
            GROUP BY ALL
        ), asked AS (
            SELECT benchmark, instance_id, detector, setting, avg(seconds) AS seconds_of_query
            FROM replies WHERE benchmark = ? AND job = ? AND seconds IS NOT NULL GROUP BY ALL
        )
        SELECT instance_id, detector, setting, seconds_before, seconds_of_query
        FROM asked JOIN before USING (benchmark, instance_id)
        ORDER BY detector, setting, instance_id
        """,
        [benchmark, experiment],
    ).df()
