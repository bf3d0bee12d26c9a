"""A judge's rule chosen on some cases, and its error rates bounded on the others. Knows arrays of labels and cases.

What chooses a rule must not bound it: the best of many rules looks better than it is on the labels that chose it.
"""

from collections.abc import Sequence
from math import nan
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crane_core.stats import intervals
from crane_core.stats.arrays import Array, are_known, floats

TWO_SIDED = 0.90
"""The two-sided confidence whose lower limit is a one-sided 95% bound."""


class LabelRule(NamedTuple):
    """Correct where at least `needed` labels of a variant say so; `variant` is its place among those tried."""

    variant: int
    needed: int


class ErrorRates(NamedTuple):
    """How often the judge is right where the person says correct, and where not; `low` is a one-sided 95% bound."""

    sensitivity: intervals.RateEstimate
    specificity: intervals.RateEstimate

    @property
    def lowest(self) -> float:
        """The smaller bound; nan without an item of either kind. Both hold at 95% if this one is above a gate.

        No adjustment for two bounds: both have to pass (intersection-union test, Berger 1982).
        """
        return float(np.minimum(self.sensitivity.low, self.specificity.low))


def tuning_part(case: ArrayLike, *, seed: int) -> NDArray[np.bool_]:
    """Which items are for choosing: those of a random half of the cases, the smaller one. case: shape (n,)."""
    case_of = np.asarray(case).astype(str)
    names, place = np.unique(case_of, return_inverse=True)
    n = len(names)
    order = np.random.default_rng(seed).permutation(n)
    drawn = order[: n // 2]
    is_drawn = np.zeros(n, dtype=bool)
    is_drawn[drawn] = True
    return np.asarray(is_drawn[place], dtype=np.bool_)


def called_correct(votes: ArrayLike, needed: int) -> Array:
    """1 where at least `needed` labels say correct, else 0; nan where a label is missing.

    votes: shape (n, n_labels), 1 for correct, 0 for another label, nan for none.
    """
    counted = floats(votes).sum(axis=1)
    return np.where(np.isnan(counted), nan, counted >= needed)


def error_rates(
    called: ArrayLike, right: ArrayLike, case: ArrayLike
) -> ErrorRates:
    """Sensitivity and specificity over cases; see `intervals.clustered_rate`. Items that are nan do not count.

    called, right: shape (n,), 1 for correct by the judge and by the person, 0 for not. case: shape (n,).
    """
    judge = floats(called)
    person = floats(right)
    is_known = are_known(judge, person)
    rates = []
    for truth in (1, 0):
        is_counted = is_known & (person == truth)
        rate = intervals.clustered_rate(
            is_counted & (judge == truth),
            is_counted,
            case,
            confidence=TWO_SIDED,
        )
        rates.append(rate)
    return ErrorRates(*rates)


def best_rule(
    variants: Sequence[ArrayLike], right: ArrayLike, case: ArrayLike
) -> LabelRule | None:
    """The rule with the highest `ErrorRates.lowest`, among equals the first; None if none has both rates.

    variants: the votes of each, as for `called_correct`.
    """
    best = None
    highest = -1.0
    for variant, votes in enumerate(variants):
        _, n_labels = np.shape(votes)
        for needed in range(1, n_labels + 1):
            called = called_correct(votes, needed)
            lowest = error_rates(called, right, case).lowest
            # False for nan: a rule without one of the rates is never the best.
            if lowest > highest:
                best = LabelRule(variant, needed)
                highest = lowest
    return best


def self_preference(
    called: ArrayLike, right: ArrayLike, is_own: ArrayLike, case: ArrayLike
) -> intervals.RateEstimate:
    """How much more the judge favours its own model's answers than those of others, in -1..1, with its 95% interval.

        (judge - person over own answers) - (judge - person over others)

    with the shares that are correct, over cases with answers of both, so that what makes a case easy cancels
    (`intervals.clustered_contrast`). All of shape (n,); nan without such a case.
    """
    judge = floats(called)
    person = floats(right)
    own = np.asarray(is_own, dtype=bool)
    names = np.asarray(case).astype(str)
    is_known = are_known(judge, person)
    names_of_own = names[is_known & own]
    names_of_others = names[is_known & ~own]
    of_both = np.intersect1d(names_of_own, names_of_others)
    is_paired = is_known & np.isin(names, of_both)
    judge = np.nan_to_num(judge)
    person = np.nan_to_num(person)
    mine = is_paired & own
    others = is_paired & ~own
    parts = (
        judge * mine,
        person * mine,
        judge * others,
        person * others,
    )
    return intervals.clustered_contrast(
        (1.0, -1.0, -1.0, 1.0),
        parts,
        (mine, mine, others, others),
        names,
    )
