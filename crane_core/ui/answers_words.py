"""One question, several methods: does the other input help a detector? A row per detector, a column per method."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import pandas as pd

from crane_core.pipeline.results.one_model import ModelOfAll
from crane_core.pipeline.rows import as_rows
from crane_core.stats.outcome import Outcome
from crane_core.ui import words

TITLE = "Does every method give the same answer?"
ABOUT = (
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
