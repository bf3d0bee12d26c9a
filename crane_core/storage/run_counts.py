"""Single runs counted per case inside the database: what the stability of runs needs of any number of them.

Refuses to know what is computed of the counts.
"""

from typing import Any, NamedTuple

import duckdb
import pandas as pd


class KindOfCase(NamedTuple):
    """Cases of a detector and setting that are alike: their complete instances, and in which runs each was right.

    right, answered: numbers of runs, a list per instance. n_cases: how many cases are like that.
    """

    detector: str
    setting: str
    n_runs: int
    right: list[list[int]]
    answered: list[list[int]]
    n_cases: int


class RunCounts(NamedTuple):
    """Of the instances that all runs answered, of two runs and more.

    cases: by detector, setting and kind. left_out: instances that lack an answer, by detector and setting. votes: a row
    for every different case, with detector, setting (None: all of them together), n_runs, n_crash (votes of the
    instances counted here), n_real (that crash), n (instances) and n_cases.
    """

    cases: list[KindOfCase]
    left_out: dict[tuple[str, str], int]
    votes: pd.DataFrame


def run_counts(
    cursor: duckdb.DuckDBPyConnection,
    benchmark: str,
    experiment: str,
    detectors: list[str],
) -> RunCounts:
    """The counts of these detectors in one experiment; n_runs is the most answers to an instance in the setting."""
    asked: dict[str, Any] = {
        "benchmark": benchmark,
        "experiment": experiment,
        "detectors": detectors,
    }
    cursor.execute(_COMPLETE, asked)
    try:
        left_out = cursor.execute(_LEFT_OUT).fetchall()
        return RunCounts(
            [KindOfCase(*row) for row in cursor.execute(_CASES).fetchall()],
            {(detector, setting): n for detector, setting, n in left_out},
            cursor.execute(_VOTES).df(),
        )
    finally:
        # A temporary table belongs to the cursor, which goes on to other questions.
        cursor.execute("DROP TABLE answered_by_run")


_COMPLETE = """
    CREATE OR REPLACE TEMP TABLE answered_by_run AS
    WITH answers AS (
        SELECT detector, setting, instance_id,
               count(*) FILTER (crashes) AS n_crash, count(*) FILTER (NOT crashes) AS n_safe,
               coalesce(list(run_index) FILTER (crashes AND run_index > 0), []) AS crash_in,
               coalesce(list(run_index) FILTER (NOT crashes AND run_index > 0), []) AS safe_in
        FROM runs
        WHERE benchmark = $benchmark AND experiment = $experiment AND list_contains($detectors, detector)
        GROUP BY ALL
    )
    SELECT a.detector, a.setting, i.case_id, i.crashes AS truth, n_crash,
           max(n_crash + n_safe) OVER (PARTITION BY a.detector, a.setting) AS n_runs,
           n_runs > 1 AND n_crash + n_safe = n_runs AS is_complete,
           list_sort(CASE WHEN i.crashes THEN crash_in ELSE safe_in END) AS right_in,
           list_sort(list_concat(crash_in, safe_in)) AS answered_in
    FROM answers a
    JOIN instances i ON i.benchmark = $benchmark AND i.instance_id = a.instance_id
    JOIN cases c ON c.benchmark = $benchmark AND c.case_id = i.case_id
"""
_LEFT_OUT = "SELECT detector, setting, count(*) FILTER (NOT is_complete) FROM answered_by_run GROUP BY ALL"
_CASES = """
    WITH by_case AS (
        SELECT detector, setting, n_runs,
               list_sort(list({'right': right_in, 'answered': answered_in})) AS instances
        FROM answered_by_run WHERE is_complete GROUP BY detector, setting, n_runs, case_id
    )
    SELECT detector, setting, n_runs, list_transform(instances, lambda one: one.right) AS right,
           list_transform(instances, lambda one: one.answered) AS answered, count(*) AS n_cases
    FROM by_case GROUP BY ALL ORDER BY ALL
"""
_VOTES = """
    WITH by_case AS (
        SELECT detector, setting, n_runs, n_crash, count(*) FILTER (truth) AS n_real, count(*) AS n
        FROM answered_by_run WHERE is_complete
        GROUP BY GROUPING SETS ((detector, n_runs, n_crash, case_id), (detector, n_runs, n_crash, case_id, setting))
    )
    SELECT *, count(*) AS n_cases FROM by_case GROUP BY ALL ORDER BY ALL
"""
