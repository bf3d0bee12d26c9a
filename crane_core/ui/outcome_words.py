"""What a sentence says of comparisons: how many are gains and how many losses, never one of both alone. Knows no page.

`stats.outcome` decides which outcome a comparison has; nothing here looks at a p-value or an interval.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from crane_core.stats.outcome import Outcome, outcome_text
from crane_core.ui.words import (
    count,
    p_value,
    p_words,
    points,
    points_interval,
    quantity,
    whole,
)

MOST_NAMED = 4
"""Gains, and losses, that a sentence names; the others are counted."""
ALL = {1: "one", 2: "both", 3: "all three", 4: "all four"}
GAINS_AND_LOSSES = (Outcome.GAIN, Outcome.LOSS)
"""Outcomes that a count states even where it is 0."""
_ONE = {
    Outcome.GAIN: "is a gain",
    Outcome.LOSS: "is a loss",
    Outcome.NO_EVIDENCE: "is without evidence",
    Outcome.NOT_TESTED: "is not tested",
    Outcome.NOTHING: "has nothing to compare",
}
_SEVERAL = {
    Outcome.GAIN: "are gains",
    Outcome.LOSS: "are losses",
    Outcome.NO_EVIDENCE: "are without evidence",
    Outcome.NOT_TESTED: "are not tested",
    Outcome.NOTHING: "have nothing to compare",
}
_OTHERS = {
    Outcome.NO_EVIDENCE: "without evidence",
    Outcome.NOT_TESTED: "not tested",
    Outcome.NOTHING: "with nothing to compare",
}


def all_of(n: int, noun: str) -> str:
    """Every one of n: "one model", "both models", "all five analyzers"."""
    return f"{ALL.get(n, f'all {count(n)}')} {noun if n == 1 else f'{noun}s'}"


def any_of(n: int, noun: str) -> str:
    """The same after a negation: "one model", "either model", "any of 3 models"."""
    return {1: f"one {noun}", 2: f"either {noun}"}.get(
        n, f"any of {count(n)} {noun}s"
    )


def who_gains(outcomes: Iterable[str], noun: str) -> str:
    """Of several detectors: "2 of 3 models gain, none loses, 1 without evidence"."""
    n_of = _counted(outcomes)
    n_gains, n_losses = n_of[Outcome.GAIN], n_of[Outcome.LOSS]
    first = f"{_number(n_gains)} of {quantity(n_of.total(), noun)} {'gain' if n_gains > 1 else 'gains'}"
    second = f"{_number(n_losses)} {'lose' if n_losses > 1 else 'loses'}"
    others = [
        f"{count(n_of[name])} {_OTHERS.get(Outcome(name), name)}"
        for name in _in_order(n_of)
        if name not in GAINS_AND_LOSSES
    ]
    return ", ".join([first, second, *others])


def tally(outcomes: Iterable[str]) -> str:
    """Of several comparisons: "none is a gain, 2 are losses and 1 is without evidence"."""
    n_of = _counted(outcomes)
    told = _in_order({*n_of, *map(str, GAINS_AND_LOSSES)})
    *parts, last = [
        f"{_number(n_of[name])} {_are(name, n_of[name])}" for name in told
    ]
    return f"{', '.join(parts)} and {last}"


def of_comparisons(outcomes: Sequence[str], about: str = "") -> str:
    """The subject too: "of 3 comparisons, none is a gain, ..."; of a single one only what it is."""
    if not outcomes:
        return f"there is {Outcome.NOTHING}"
    if len(outcomes) == 1:
        return f"the one comparison{about} {_are(outcomes[0], 1)}"
    return f"of {count(len(outcomes))} comparisons{about}, {tally(outcomes)}"


def named(
    rows: Sequence[Mapping[str, Any]], name: Callable[[Mapping[str, Any]], str]
) -> str:
    """The gains and then the losses by name, the largest first; empty if there are none.

    rows: with difference and outcome. Each direction is cut by itself, so that neither hides behind the other.
    """
    parts = []
    for outcome, title in ((Outcome.GAIN, "Gains"), (Outcome.LOSS, "Losses")):
        of = sorted(
            (row for row in rows if row["outcome"] == outcome),
            key=lambda row: -abs(row["difference"]),
        )
        if of:
            n_more = len(of) - MOST_NAMED
            more = f" and {count(n_more)} more" if n_more > 0 else ""
            parts.append(
                f"{title}: {', '.join(map(name, of[:MOST_NAMED]))}{more}."
            )
    return " ".join(parts)


def _counted(outcomes: Iterable[str]) -> Counter[str]:
    """By their text, which names the bound of a difference that is smaller."""
    return Counter(map(str, outcomes))


def _in_order(outcomes: Iterable[str]) -> list[str]:
    places = list(Outcome)
    return sorted(outcomes, key=lambda name: places.index(Outcome(name)))


def _are(name: str, n: int) -> str:
    """What n comparisons of an outcome are: "are gains", "is smaller than 5 points"."""
    words, verb = (_SEVERAL, "are") if n > 1 else (_ONE, "is")
    return words.get(Outcome(name), f"{verb} {name}")


def _number(n: int) -> str:
    return count(n) if n else "none"


def smaller_sentence(table: pd.DataFrame) -> str:
    """Which tests decide that a difference is smaller than the bound, and how near the nearest comparison comes to it.

    table: of `pipeline.results.outcomes.under_bound`; empty where it has no such test.
    """
    if table.empty or table["p_smaller"].isna().all():
        return ""
    name = outcome_text(Outcome.SMALLER, float(table["bound"].iloc[0]))
    smallest = p_words(float(table["p_smaller"].min()))
    return (
        f"{name.capitalize()}: what two one-sided tests by case find at the 5% level, adjusted as p is (smallest p "
        f"{smallest}). No evidence: neither a change nor that it is smaller is shown."
    )


def comparison_cells(
    row: Mapping[str, Any],
    *,
    change: str = "Difference",
    gained: str = "Gained",
    lost: str = "Lost",
    policy: str = "Holm",
) -> dict[str, Any]:
    """The cells of a comparison in a table to read: the change, who is right alone, both tests, the outcome.

    change, gained, lost: headings. policy: Holm or BH, by which the row has its adjusted p.
    """
    adjusted = policy.lower()
    return {
        change: points(row["difference"]),
        "95% interval": points_interval(row["low"], row["high"]),
        gained: whole(row["gained"]),
        lost: whole(row["lost"]),
        f"p ({policy})": p_value(row[f"p_{adjusted}"]),
        f"p by case ({policy})": p_value(row[f"p_by_case_{adjusted}"]),
        "Outcome": row["outcome"],
    }
