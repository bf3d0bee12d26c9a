"""One question, several methods: does the other input help a detector? A row per method, a column per detector."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from crane_core.pipeline.results.model_across import ModelOfAll
from crane_core.pipeline.rows import as_rows
from crane_core.stats.outcome import Outcome
from crane_core.stats.power import ALPHA
from crane_core.ui import words
from crane_core.ui.glossary import meant
from crane_core.ui.outcome_words import MOST_NAMED, all_of

TITLE = "Does every method give the same answer?"
ABOUT_METHOD = {
    "Difference": "Observed, with its 95% interval by case.",
    "Tests": "The outcome of the comparison, with the largest adjusted p.",
    "Equivalence": "Two one-sided tests that the difference is smaller than the smallest effect of interest.",
    "Odds ratio": "Of a right answer, by generalized estimating equations (GEE), 95% interval by case.",
    "One model": "The gain in a new case under one model of all answers.",
    "Corrected labels": "By majority and a correct diagnosis, the gain by a judge's labels with its errors taken out.",
    "Readings": "Tests of the specification curve (Robustness) that find a gain, and a loss.",
}
"""What each row of the table means, by the word before its colon."""
ABOUT = " ".join(f"{name}: {what}" for name, what in ABOUT_METHOD.items()) + (
    " The methods ask one question in different ways: a conclusion that holds in all of them depends on none."
)
FADED = "color: var(--cw-dim)"
"""How a cell looks where a method finds no gain."""


class MethodAnswers(NamedTuple):
    """What each method finds: tables of `gain_table`, `model_across`, `model_of_all`, `curve_of` and `judge_error`."""

    comparison: pd.DataFrame
    ratios: pd.DataFrame
    model: ModelOfAll
    curve: pd.DataFrame
    errors: pd.DataFrame


def answers_of(found: MethodAnswers) -> pd.DataFrame:
    """A row per detector and method: detector, method, text, look; a method without a number has a dash."""
    rows = []
    gains = found.model.gains
    of_model = _by_title(gains[gains["by"] == "detector_title"], "name")
    of_gee = _by_title(found.ratios, "detector_title")
    for row in as_rows(found.comparison):
        name = row["detector_title"]
        told = {
            "Difference: 95% by case": _gain(row, "difference"),
            "Tests: outcome and larger p": (
                _tested(row),
                row["outcome"] == Outcome.GAIN,
            ),
            f"Equivalence: a difference below {100 * row['bound']:g} points": (
                _small(row["p_smaller"]),
                None,
            ),
            "Odds ratio: GEE": _ratio(of_gee.get(name)),
            "One model: gain in a new case": _gain(of_model.get(name), "value"),
            **_by_judges(found.errors, name),
            "Readings: tests that find a change": _readings(found.curve, name),
        }
        rows += [
            (name, method, text, FADED * (finds_gain is False))
            for method, (text, finds_gain) in told.items()
        ]
    return pd.DataFrame(rows, columns=["detector", "method", "text", "look"])


def beside(answers: pd.DataFrame, column: str) -> pd.DataFrame:
    """This column of `answers_of` with a row per method and a column per detector."""
    wide = answers.pivot(index="method", columns="detector", values=column)
    ordered = wide.loc[answers["method"].unique(), answers["detector"].unique()]
    return ordered.reset_index(names="Method").fillna(words.NOTHING)


def title(answers: pd.DataFrame, noun: str) -> str | None:
    """Whether the methods agree, in a sentence; None where nothing is compared. noun: what a detector is called."""
    if answers.empty:
        return None
    every = answers["detector"].unique()
    doubted = set(answers.loc[answers["look"] == FADED, "detector"])
    if not doubted:
        return f"Every method finds a gain for {all_of(len(every), noun)}"
    sure = [name for name in every if name not in doubted]
    if not sure:
        return f"No {noun} has a gain by every method"
    others = words.quantity(len(doubted), noun).removeprefix("1 ")
    verb = "gains" if len(sure) == 1 else "gain"
    return f"{_named(sure, noun)} {verb} by every method, the other {others} not by all"


def finding(answers: pd.DataFrame, noun: str) -> str:
    """Which methods find no gain, and for whom, in Markdown."""
    without = answers[answers["look"] == FADED]
    if without.empty:
        return f"**{title(answers, noun)}.**"
    kinds = without["method"].str.partition(":")[0].str.lower()
    said = "; ".join(
        f"by {kind}, for {words.literal(_named(list(of.unique()), noun))}"
        for kind, of in without["detector"].groupby(kinds, sort=False)
    )
    return (
        f"**No evidence of a gain {said}.** Faded: the interval holds no difference, the test finds no gain, or fewer "
        "than half of the tests do."
    )


def _named(names: Sequence[str], noun: str) -> str:
    few = len(names) <= MOST_NAMED
    return words.listed(names) if few else words.quantity(len(names), noun)


def _by_title(table: pd.DataFrame, name: str) -> dict[str, dict[str, Any]]:
    """The first row of each title."""
    if table.empty:
        return {}
    return {row[name]: row for row in reversed(as_rows(table))}


def with_meanings(methods: Iterable[str]) -> list[str]:
    """The names of methods as HTML that says on hover and focus what each means."""
    return [
        meant(name, ABOUT_METHOD[name.partition(":")[0]]) for name in methods
    ]


def _small(p: float | None) -> str:
    if p is None:
        return words.NOTHING
    return f"{'shown' if p < ALPHA else 'not shown'}, p {words.p_value(p)}"


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
        f"Corrected labels: {words.labelled_by(row['judge'])}": _gain(
            row, "difference"
        )
        for row in mine
    }


def _readings(curve: pd.DataFrame, title: str) -> tuple[str, bool | None]:
    if curve.empty:
        return words.NOTHING, None
    mine = curve.loc[curve["detector_title"] == title, "conclusion"]
    if mine.empty:
        return words.NOTHING, None
    n_gains, n_losses = (
        int((mine == str(one)).sum()) for one in (Outcome.GAIN, Outcome.LOSS)
    )
    said = f"{words.count(n_gains)} gain, {words.count(n_losses)} loss of {words.count(len(mine))}"
    return said, 2 * n_gains >= len(mine)
