"""The share of correct diagnoses, from the labels of one person and, for the rest, those of a judge.

Or the mean credit, where a campaign has its own labels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from crane_core.annotation.label_set import (
    LabelSet,
    means_the_study,
    study_labels,
)
from crane_core.domain import Label
from crane_core.pipeline.agreement.agreement import ComparedVerdicts, in_scope
from crane_core.pipeline.campaigns.label_frame import KEY
from crane_core.stats.prediction_powered import powered_share

COLUMNS = [
    "judge", "n", "n_more", "n_cases", "alone", "alone_low", "alone_high", "value", "low", "high", "weight",
]  # fmt: skip


def judge_powered(
    labels: pd.DataFrame,
    verdicts: pd.DataFrame,
    person: str,
    judges: Sequence[str],
    label_set: LabelSet = study_labels(),  # noqa: B008 - a frozen set, read once
) -> pd.DataFrame:
    """One row per judge that labelled diagnoses which the person did not.

    Columns: judge; n, diagnoses that both labelled; n_more, those of the judge alone; n_cases; the share that is
    correct by the person's n labels alone (alone, alone_low, alone_high) and with the judge's (value, low, high;
    `stats.prediction_powered`), in 0..1; weight, how much the judge counts. Valid where the person's labels are a
    random sample of these diagnoses. Labels of another set than the study's count by their credit, and those without
    one are left out; a judge's unverifiable counts as 0, as it does for the study's.
    """
    verdicts = in_scope(verdicts, ComparedVerdicts.DIAGNOSES)
    cases = (verdicts["benchmark"] + "/" + verdicts["case_id"]).set_axis(
        pd.MultiIndex.from_frame(verdicts[KEY])
    )
    credits = credits_of(label_set)
    human = _credit(labels, person, credits).reindex(cases.index)
    rows = []
    for judge in judges:
        said = _credit(labels, judge, credits).reindex(cases.index)
        row = _row(
            judge,
            human,
            said,
            cases,
        )
        if row["n"] and row["n_more"]:
            rows.append(row)
    return pd.DataFrame(rows, columns=COLUMNS)


def credits_of(label_set: LabelSet) -> dict[str, float]:
    """What each label counts, in 0..1. The study's strictly: correct 1, every other label 0."""
    if means_the_study(label_set):
        return {str(label): float(label is Label.CORRECT) for label in Label}
    own = {
        label.code: label.credit
        for label in label_set.labels
        if label.credit is not None
    }
    return {str(Label.UNVERIFIABLE): 0.0} | own if own else {}


def _credit(
    labels: pd.DataFrame,
    annotator: str,
    credits: Mapping[str, float],
) -> pd.Series[float]:
    """By verdict, where the label counts."""
    is_mine = labels["annotator"] == annotator
    counted = labels[is_mine & labels["label"].isin(list(credits))]
    return counted.set_index(KEY)["label"].map(credits).astype(float)


def _row(
    judge: str,
    human: pd.Series[float],
    said: pd.Series[float],
    cases: pd.Series[str],
) -> dict[str, float | str]:
    both = human.notna() & said.notna()
    more = human.isna() & said.notna()
    mine = powered_share(
        human[both],
        said[both],
        [],
        cases[both],
        [],
    )
    powered = powered_share(
        human[both],
        said[both],
        said[more],
        cases[both],
        cases[more],
    )
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
