"""Whether the conclusion depends on the choices, in words and as the chart takes it. Knows no page."""

from collections.abc import Container, Mapping
from html import escape
from typing import Any

import pandas as pd

from crane_core.pipeline.results import specification_curve
from crane_core.pipeline.results.measures import Credit, VoteRule
from crane_core.pipeline.rows import as_rows
from crane_core.stats.outcome import DIRECTED, Outcome
from crane_core.ui.outcome_words import GAINS_AND_LOSSES
from crane_core.ui.words import (
    count,
    labelled_by,
    listed,
    p_words,
    points,
    points_interval,
    quantity,
    sentence_case,
)

READING = ["rule", "credit", "judged_by"]
FOUND = {
    Outcome.GAIN: "a gain",
    Outcome.LOSS: "a loss",
    Outcome.NO_EVIDENCE: "no evidence",
}
"""What tests find; a change that is smaller than a bound is added under the text that names it."""
CHOICE_WORDS = {
    "rule": "the vote rule",
    "credit": "the credit",
    "judged_by": "who judged",
    "test": "the test",
}
ABOUT = (
    "Each column is one reading of the same answers: how answers become a prediction, what a diagnosis is worth, and "
    "who judged it. Filled: every test of that detector in that reading finds a change (sign flips by case, and where "
    "an instance is right or wrong exact McNemar as a second one; 5% level after Holm over the detectors). Lines: 95% "
    "intervals by case. From the smallest mean difference at the left to the largest; shaded: the reading chosen above."
)


def finding(curve: pd.DataFrame) -> str:
    """How often the conclusion changes, and the choice that it depends on most."""
    most = specification_curve.decisive(curve)
    if most is None:
        hangs = "It depends on none of the choices."
    else:
        verb = "finds" if most.most.n_found == 1 else "find"
        hangs = (
            f"It depends most on {CHOICE_WORDS[most.choice]}: with “{labelled_by(most.most.name)}” "
            f"{count(most.most.n_found)} of {count(most.most.n)} {verb} {FOUND[most.outcome]}, with "
            f"“{labelled_by(most.least.name)}” {count(most.least.n_found)} of {count(most.least.n)}."
        )
    n_readings = len(curve[READING].drop_duplicates())
    readings = quantity(n_readings, "reading")
    is_twice = curve.duplicated(["detector_title", *READING]).any()
    each = "one or two" if is_twice else "one"
    return (
        f"**Of {quantity(len(curve), 'test')} ({each} of each detector in {readings} of these answers), "
        f"{_found(curve)}.** {hangs}"
    )


def joint_finding(joint: specification_curve.JointCurve) -> str:
    """Whether chance alone makes such a curve, and the largest gain with an interval that knows it was picked."""
    rows = f"{count(len(joint.table))} differences, one of each detector and reading, over {count(joint.n_cases)} cases"
    said = (
        f"All readings together: the median difference is {points(joint.median)}, p {p_words(joint.p_value)} "
        f"({rows}; if both inputs were alike, the answers of a case could as well change places, in all readings at "
        "once)."
    )
    largest = joint.largest()
    if largest is None:
        return said
    where = points_interval(largest["joint_low"], largest["joint_high"])
    return (
        f"{said} The largest gain is {points(largest['difference'])} ({largest['detector_title']}; {words(largest)}): "
        f"{where} in an interval that holds for all of them together."
    )


def title(curve: pd.DataFrame, judges: Container[str]) -> str:
    """The answer in a sentence: who judged, where that decides most, else how many tests find a change.

    judges: names of annotators that are models.
    """
    found = _who_decides(curve, judges)
    if found is None:
        n_of = curve["conclusion"].value_counts().to_dict()
        losses = n_of.get(str(Outcome.LOSS), 0)
        more = f", {count(losses)} a loss" * bool(losses)
        n_gains = count(n_of.get(str(Outcome.GAIN), 0))
        return f"{n_gains} of {quantity(len(curve), 'test')} find a gain{more}"
    most, whose = found
    one, other = most.most, most.least
    verb = "finds" if one.n_found == 1 else "find"
    return (
        f"Who judged decides: {count(one.n_found)} of {count(one.n)} tests {verb} {FOUND[most.outcome]} with "
        f"{whose[0]}, {count(other.n_found)} of {count(other.n)} with {whose[1].removesuffix(' labels')}"
    )


def judge_caveat(curve: pd.DataFrame, judges: Container[str]) -> str | None:
    """Whether who judged decides how often a gain is found; None where it is not the choice that decides most.

    judges: names of annotators that are models.
    """
    found = _who_decides(curve, judges)
    if found is None:
        return None
    most, whose = found
    n_found, n_least = (
        f"{count(option.n_found)} of {count(option.n)}"
        for option in (most.most, most.least)
    )
    detectors = quantity(curve["detector_title"].nunique(), "detector")
    return (
        f"Who judged decides the conclusion: with {whose[0]}, {n_found} tests find {FOUND[most.outcome]}; with "
        f"{whose[1]}, {n_least}. All tests read the same answers of {detectors}; they differ in the vote "
        "rule, the credit for a diagnosis and the kind of test."
    )


