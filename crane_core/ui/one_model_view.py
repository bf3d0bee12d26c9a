"""What is a gain of few cases worth? One model of all answers beside each group by itself.

The page and the site have its words. Before it a row per detector and a column per method: does the other input help?
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

from crane_core.pipeline.results.model_across import SAMPLED
from crane_core.pipeline.results.one_model import (
    LEAST_CASES,
    ModelOfAll,
    model_of_all,
)
from crane_core.pipeline.rows import as_rows
from crane_core.stats.equivalence import SMALLEST_EFFECT
from crane_core.stats.gee import Unfit
from crane_core.stats.one_model import PRIOR_SCALES
from crane_core.stats.outcome import Outcome
from crane_core.ui import data, words
from crane_core.ui.chart_box import draw_method
from crane_core.ui.gains_view import compared
from crane_core.ui.model_across_view import across_ratios
from crane_core.ui.result_switches import ResultChoice
from crane_core.ui.rows_html import rows_html
from crane_core.ui.specification_view import curve_and_errors
from crane_core.ui.words import literal

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
ANSWERS_TITLE = "Does every method give the same answer?"
ABOUT_ANSWERS = (
    "Tests: the outcome of the comparison, with the largest adjusted p. Smaller: p of two one-sided tests that the "
    "difference is smaller than the smallest effect of interest. GEE: odds ratio, 95% by case. One model: the gain in "
    "a new case. Judge corrected: by majority and a correct diagnosis, the gain by a judge's labels with its errors "
    "taken out. Readings: tests of the specification curve that find a gain, and a loss. The methods ask one question "
    "in different ways: a conclusion that holds in all of them depends on none."
)


class MethodAnswers(NamedTuple):
    """What each method finds: tables of `gain_table`, `model_across`, `model_of_all`, `curve_of` and `judge_error`."""

    comparison: pd.DataFrame
    ratios: pd.DataFrame
    model: ModelOfAll
    curve: pd.DataFrame
    errors: pd.DataFrame


@data.kept(data.answers, 16, copied=True)
def _model(chosen: ResultChoice) -> ModelOfAll:
    rows = chosen.rows()
    return model_of_all(
        rows[rows["setting"].isin(chosen.inputs)],
        rule=chosen.rule,
        credit=chosen.credit,
        inputs=chosen.inputs,
    )


def draw_one_model(chosen: ResultChoice) -> None:
    """The section: every method side by side, then the model's finding, its gains, and the same by GEE."""
    # The smallest effect of interest changes nothing here, and must not cause another fit.
    found = _model(chosen._replace(bound=SMALLEST_EFFECT))
    comparison = compared(chosen).comparison
    ratios = across_ratios(chosen)
    if not comparison.empty:
        st.header(ANSWERS_TITLE, anchor="answers")
        answers = MethodAnswers(
            comparison, ratios, found, *curve_and_errors(chosen)
        )
        st.html(rows_html(readable_answers(answers)))
        draw_method(literal(ABOUT_ANSWERS))
    st.header(TITLE, anchor="one-model")
    st.markdown(finding(found))
    if found.why_not:
        return
    st.html(rows_html(readable_gains(found)))
    st.html(rows_html(readable_ratios(found, ratios)))
    draw_method(literal(ABOUT))


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


def readable_answers(found: MethodAnswers) -> pd.DataFrame:
    """A row per detector that was compared, every cell a text; a method without a number says so with a dash."""
    gains = found.model.gains
    of_model = _by_title(gains[gains["by"] == "detector_title"], "name")
    of_gee = _by_title(found.ratios, "detector_title")
    return pd.DataFrame(
        {
            "Detector": row["detector_title"],
            "Difference": words.points(row["difference"]),
            "95% by case": words.points_interval(row["low"], row["high"]),
            "Tests": _tested(row),
            "Smaller": f"p {words.p_value(row['p_smaller'])}",
            "GEE": _ratio(of_gee.get(row["detector_title"])),
            "One model": _gain(of_model.get(row["detector_title"]), "value"),
            "Judge corrected": _by_judges(found.errors, row["detector_title"]),
            "Readings": _readings(found.curve, row["detector_title"]),
        }
        for row in as_rows(found.comparison)
    )


def _by_title(table: pd.DataFrame, name: str) -> dict[str, dict[str, Any]]:
    """The first row of each title."""
    if table.empty:
        return {}
    return {row[name]: row for row in reversed(as_rows(table))}


def _tested(row: Mapping[str, Any]) -> str:
    known = [row[name] for name in ("p_holm", "p_by_case_holm")]
    tested = [p for p in known if p is not None]
    if not tested:
        return str(row["outcome"])
    return f"{row['outcome']}, p {words.p_value(max(tested))}"


def _ratio(row: Mapping[str, Any] | None) -> str:
    if row is None or row["odds_ratio"] is None:
        return words.NOTHING
    where = words.coefficient_interval(row["low"], row["high"])
    return f"{words.coefficient(row['odds_ratio'])} ({where})"


def _gain(row: Mapping[str, Any] | None, name: str) -> str:
    if row is None or row[name] is None or row["low"] is None:
        return words.NOTHING
    return f"{words.points(row[name])} ({words.points_interval(row['low'], row['high'])})"


def _by_judges(errors: pd.DataFrame, title: str) -> str:
    """The corrected gain by each judge, named; a judge whose errors leave no interval has a dash."""
    if errors.empty:
        return words.NOTHING
    mine = as_rows(errors[errors["detector_title"] == title])
    said = [f"{row['judge']}: {_gain(row, 'difference')}" for row in mine]
    return "; ".join(said) or words.NOTHING


def _readings(curve: pd.DataFrame, title: str) -> str:
    if curve.empty:
        return words.NOTHING
    mine = curve.loc[curve["detector_title"] == title, "conclusion"]
    if mine.empty:
        return words.NOTHING
    n_gains, n_losses = (
        int((mine == str(one)).sum()) for one in (Outcome.GAIN, Outcome.LOSS)
    )
    return f"{words.count(n_gains)} gain, {words.count(n_losses)} loss of {words.count(len(mine))}"
