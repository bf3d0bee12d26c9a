"""The share of correct diagnoses, from the labels of one person and, for the rest, those of a judge."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from crane_core.domain import Label
from crane_core.pipeline.agreement import Scope, in_scope
from crane_core.pipeline.label_frame import KEY
from crane_core.stats.prediction_powered import powered_share

COLUMNS = [
    "judge", "n", "n_more", "n_cases", "alone", "alone_low", "alone_high", "value", "low", "high", "weight",
]  # fmt: skip


def judge_powered(labels: pd.DataFrame, verdicts: pd.DataFrame, person: str, judges: Sequence[str]) -> pd.DataFrame:
    """One row per judge that labelled diagnoses which the person did not.

    Columns: judge; n, diagnoses that both labelled; n_more, those of the judge alone; n_cases; the share that is
    correct by the person's n labels alone (alone, alone_low, alone_high) and with the judge's (value, low, high;
    `stats.prediction_powered`), in 0..1; weight, how much the judge counts. Valid where the person's labels are a
    random sample of these diagnoses.
    """
    verdicts = in_scope(verdicts, Scope.DIAGNOSES)
    cases = (verdicts["benchmark"] + "/" + verdicts["case_id"]).set_axis(pd.MultiIndex.from_frame(verdicts[KEY]))
    human = _is_correct(labels, person).reindex(cases.index)
    rows = [_row(judge, human, _is_correct(labels, judge).reindex(cases.index), cases) for judge in judges]
    return pd.DataFrame([row for row in rows if row["n"] and row["n_more"]], columns=COLUMNS)


def _is_correct(labels: pd.DataFrame, annotator: str) -> pd.Series[float]:
    """1 or 0 by verdict; labels of a campaign's own set that the study does not have are left out."""
    mine = labels[(labels["annotator"] == annotator) & labels["label"].isin(list(Label))].set_index(KEY)["label"]
    correct: pd.Series[float] = (mine == Label.CORRECT).astype(float)
    return correct


def _row(judge: str, human: pd.Series[float], said: pd.Series[float], cases: pd.Series[str]) -> dict[str, float | str]:
    both, alone = human.notna() & said.notna(), human.isna() & said.notna()
    mine = powered_share(human[both], said[both], [], cases[both], [])
    powered = powered_share(human[both], said[both], said[alone], cases[both], cases[alone])
    return {
        "judge": judge,
        "n": powered.n,
        "n_more": powered.n_more,
        "n_cases": powered.n_clusters,
        "alone": mine.value,
        "alone_low": mine.low,
        "alone_high": mine.high,
        "value": powered.value,
        "low": powered.low,
        "high": powered.high,
        "weight": powered.weight,
    }