def _who_decides(
    curve: pd.DataFrame, judges: Container[str]
) -> tuple[specification_curve.Decisive, list[str]] | None:
    """The two labels between which the conclusion differs most, in words; None where another choice decides more."""
    most = specification_curve.decisive(curve)
    if most is None or most.choice != "judged_by":
        return None
    options = most.most, most.least
    is_model = [option.name in judges for option in options]
    if is_model[0] == is_model[1]:
        return most, [f"the labels “{option.name}”" for option in options]
    # The ids of the two say nothing to a reader of the first page.
    return most, [
        "the model judge's labels" if is_judge else "a person's labels"
        for is_judge in is_model
    ]


def _found(curve: pd.DataFrame) -> str:
    """Gains, losses and the rest, each counted: "2 find a gain, none finds a loss and 1 finds no evidence"."""
    n_of = curve["conclusion"].value_counts().to_dict()
    nouns = _nouns(curve)
    told = [name for name in nouns if name in n_of or name in GAINS_AND_LOSSES]
    said = [f"{_finds(n_of.get(str(name), 0))} {nouns[name]}" for name in told]
    return listed(said)


def _nouns(curve: pd.DataFrame) -> dict[str, str]:
    """FOUND, and what the curve's bound makes of a difference that is smaller, if a test says so."""
    told = curve["conclusion"].unique()
    small = [text for text in told if Outcome(text) is Outcome.SMALLER]
    return {str(name): noun for name, noun in FOUND.items()} | {
        text: f"a change {text}" for text in small
    }


def _finds(n: int) -> str:
    if n == 0:
        return "none finds"
    return "1 finds" if n == 1 else f"{count(n)} find"


def line(curve: pd.DataFrame) -> str:
    """How often a detector gains and loses, and between which differences; `curve` is of that detector."""
    least, most = (
        points(curve["difference"].min()),
        points(curve["difference"].max()),
    )
    between = (
        f"differences of {least.removesuffix(' pp')} to {most}"
        if least != most
        else f"a difference of {least}"
    )
    return f"{curve['detector_title'].iloc[0]}: of {quantity(len(curve), 'test')}, {_found(curve)}; {between}"


def by_reading(curve: pd.DataFrame) -> pd.DataFrame:
    """A row per detector and reading, as the chart takes it; readings in the order of their mean difference."""
    by = ["detector_title", *READING]
    tests_of: dict[tuple[object, ...], list[dict[str, Any]]] = {}
    for row in as_rows(curve):
        tests_of.setdefault(tuple(row[name] for name in by), []).append(row)
    rows = [
        {name: tests[0][name] for name in [*by, "difference", "low", "high"]}
        | {
            "reading": words(tests[0]),
            "is_found": all(row["conclusion"] in DIRECTED for row in tests),
            "found": "; ".join(
                f"{row['test']}: p {p_words(row['p_value'])}" for row in tests
            ),
        }
        for tests in tests_of.values()
    ]
    if not rows:
        return pd.DataFrame()
    table = pd.DataFrame(rows)
    mean = table.groupby("reading")["difference"].transform("mean")
    return table.assign(place=mean.rank(method="dense").astype(int))


def words(reading: Mapping[str, Any]) -> str:
    """A reading in words: "majority, correct diagnosis, judged by “published human”"."""
    judged = (
        ""
        if reading["judged_by"] == specification_curve.NOBODY
        else f", judged by “{labelled_by(reading['judged_by'])}”"
    )
    return f"{reading['rule']}, {reading['credit']}{judged}"


def choices_of(readings: pd.DataFrame) -> pd.DataFrame:
    """A row per reading and choice; rules first, then credits, then who judged where there is a choice."""
    place = {
        str(name): place for place, name in enumerate([*VoteRule, *Credit])
    }
    once = readings.drop_duplicates("reading").sort_values(
        ["rule", "credit"], key=lambda names: names.map(place), kind="stable"
    )
    who = ["judged_by"] if once["judged_by"].nunique() > 2 else []
    parts = [
        once.assign(choice=once[of].map(labelled_by), of=of)
        for of in ["rule", "credit", *who]
    ]
    return pd.concat(parts).loc[
        lambda named: named["choice"] != specification_curve.NOBODY,
        ["place", "of", "choice", "reading"],
    ]


def choices_html(curve: pd.DataFrame) -> str:
    """How many tests of each choice find what, for windows in which the chart has no room."""
    nouns = _nouns(curve)
    heads = [
        sentence_case(found.removeprefix("a ")) for found in nouns.values()
    ]
    top = "".join(f'<th scope="col">{head}</th>' for head in ["Choice", *heads])
    groups = []
    for column in READING:
        named = sentence_case(CHOICE_WORDS[column].removeprefix("the "))
        rows = [
            f'<tr><th scope="rowgroup" colspan="{len(heads) + 1}">{named}</th></tr>'
        ]
        for name, of in curve.groupby(column, sort=False):
            if name == specification_curve.NOBODY:
                continue
            n_of = of["conclusion"].value_counts().to_dict()
            cells = "".join(
                f"<td>{count(n_of.get(found, 0))}</td>" for found in nouns
            )
            rows.append(
                f'<tr><th scope="row">{escape(labelled_by(str(name)))}</th>{cells}</tr>'
            )
        groups.append("".join(rows) * (len(rows) > 1))
    return (
        '<table class="cw-numbers cw-narrow"><caption class="cw-dim">Tests that find a gain, a loss or no evidence '
        "with each choice. A wider window shows every reading as a chart.</caption>"
        f"<thead><tr>{top}</tr></thead><tbody>{''.join(groups)}</tbody></table>"
    )
