"""The words about the one model of all answers, on the page and on the site."""

from typing import Any

import pandas as pd

from crane_core.pipeline.results.model_across import SAMPLED
from crane_core.pipeline.results.one_model import LEAST_CASES, ModelOfAll
from crane_core.pipeline.rows import as_rows
from crane_core.stats.gee import Unfit
from crane_core.stats.one_model import PRIOR_SCALES
from crane_core.ui import words

TITLE = "What is the gain of a group worth under one model?"
BY_WORDS = {
    "detector_title": "detector",
    "library_group": "library",
    "root_cause": "root cause",
}
REASONS: dict[str, str] = {
    Unfit.ONE_GROUP: "no detector has answers with both inputs.",
    Unfit.FEW_CLUSTERS: f"it needs {LEAST_CASES} cases.",
    SAMPLED: "the labels of a sample stand for others, so it is unknown which instance is right.",
}
_OTHER_SCALES = " and ".join(f"{scale:g}" for scale in PRIOR_SCALES[1:])
ABOUT = (
    "A mixed logistic model of right and wrong: detector and input fixed, library and root cause partially pooled, "
    "case and instance as random effects. Observed: the group by itself, 95% interval by case. Model: the gain in a "
    "new case, 95% interval of the posterior. Other priors: the model's gain if the prior scale of the standard "
    f"deviations is {_OTHER_SCALES} instead of {PRIOR_SCALES[0]:g}. As expected: whether outcomes drawn from the model "
    "resemble the observed ones. It adjusts for no other test."
)


def finding(found: ModelOfAll) -> str:
    """Which group's observed gain the model changes most, and the posterior check, in Markdown."""
    if found.why_not:
        return f"No model of all answers: {REASONS[found.why_not]}"
    rows = as_rows(found.gains)
    moved = max(rows, key=lambda row: abs(row["observed"] - row["value"]))
    n_expected = sum(row["is_expected"] for row in rows)
    return (
        f"**{moved['name']}: {words.points(moved['observed'])} observed in {words.count(moved['n_cases'])} "
        f"{'case' if moved['n_cases'] == 1 else 'cases'}, {words.points(moved['value'])} under the model** "
        f"({words.points_interval(moved['low'], moved['high'])}), which moves this gain most. Of "
        f"{words.count(len(rows))} observed "
        f"gains, {words.count(n_expected)} are as the model expects."
    )


def readable_gains(found: ModelOfAll) -> pd.DataFrame:
    """A row per detector and group as people read it."""
    return pd.DataFrame(
        {
            "Group": row["name"],
            "By": BY_WORDS[row["by"]],
            "Observed": words.points(row["observed"]),
            "95% by case": words.points_interval(
                row["observed_low"], row["observed_high"]
            ),
            "Model": words.points(row["value"]),
            "95% of the model": words.points_interval(row["low"], row["high"]),
            "Other priors": words.points_interval(row["least"], row["most"]),
            "As expected": "yes" if row["is_expected"] else "no",
            "Cases": words.count(row["n_cases"]),
        }
        for row in as_rows(found.gains)
    )


def readable_ratios(found: ModelOfAll, by_gee: pd.DataFrame) -> pd.DataFrame:
    """The odds ratio of each detector under this model beside that of the estimating equations (`model_across`)."""
    of_gee = {row["detector_title"]: row for row in as_rows(by_gee)}
    return pd.DataFrame(
        {
            "Detector": str(title),
            "Odds ratio, model": words.coefficient(row["odds_ratio"]),
            "95% of the model": words.coefficient_interval(
                row["low"], row["high"]
            ),
            **_gee_cells(of_gee.get(str(title))),
        }
        for title, row in found.ratios.iterrows()
    )


def _gee_cells(row: dict[str, Any] | None) -> dict[str, str]:
    if row is None or row["odds_ratio"] is None:
        return {"Odds ratio, GEE": words.NOTHING, "95% by case": words.NOTHING}
    return {
        "Odds ratio, GEE": words.coefficient(row["odds_ratio"]),
        "95% by case": words.coefficient_interval(row["low"], row["high"]),
    }
