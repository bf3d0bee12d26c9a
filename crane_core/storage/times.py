"""Questions about time: how long the cells before a target took, and how long an answer took."""

from __future__ import annotations

import duckdb
import pandas as pd


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
