"""Answers that were invalidated: which there are, and their rows taken out of the tables."""

from collections.abc import Sequence
from typing import NamedTuple

import duckdb

NAME = "concat_ws('/', benchmark, experiment, detector, setting, instance_id, run_index)"
"""The id of an answer in SQL, as `domain.answer_name` makes it."""
_TABLES = ("runs", "judgements")
"""With one row, or several, about an answer; index 0 is about all answers of an instance, and stays."""


class AnswerKey(NamedTuple):
    """The key of one answer."""

    benchmark: str
    experiment: str
    detector: str
    setting: str
    instance_id: str
    run_index: int


def take_out(cursor: duckdb.DuckDBPyConnection, names: Sequence[str]) -> None:
    """Delete the rows of these answers, and the labels that were given to them; inside the caller's transaction."""
    for table in _TABLES:
        cursor.execute(
            f"DELETE FROM main.{table} WHERE run_index > 0 AND list_contains(?, {NAME})",
            [list(names)],
        )


def answers_of(
    cursor: duckdb.DuckDBPyConnection,
    experiment: str,
    *,
    instance_id: str,
    benchmark: str | None = None,
    detector: str | None = None,
    setting: str | None = None,
    run_index: int | None = None,
) -> list[AnswerKey]:
    """The answers of an experiment to an instance, in order of their keys; what is None is left open."""
    rows = cursor.execute(
        """
        SELECT benchmark, experiment, detector, setting, instance_id, run_index FROM runs
        WHERE experiment = $experiment AND instance_id = $instance AND run_index > 0
              AND benchmark = coalesce($benchmark, benchmark) AND detector = coalesce($detector, detector)
              AND setting = coalesce($setting, setting) AND run_index = coalesce($index, run_index)
        ORDER BY ALL
        """,
        {
            "experiment": experiment,
            "instance": instance_id,
            "benchmark": benchmark,
            "detector": detector,
            "setting": setting,
            "index": run_index,
        },
    ).fetchall()
    return [AnswerKey(*row) for row in rows]
