"""Questions about labels: what every annotator of the store says of verdicts, people and judges alike."""

from __future__ import annotations

import duckdb
import pandas as pd


def verdict_labels(cursor: duckdb.DuckDBPyConnection) -> pd.DataFrame:
    """One row per verdict and annotator: benchmark, instance_id, detector, setting, experiment, annotator, kind, label.

    What is said of the verdict itself (run_index 0) is taken as it is. Where single runs were labelled, the verdict
    gets the label given most often, among equals the one given first (as the study's judge tables do). A judge is an
    annotator per repetition and order of texts, and is named so.
    """
    return cursor.execute(
        """
        WITH judged AS (
            SELECT *, CASE presentation WHEN 'normal' THEN '' ELSE ', ' || presentation END AS texts,
                   ', repetition ' || repetition AS time
            FROM judgements
        ), counted AS (
            SELECT benchmark, instance_id, detector, setting, experiment, annotator_kind AS kind, label,
                   annotator || CASE annotator_kind WHEN 'judge' THEN time || texts ELSE '' END AS annotator,
                   run_index > 0 AS of_run, count(*) AS n, min(run_index) AS first
            FROM judged GROUP BY ALL
        )
        SELECT benchmark, instance_id, detector, setting, experiment, annotator, kind, label
        FROM counted
        QUALIFY row_number() OVER (
            PARTITION BY benchmark, instance_id, detector, setting, experiment, annotator
            ORDER BY of_run, n DESC, first
        ) = 1
        ORDER BY ALL
        """
    ).df()
