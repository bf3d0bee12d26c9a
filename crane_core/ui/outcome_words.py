"""What a sentence says of comparisons: how many are gains and how many losses, never one of both alone. Knows no page.

`stats.outcome` decides which outcome a comparison has; nothing here looks at a p-value or an interval.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from crane_core.rounding import digits
from crane_core.stats.outcome import Outcome
from crane_core.ui.words import count

MOST_NAMED = 4
"""Gains, and losses, that a sentence names; the others are counted."""
ALL = {1: "one", 2: "both", 3: "all three", 4: "all four"}
GAINS_AND_LOSSES = (Outcome.GAIN, Outcome.LOSS)
"""Outcomes that a count states even where it is 0."""
_ONE = {
    Outcome.GAIN: "is a gain",
    Outcome.LOSS: "is a loss",
    Outcome.NO_EVIDENCE: "is without evidence",
    Outcome.SMALLER: "is smaller than the bound",
    Outcome.NOT_TESTED: "is not tested",
    Outcome.NOTHING: "has nothing to compare",
}
_SEVERAL = {
    Outcome.GAIN: "are gains",
    Outcome.LOSS: "are losses",
    Outcome.NO_EVIDENCE: "are without evidence",
    Outcome.SMALLER: "are smaller than the bound",
    Outcome.NOT_TESTED: "are not tested",
    Outcome.NOTHING: "have nothing to compare",
}
_OTHERS = {
    Outcome.NO_EVIDENCE: "without evidence",
    Outcome.SMALLER: "smaller than the bound",
    Outcome.NOT_TESTED: "not tested",
    Outcome.NOTHING: "with nothing to compare",
}


def outcome_words(outcome: str, bound: float | None = None) -> str:
    """One outcome: "gain", "no evidence", "smaller than 5 points"; bound is a share."""
    if outcome == Outcome.SMALLER and bound is not None:
        return (
            f"smaller than {digits(100 * bound, 1).removesuffix('.0')} points"
        )
    return str(outcome)


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
    first = f"{_number(n_gains)} of {count(n_of.total())} {noun}s {'gain' if n_gains > 1 else 'gains'}"
    second = f"{_number(n_losses)} {'lose' if n_losses > 1 else 'loses'}"
    others = [
        f"{count(n_of[name])} {words}"
        for name, words in _OTHERS.items()
        if n_of[name]
    ]
    return ", ".join([first, second, *others])


def tally(outcomes: Iterable[str]) -> str:
    """Of several comparisons: "none is a gain, 2 are losses and 1 is without evidence"."""
    n_of = _counted(outcomes)
    told = [name for name in Outcome if n_of[name] or name in GAINS_AND_LOSSES]
    *parts, last = [
        f"{_number(n_of[name])} {(_SEVERAL if n_of[name] > 1 else _ONE)[name]}"
        for name in told
    ]
    return f"{', '.join(parts)} and {last}"


def of_comparisons(outcomes: Sequence[str], about: str = "") -> str:
    """The subject too: "of 3 comparisons, none is a gain, ..."; of a single one only what it is."""
    if not outcomes:
        return f"there is {Outcome.NOTHING}"
    if len(outcomes) == 1:
        return f"the one comparison{about} {_ONE[Outcome(outcomes[0])]}"
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


def _counted(outcomes: Iterable[str]) -> Counter[Outcome]:
    return Counter(Outcome(name) for name in outcomes)


def _number(n: int) -> str:
    return count(n) if n else "none"
