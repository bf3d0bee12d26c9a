"""Any two runs on a benchmark, over the instances that both answered: which one is right more often?

The comparison is that of two inputs (`measures.gain_table`), with the runs in the place of the inputs.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from crane_core.pipeline.results.measures import (
    WITH_STATE,
    Credit,
    VoteRule,
    gain_table,
)
from crane_core.pipeline.rows import as_rows
from crane_core.storage.answers import RunKey

PAIR = "two runs"


def two_runs(
    verdicts: pd.DataFrame,
    one: RunKey,
    other: RunKey,
) -> dict[str, Any] | None:
    """Accuracy of the majority vote, detection alone; None if no instance was answered by both.

    verdicts: `evaluate.verdict_frame`. Members: n, n_cases, without (accuracy of `one`), with_ (of `other`),
    difference, low, high (shares, 95%, clustered by case), lost and gained (instances that only `one`, or only `other`,
    has right), p_value (exact McNemar test), p_by_case (sign flips of whole cases), and the outcome that both decide.
    """
    sides = [
        _rows_of(verdicts, run).assign(
            setting=setting,
            detector=PAIR,
            detector_title=PAIR,
            experiment=PAIR,
        )
        for run, setting in zip((one, other), WITH_STATE, strict=True)
    ]
    if one == other or any(side.empty for side in sides):
        return None
    table = gain_table(
        pd.concat(sides, ignore_index=True),
        rule=VoteRule.MAJORITY,
        credit=Credit.DETECTION,
        with_power=False,
    )
    return as_rows(table)[0] if len(table) else None


def _rows_of(verdicts: pd.DataFrame, run: RunKey) -> pd.DataFrame:
    chosen = verdicts["benchmark"].eq(run.benchmark)
    for name in ("experiment", "detector", "setting"):
        chosen &= verdicts[name].eq(getattr(run, name))
    rows: pd.DataFrame = verdicts[chosen]
    return rows
