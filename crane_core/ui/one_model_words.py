"""The words about the one model of all answers, on the page and on the site."""

from typing import Any

import pandas as pd

from crane_core.charts.drops import FEW_CASES
from crane_core.pipeline.results.model_across import (
    LEAST_CASES,
    SAMPLED,
    ModelOfAll,
)
from crane_core.pipeline.rows import as_rows
from crane_core.stats.gee import Unfit
from crane_core.stats.one_model import PRIOR_SCALES
from crane_core.ui import words

TITLE = "What is the gain of a group worth under one model?"
BY_WORDS = {
    "detector_title": "Detector",
    "library_group": "Library",
    "root_cause": "Root cause",
}
REASONS: dict[str, str] = {
    Unfit.ONE_GROUP: "no detector has answers with both inputs.",
    Unfit.FEW_CLUSTERS: f"it needs {LEAST_CASES} cases.",
    SAMPLED: "the labels of a sample stand for others, so it is unknown which instance is right.",
}
DRAWN = {"low": "low", "high": "high", "at": "value", "was": "observed"}
"""Mark of a row to the column of its place."""
_OTHER_SCALES = " and ".join(f"{scale:g}" for scale in PRIOR_SCALES[1:])
ABOUT = (
    "A mixed logistic model of right and wrong: detector and input fixed, library and root cause partially pooled, "
    "case and instance as random effects. Observed: the group by itself, 95% interval by case. Model: the gain in a "
    "new case, 95% interval of the posterior. Other priors: the model's gain if the prior scale of the standard "
    f"deviations is {_OTHER_SCALES} instead of {PRIOR_SCALES[0]:g}. As expected: whether outcomes drawn from the model "
    "resemble the observed ones. It adjusts for no other test."
)


def finding(found: ModelOfAll) -> str:
    """The gains of the detectors, which observed gain of a group the model changes most, and the posterior check."""
    if found.why_not:
        return f"No model of all answers: {REASONS[found.why_not]}"
    rows = as_rows(found.gains)
    of_detectors = [
        row["value"] for row in rows if row["by"] == "detector_title"
    ]
    least, most = (
        words.points(min(of_detectors)),
        words.points(max(of_detectors)),
    )
    span = least if least == most else f"{least.removesuffix(' pp')} to {most}"
    n_expected = sum(row["is_expected"] for row in rows)
    # What one or two cases show, any model changes.
    many = [row for row in rows if row["n_cases"] > FEW_CASES]
    moved = max(many, key=lambda row: abs(row["observed"] - row["value"]))
    return (
        f"**One model of all answers puts the gain of a detector at {span}.** It moves that of "
        f"{words.literal(moved['name'])} most: {words.points(moved['observed'])} observed in "
        f"{words.count(moved['n_cases'])} cases, {words.points(moved['value'])} under the model "
        f"({words.points_interval(moved['low'], moved['high'])}). Outcomes drawn from the model resemble "
        f"{words.count(n_expected)} of {words.count(len(rows))} observed gains."
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
            "95% interval": words.points_interval(row["low"], row["high"]),
            "Other priors": words.points_interval(row["least"], row["most"]),
            "As expected": "yes" if row["is_expected"] else "no",
            "Cases": words.count(row["n_cases"])
            + " (few)" * (row["n_cases"] <= FEW_CASES),
        }
        for row in as_rows(found.gains)
    )


def gain_looks(found: ModelOfAll) -> dict[str, list[str]]:
    """How `readable_gains` looks, for style.css: where marks stand, few cases, and the name of a grouping once."""
    rows = as_rows(found.gains)
    ends = [0.0, *(row[name] for row in rows for name in DRAWN.values())]
    least, span = min(ends), max(ends) - min(ends)
    return {
        "95% interval": [
            "".join(
                f"--{mark}: {(at - least) / span:.4f};"
                for mark, at in [
                    ("zero", 0.0),
                    *((mark, row[name]) for mark, name in DRAWN.items()),
                ]
            )
            for row in rows
        ],
        "Cases": ["--few: 1" * (row["n_cases"] <= FEW_CASES) for row in rows],
        "By": [
            "" if is_again else f'--first: "{BY_WORDS[by]}"'
            for by, is_again in zip(
                found.gains["by"], found.gains["by"].duplicated(), strict=True
            )
        ],
    }


def readable_ratios(found: ModelOfAll, by_gee: pd.DataFrame) -> pd.DataFrame:
    """The odds ratio of each detector under this model beside that of the estimating equations (`model_across`)."""
    of_gee = {row["detector_title"]: row for row in as_rows(by_gee)}
    return pd.DataFrame(
        {
            "Detector": str(title),
            "Odds ratio, model": words.coefficient(row["odds_ratio"]),
            "95% interval": words.coefficient_interval(row["low"], row["high"]),
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
