"""The gain by whose labels judge the diagnoses, as a table: people, judges, judges corrected. Knows no page."""

from typing import Any

import pandas as pd

from crane_core.charts.theme import in_order
from crane_core.pipeline.results.measures import Credit, VoteRule
from crane_core.pipeline.rows import as_rows
from crane_core.ui import words

TITLE = "How much of it is who judged?"
ABOUT = (
    "By majority, with a correct diagnosis. Corrected: the judge's labels with its errors taken out (Rogan and "
    "Gladen), which are measured on the diagnoses that a person labelled too; the interval carries their uncertainty. "
    "No test is made of a corrected difference. It assumes that the judge errs alike with both inputs."
)


def errors_sentence(errors: pd.DataFrame, person: str) -> str:
    """How often each judge agrees with the person that a diagnosis is correct, and that it is not."""
    said = []
    for row in as_rows(errors.drop_duplicates("judge")):
        known = row["sensitivity"], row["specificity"]
        if None not in known:
            said.append(
                f"“{words.labelled_by(row['judge'])}” calls {words.percent(known[0])} of the diagnoses correct that "
                f"“{person}” calls correct, and {words.percent(known[1])} of the others wrong "
                f"({words.count(row['n_double'])} with both labels)."
            )
    return " ".join(said)


def label_sources(curve: pd.DataFrame, errors: pd.DataFrame) -> pd.DataFrame:
    """A row per detector and source of labels.

    curve: of `pipeline.results.specification_curve`; errors: of `pipeline.results.judge_error`.
    """
    is_shown = (curve["rule"] == VoteRule.MAJORITY) & (
        curve["credit"] == Credit.STRICT
    )
    once = curve[is_shown].drop_duplicates(["detector", "judged_by"])
    corrected = {
        (row["detector"], row["judge"]): row for row in as_rows(errors)
    }
    rows = []
    for title in in_order(errors["detector_title"].unique().tolist()):
        for row in as_rows(once[once["detector_title"] == title]):
            who = words.labelled_by(row["judged_by"])
            rows.append({"Detector": title, "Labels of": who} | _cells(row))
            of_judge = corrected.get((row["detector"], row["judged_by"]))
            if of_judge is not None:
                named = {"Detector": title, "Labels of": f"{who}, corrected"}
                rows.append(named | _cells(of_judge))
    return pd.DataFrame(rows)


def _cells(row: dict[str, Any]) -> dict[str, Any]:
    is_known = row["difference"] is not None and row["low"] is not None
    return {
        "Difference": words.points(row["difference"])
        if is_known
        else words.NOTHING,
        "95% interval": words.points_interval(row["low"], row["high"])
        if is_known
        else words.NOTHING,
        "Instances": row["n"],
        "Cases": row["n_cases"],
    }
