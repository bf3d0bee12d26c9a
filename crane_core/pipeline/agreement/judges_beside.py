"""Judges beside one person: how often their labels differ, and what both say together of the correct diagnoses.

The share of correct diagnoses takes the person's labels and, for the rest, those of a judge; it is the mean credit
where a campaign has its own labels.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from crane_core.annotation.label_set import (
    LabelSet,
    means_the_study,
    study_labels,
)
from crane_core.domain import Label
from crane_core.pipeline.agreement import agreement
from crane_core.pipeline.agreement.labelled import NONE, LabelledVerdicts
from crane_core.pipeline.results.measures import estimate_row
from crane_core.stats.intervals import clustered_rate
from crane_core.stats.prediction_powered import powered_share

COLUMNS = [
    "judge", "n", "n_more", "n_cases", "alone", "alone_low", "alone_high", "value", "low", "high", "weight",
]  # fmt: skip


def judge_powered(
    labelled: LabelledVerdicts,
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
    said = labelled.said([person, *judges])
    rows_of_judges = np.flatnonzero((said[:, 1:] != NONE).any(axis=1))
    facts = agreement.in_scope(
        labelled.verdicts.iloc[rows_of_judges],
        agreement.ComparedVerdicts.DIAGNOSES,
    )
    cases = (facts["benchmark"] + "/" + facts["case_id"]).to_numpy(dtype=str)
    credits = credits_of(label_set)
    credit = labelled.as_numbers(lambda label: credits.get(label, np.nan))
    human, *of_judges = credit[said[facts.index]].T
    rows = [
        _row(judge, human, given, cases)
        for judge, given in zip(judges, of_judges, strict=True)
    ]
    return pd.DataFrame(
        [row for row in rows if row["n"] and row["n_more"]], columns=COLUMNS
    )


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


def _row(
    judge: str,
    human: NDArray[np.float64],
    said: NDArray[np.float64],
    cases: NDArray[np.str_],
) -> dict[str, float | str]:
    both = ~np.isnan(human) & ~np.isnan(said)
    more = np.isnan(human) & ~np.isnan(said)
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


DIFFERING_COLUMNS = [
    "judge", "counted", "n_differ", "n", "n_cases", "value", "low", "high",
]  # fmt: skip
ON_STUDY_SCALE = agreement.scale_of(
    agreement.ComparedVerdicts.DIAGNOSES, study_labels()
)
ON_SCALE, ALL = "labels on the scale", "every label"


def judge_differs(
    labelled: LabelledVerdicts, person: str, judges: Sequence[str]
) -> pd.DataFrame:
    """Two rows per judge, over the detected crashes that the person gave a label on the scale.

    Columns DIFFERING_COLUMNS: counted, ON_SCALE or ALL; the share n_differ / n with its 95% interval by case, in 0..1.
    A judge that labelled none of them has no row.
    """
    said = labelled.said([person, *judges])
    is_on_scale = labelled.as_places(ON_STUDY_SCALE) != NONE
    is_of_judge = (said[:, 1:] != NONE).any(axis=1)
    rows_of_both = np.flatnonzero(is_on_scale[said[:, 0]] & is_of_judge)
    facts = agreement.in_scope(
        labelled.verdicts.iloc[rows_of_both],
        agreement.ComparedVerdicts.DIAGNOSES,
    )
    cases = (facts["benchmark"] + "/" + facts["case_id"]).to_numpy(dtype=str)
    of_person, *of_judges = said[facts.index].T
    rows = []
    for judge, given in zip(judges, of_judges, strict=True):
        differs = (given != of_person).astype(np.float64)
        for counted, is_counted in (
            (ON_SCALE, is_on_scale[given]),
            (ALL, given != NONE),
        ):
            if not is_counted.any():
                continue
            found = clustered_rate(
                differs[is_counted], is_counted[is_counted], cases[is_counted]
            )
            named = {
                "judge": judge,
                "counted": counted,
                "n_differ": int(differs[is_counted].sum()),
            }
            rows.append(named | estimate_row(found))
    return pd.DataFrame(rows, columns=DIFFERING_COLUMNS)
