"""One question, several methods: does the other input help a detector? A row per method, a column per detector."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import pandas as pd

from crane_core.pipeline.results.one_model import ModelOfAll
from crane_core.pipeline.rows import as_rows
from crane_core.stats.outcome import Outcome
from crane_core.ui import words
from crane_core.ui.outcome_words import all_of

TITLE = "Does every method give the same answer?"
ABOUT = (
    "Difference: 95% interval by case. Tests: the outcome of the comparison, with the largest adjusted p. Smaller: two "
    "one-sided tests that the difference is smaller than the smallest effect of interest. GEE: odds ratio, 95% by "
    "case. One model: the gain in a new case. Corrected labels: by majority and a correct diagnosis, the gain by a "
    "judge's labels with its errors taken out. Readings: tests of the specification curve that find a gain, and a "
    "loss. The methods ask one question in different ways: a conclusion that holds in all of them depends on none."
)
MOST_NAMED = 3
"""Detectors that a sentence names; more are counted."""


class MethodAnswers(NamedTuple):
    """What each method finds: tables of `gain_table`, `model_across`, `model_of_all`, `curve_of` and `judge_error`."""

    comparison: pd.DataFrame
    ratios: pd.DataFrame
    model: ModelOfAll
    curve: pd.DataFrame
    errors: pd.DataFrame


class Answer(NamedTuple):
    """What a method finds for a detector; finds_gain is None where the method asks something else."""

    detector: str
    method: str
    text: str
    finds_gain: bool | None = None


def title(found: MethodAnswers, noun: str) -> str | None:
    """Whether the methods agree, in a sentence; None where nothing is compared. noun: what a detector is called."""
    doubted = dict.fromkeys(found.comparison["detector_title"], False)
    for answer in _answers(found):
        doubted[answer.detector] |= answer.finds_gain is False
    sure = [name for name, is_doubted in doubted.items() if not is_doubted]
    n_others = len(doubted) - len(sure)
    if not doubted:
        return None
    if not n_others:
        return f"Every method finds a gain for {all_of(len(sure), noun)}"
    if not sure:
        return f"No {noun} has a gain by every method"
    others = words.quantity(n_others, noun).removeprefix("1 ")
    return f"Every method finds a gain for {_named(sure, noun)}, some find none for the other {others}"


def finding(found: MethodAnswers, noun: str) -> str:
    """Which methods find no gain, and for whom, in Markdown."""
    without: dict[str, dict[str, None]] = {}
    for answer in _answers(found):
        if answer.finds_gain is False:
            kind = answer.method.partition(":")[0]
            kind = kind if kind.isupper() else kind.lower()
            without.setdefault(kind, {})[answer.detector] = None
    if not without:
        return f"**{title(found, noun)}.**"
    said = "; ".join(
        f"by {kind}, for {words.literal(_named(list(of), noun))}"
        for kind, of in without.items()
    )
    return f"**No evidence of a gain {said}.** Faded: the interval holds no difference, or the test finds no gain."


def _named(names: list[str], noun: str) -> str:
    few = len(names) <= MOST_NAMED
    return words.listed(names) if few else words.quantity(len(names), noun)


def readable_answers(found: MethodAnswers) -> pd.DataFrame:
    """A row per method, a column per detector, every cell a text; a method without a number says so with a dash."""
    return _beside(
        found, {answer: answer.text for answer in _answers(found)}
    ).reset_index(names="Method")


def answer_looks(found: MethodAnswers) -> dict[str, list[str]]:
    """The style of the cells of `readable_answers`: faded where a method finds no gain."""
    styles = {
        answer: "color: var(--cw-dim)" * (answer.finds_gain is False)
        for answer in _answers(found)
    }
    return {
        str(title): column.tolist()
        for title, column in _beside(found, styles).items()
    }


def _beside(found: MethodAnswers, cells: Mapping[Answer, str]) -> pd.DataFrame:
    columns: dict[str, dict[str, str]] = {
        title: {} for title in found.comparison["detector_title"]
    }
    for answer, cell in cells.items():
        columns[answer.detector][answer.method] = cell
    return pd.DataFrame(columns).fillna(words.NOTHING)


def _answers(found: MethodAnswers) -> Iterator[Answer]:
    gains = found.model.gains
    of_model = _by_title(gains[gains["by"] == "detector_title"], "name")
    of_gee = _by_title(found.ratios, "detector_title")
    for row in as_rows(found.comparison):
        name = row["detector_title"]
        asked = {
            "Difference: 95% by case": _gain(row, "difference"),
            "Tests: outcome and larger p": (
                _tested(row),
                row["outcome"] == Outcome.GAIN,
            ),
            f"Smaller than {100 * row['bound']:g} points": (
                f"p {words.p_value(row['p_smaller'])}",
                None,
            ),
            "GEE: odds ratio": _ratio(of_gee.get(name)),
            "One model: gain in a new case": _gain(of_model.get(name), "value"),
            **_by_judges(found.errors, name),
            "Readings: tests that find a change": (
                _readings(found.curve, name),
                None,
            ),
        }
        for method, (text, finds_gain) in asked.items():
            yield Answer(name, method, text, finds_gain)


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


def _ratio(row: Mapping[str, Any] | None) -> tuple[str, bool | None]:
    if row is None or row["odds_ratio"] is None:
        return words.NOTHING, None
    where = words.coefficient_interval(row["low"], row["high"])
    return f"{words.coefficient(row['odds_ratio'])} ({where})", row["low"] > 1


def _gain(row: Mapping[str, Any] | None, name: str) -> tuple[str, bool | None]:
    if row is None or row[name] is None or row["low"] is None:
        return words.NOTHING, None
    where = words.points_interval(row["low"], row["high"])
    return f"{words.points(row[name])} ({where})", row["low"] > 0


def _by_judges(
    errors: pd.DataFrame, title: str
) -> dict[str, tuple[str, bool | None]]:
    """The corrected gain by each judge, named; a judge whose errors leave no interval has a dash."""
    if errors.empty:
        return {}
    mine = as_rows(errors[errors["detector_title"] == title])
    return {
        f"Corrected labels: {row['judge']}": _gain(row, "difference")
        for row in mine
    }


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
