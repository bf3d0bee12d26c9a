"""What may be said of a comparison: one decision for every sentence. Knows a difference and its tests, not its words.

A gain or a loss needs the adjusted p of every test that was planned for the comparison. That a difference is small
needs a bound that was named and an interval within it (two one-sided tests, Schuirmann 1987): a large p shows nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

from crane_core.stats.power import ALPHA


class Outcome(StrEnum):
    """The six outcomes of a comparison; the words of SMALLER are completed by its bound."""

    GAIN = "gain"
    LOSS = "loss"
    NO_EVIDENCE = "no evidence"
    SMALLER = "smaller than the bound"
    NOT_TESTED = "not tested"
    NOTHING = "nothing to compare"


DIRECTED = (Outcome.GAIN, Outcome.LOSS)
"""Outcomes by which the two rates differ."""


class BoundTest(NamedTuple):
    """An equivalence bound, as a share above 0, and the interval of the difference that tests it.

    The interval has 90% for one comparison, so that each of the two one-sided tests has the level of 5%, and
    1 - 2 * 0.05 / m for one of m comparisons.
    """

    bound: float
    low: float
    high: float

    @property
    def is_within(self) -> bool:
        """Whether the difference is shown to be smaller than the bound; never for an interval that is nan."""
        if not self.bound > 0:
            raise ValueError(f"a bound must be above 0, not {self.bound}")
        return -self.bound < self.low and self.high < self.bound


def outcome(
    difference: float | None,
    p_adjusted: Iterable[float | None],
    *,
    bound: BoundTest | None = None,
) -> Outcome:
    """The outcome of a comparison at the 5% level.

    difference: of the rates, the other minus the base; None or nan where nothing can be compared. p_adjusted: of each
    planned test of this comparison, adjusted over its family; None or nan for a test that was not made. The largest of
    them decides, so no outcome claims more than one of its tests.
    """
    if difference is None or math.isnan(difference):
        return Outcome.NOTHING
    made = [p for p in p_adjusted if p is not None and not math.isnan(p)]
    is_shown = bool(made) and max(made) < ALPHA
    if is_shown and difference != 0:
        return Outcome.GAIN if difference > 0 else Outcome.LOSS
    if bound is not None and bound.is_within:
        return Outcome.SMALLER
    return Outcome.NO_EVIDENCE if made else Outcome.NOT_TESTED
