"""What may be said of a comparison: one decision for every sentence. Knows a difference and its tests, not its words.

A gain or a loss needs the adjusted p of every test that was planned for the comparison. That a difference is small
needs a bound that was named and its own test (`equivalence`): a large p of the difference shows nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from enum import StrEnum

from crane_core.stats.power import ALPHA

_SMALLER = "smaller than "


class Outcome(StrEnum):
    """The six outcomes of a comparison. `outcome_text` names the bound of SMALLER, and Outcome reads that text back."""

    GAIN = "gain"
    LOSS = "loss"
    NO_EVIDENCE = "no evidence"
    SMALLER = _SMALLER + "the bound"
    NOT_TESTED = "not tested"
    NOTHING = "nothing to compare"

    @classmethod
    def _missing_(cls, value: object) -> Outcome | None:
        is_smaller = isinstance(value, str) and value.startswith(_SMALLER)
        return cls.SMALLER if is_smaller else None


DIRECTED = (Outcome.GAIN, Outcome.LOSS)
"""Outcomes by which the two rates differ."""


def outcome(
    difference: float | None,
    p_adjusted: Iterable[float | None],
    *,
    p_smaller: float | None = None,
) -> Outcome:
    """The outcome of a comparison at the 5% level.

    difference: of the rates, the other minus the base; None or nan where nothing can be compared. p_adjusted: of each
    planned test of this comparison, adjusted over its family; None or nan for a test that was not made. The largest of
    them decides, so no outcome claims more than one of its tests. p_smaller: of the two one-sided tests of a bound
    (`equivalence.smaller_p`), adjusted over the same family; a difference that is shown is never called small.
    """
    if difference is None or math.isnan(difference):
        return Outcome.NOTHING
    made = [p for p in p_adjusted if p is not None and not math.isnan(p)]
    is_shown = bool(made) and max(made) < ALPHA
    if is_shown and difference != 0:
        return Outcome.GAIN if difference > 0 else Outcome.LOSS
    if p_smaller is not None and p_smaller < ALPHA:
        return Outcome.SMALLER
    return Outcome.NO_EVIDENCE if made else Outcome.NOT_TESTED


def outcome_text(found: Outcome, bound: float) -> str:
    """An outcome as tables and exports hold it: "gain", "smaller than 5 points"; bound is a share."""
    if found is not Outcome.SMALLER:
        return str(found)
    points = f"{100 * bound:.4g}"
    return f"{_SMALLER}{points} point{'' if points == '1' else 's'}"
