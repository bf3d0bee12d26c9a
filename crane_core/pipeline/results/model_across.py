"""Do the detectors gain alike from one input over another? One model over all, from a slice of the verdict frame."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from crane_core.pipeline.results import measures
from crane_core.pipeline.results.right_or_wrong import right_or_wrong
from crane_core.stats import gee

COLUMNS = [
    "detector", "detector_title", "n", "n_cases", "without", "with_", "odds_ratio", "low", "high",
]  # fmt: skip


class ModelAcross(NamedTuple):
    """The odds ratio of the other input per detector, and the Wald test of the interaction input x detector.

    ratios: a row per detector with both inputs, columns COLUMNS: n instances (each once with either
    input) of n_cases cases, accuracy without and with it, odds_ratio with its 95% interval (NaN if there is no
    model). chi2, df and p_value of the test; n_cases of all detectors together. why_not: why there is no model, a
    `gee.Unfit` or `right_or_wrong.SAMPLED`, empty if there is one; at: titles of the detectors that it is about.
    """

    ratios: pd.DataFrame
    chi2: float
    df: int
    p_value: float
    n_cases: int
    why_not: str = ""
    at: tuple[str, ...] = ()


def model_across(
    frame: pd.DataFrame,
    *,
    rule: measures.VoteRule,
    credit: measures.Credit,
    inputs: measures.Inputs = measures.WITH_STATE,
) -> ModelAcross:
    """`stats.gee` on right or wrong per instance, clustered by case (see `right_or_wrong`)."""
    rows, why_not = right_or_wrong(
        frame, rule=rule, credit=credit, inputs=inputs
    )
    if why_not:
        return ModelAcross(
            ratios=pd.DataFrame(columns=COLUMNS),
            chi2=np.nan,
            df=0,
            p_value=np.nan,
            n_cases=rows["case_id"].nunique(),
            why_not=why_not,
        )
    right = rows["right"]
    group, names = pd.factorize(rows["detector"], sort=True)
    found = gee.odds_ratios(
        right,
        rows["is_other"],
        group,
        pd.factorize(rows["case_id"])[0],
    )
    ratios = []
    for place, detector in enumerate(names):
        mine = rows[rows["detector"] == detector]
        of_base, of_other = (
            mine.index[~mine["is_other"]],
            mine.index[mine["is_other"]],
        )
        ratios.append(
            {
                "detector": str(detector),
                "detector_title": mine["detector_title"].iloc[0],
                "n": mine["instance_id"].nunique(),
                "n_cases": mine["case_id"].nunique(),
                "without": right[of_base].mean(),
                "with_": right[of_other].mean(),
                "odds_ratio": found.odds_ratio[place],
                "low": found.low[place],
                "high": found.high[place],
            }
        )
    return ModelAcross(
        ratios=pd.DataFrame(ratios, columns=COLUMNS),
        chi2=found.chi2,
        df=found.df,
        p_value=found.p_value,
        n_cases=found.n_clusters,
        why_not=found.unfit or "",
        at=tuple(
            ratios[int(place)]["detector_title"] for place in found.unfit_groups
        ),
    )
