"""Questions about single answers: what each run of a detector said of each instance, with the reply behind it."""

from __future__ import annotations

import duckdb
import pandas as pd


def answers(
    cursor: duckdb.DuckDBPyConnection, *, benchmark: str, experiment: str, detector: str, setting: str
) -> pd.DataFrame:
    """Every answer of a detector in a setting of an experiment, by instance and index.

    Columns: instance_id, truth (missing where the instance is not loaded), run_index, crashes, reasoning, unanswered,
    diagnostics, prompt_sha256, has_reply, trouble, finish_reason, seconds, attempts, input_tokens, output_tokens, usd,
    answered_at. Those from `trouble` on are missing where no reply is stored.
    """
    return cursor.execute(
        """
        SELECT r.instance_id, i.crashes AS truth, r.run_index, r.crashes, r.reasoning, r.unanswered, r.diagnostics,
               r.prompt_sha256, p.job IS NOT NULL AS has_reply, p.trouble, p.finish_reason, p.seconds, p.attempts,
               p.input_tokens, p.output_tokens, p.usd, p.answered_at
        FROM runs r
        LEFT JOIN replies p ON p.job = r.experiment AND p.benchmark = r.benchmark
                           AND p.instance_id = r.instance_id AND p.run_index = r.run_index
        LEFT JOIN instances i ON i.benchmark = r.benchmark AND i.instance_id = r.instance_id
        WHERE r.benchmark = ? AND r.experiment = ? AND r.detector = ? AND r.setting = ? AND r.run_index > 0
        ORDER BY r.instance_id, r.run_index
        """,
        [benchmark, experiment, detector, setting],
    ).df()
