"""Do the detectors gain alike from one input over another? One model over all, from a slice of the verdict frame."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from crane_core.pipeline.results.measures import (
    WITH_STATE,
    Credit,
    Inputs,
    VoteRule,
    is_sampled,
    paired_rows,
    scored,
)
from crane_core.stats import gee, rates

COLUMNS = [
    "detector",
    "detector_title",
    "n",
    "n_cases",
    "without",
    "with_",
    "odds_ratio",
    "low",
    "high",
]
SAMPLED = "the labels of a sample stand for others"


class ModelAcross(NamedTuple):
    """The odds ratio of the other input per detector, and the Wald test of the interaction input x detector.

    ratios: a row per detector with both inputs, columns COLUMNS: n instances (each once with either
    input) of n_cases cases, accuracy without and with it, odds_ratio with its 95% interval (NaN if there is no
    model). chi2, df and p_value of the test; n_cases of all detectors together. why_not: why there is no model, a
    `gee.Unfit` or SAMPLED, empty if there is one; at: titles of the detectors that it is about.
    """

    ratios: pd.DataFrame
    chi2: float
    df: int
    p_value: float
    n_cases: int
    why_not: str = ""
    at: tuple[str, ...] = ()


def model_across(
    frame: pd.DataFrame, *, rule: VoteRule, credit: Credit, inputs: Inputs = WITH_STATE
) -> ModelAcross:
    """`stats.gee` on right or wrong per instance, clustered by case, over `paired_rows` of `frame`.

    Right is a share of 0..1 where the rule is the mean of runs or partial diagnoses earn half a credit. If labels of a
    sample represent others, it is unknown which instance is right, so there is no model.
    """
    rows = paired_rows(frame, rule=rule, credit=credit, inputs=inputs)
    rows = rows[rows.groupby("detector")["setting"].transform("nunique") == 2]
    parts = (
        None
        if rows.empty or is_sampled(rows, rule, credit)
        else scored(rows, rule, credit).parts
    )
    if parts is None:
        why_not = gee.Unfit.ONE_GROUP if rows.empty else SAMPLED
        return ModelAcross(
            pd.DataFrame(columns=COLUMNS),
            np.nan,
            0,
            np.nan,
            rows["case_id"].nunique(),
            why_not,
        )
    right = pd.Series(np.asarray(rates.accuracy(parts).part), rows.index)
    group, names = pd.factorize(rows["detector"], sort=True)
    found = gee.odds_ratios(
        right, rows["setting"] == inputs.other, group, pd.factorize(rows["case_id"])[0]
    )
    detectors = [str(names[place]) for place in found.groups]
    named = rows.drop_duplicates("detector")
    title_of = dict(zip(named["detector"], named["detector_title"], strict=True))
    ratios = pd.DataFrame(
        {
            "detector": detectors,
            "detector_title": [title_of[name] for name in detectors],
            **{
                name: [column[detector] for detector in detectors]
                for name, column in _counts(rows, right, inputs).items()
            },
            "odds_ratio": found.odds_ratio,
            "low": found.low,
            "high": found.high,
        }
    )
    at = tuple(title_of[names[int(place)]] for place in found.unfit_groups)
    return ModelAcross(
        ratios,
        found.chi2,
        found.df,
        found.p_value,
        found.n_clusters,
        found.unfit or "",
        at,
    )


def _counts(
    rows: pd.DataFrame, right: pd.Series, inputs: Inputs
) -> dict[str, pd.Series]:
    """n, n_cases and accuracy with either input, each by detector."""
    by = rows["detector"]
    without = rows["setting"] == inputs.base
    return {
        "n": rows["instance_id"].groupby(by).nunique(),
        "n_cases": rows["case_id"].groupby(by).nunique(),
        "without": right[without].groupby(by[without]).mean(),
        "with_": right[~without].groupby(by[~without]).mean(),
    }
