"""A difference of two rates by a judge's labels, corrected by how often the judge is wrong. Knows counts per case.

A judge that calls right diagnoses wrong shrinks a difference, one that calls wrong ones right adds to both rates. Where
a person labelled some of the same diagnoses, both error rates can be estimated, and the judge's counts be corrected
(Rogan and Gladen 1978).
"""

from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from crane_core.stats.arrays import Array
from crane_core.stats.intervals import student_quantile


class JudgedRate(NamedTuple):
    """Counts per case of one condition, each of shape (n_cases,).

    settled: instances that are right without a label. right: those that the judge's label makes right, of `labelled`.
    n: all instances.
    """

    settled: ArrayLike
    right: ArrayLike
    labelled: ArrayLike
    n: ArrayLike


class DoubleLabels(NamedTuple):
    """Counts per case of what a person and the judge both labelled, each of shape (n_cases,).

    right_by_both of right_by_person; wrong_by_both of wrong_by_person.
    """

    right_by_both: ArrayLike
    right_by_person: ArrayLike
    wrong_by_both: ArrayLike
    wrong_by_person: ArrayLike


class CorrectedDifference(NamedTuple):
    """A difference with its 95% interval, and the judge's sensitivity and specificity; nan where undefined."""

    value: float
    low: float
    high: float
    sensitivity: float
    specificity: float


def corrected_difference(
    base: JudgedRate, other: JudgedRate, double: DoubleLabels
) -> CorrectedDifference:
    """Rate of `other` minus rate of `base`, with the judge's errors taken out of both.

        rate = (settled + (right - (1 - Sp) labelled) / (Se + Sp - 1)) / n

    Se is the share of right_by_person that the judge calls right, Sp the share of wrong_by_person that it calls wrong.
    The standard error leaves out one case at a time, its double labels too (jackknife: Efron and Stein 1981), so that
    the interval carries the uncertainty of both error rates; Student's quantile for n - 1 cases, cut to -1..1. The
    difference is not cut: a value beyond what labels allow says that the errors differ between the conditions. nan for
    fewer than two cases and for a judge that only guesses, Se + Sp <= 1, with or without any one case.
    """
    sums = np.column_stack([*base, *other, *double]).astype(float)
    n_cases = len(sums)
    total = sums.sum(axis=0)
    value, sensitivity, specificity = _corrected(total[np.newaxis])
    undefined = CorrectedDifference(
        value=np.nan,
        low=np.nan,
        high=np.nan,
        sensitivity=float(sensitivity[0]),
        specificity=float(specificity[0]),
    )
    whole = float(value[0])
    if n_cases < 2 or np.isnan(whole):
        return undefined
    without_one, _, _ = _corrected(total - sums)
    if np.isnan(without_one).any():
        return undefined
    spread = without_one - without_one.mean()
    squares = float(np.sum(spread**2))
    jackknife = (n_cases - 1) / n_cases * squares
    # One imaginary case more whose one instance differs (see `intervals`): no interval is without width.
    n_instances = max(total[3], total[7], 1.0)
    imaginary = n_cases / n_instances / (n_cases + 1) ** 2
    error = sqrt(jackknife + imaginary)
    reach = student_quantile(n_cases - 1) * error
    return undefined._replace(
        value=whole,
        low=max(whole - reach, -1.0),
        high=min(whole + reach, 1.0),
    )


def _corrected(sums: Array) -> tuple[Array, Array, Array]:
    """The difference, Se and Sp of each row of sums, in the order of the columns above."""
    base, other, double = np.split(sums, [4, 8], axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        sensitivity = double[:, 0] / double[:, 1]
        specificity = double[:, 2] / double[:, 3]
        better = sensitivity + specificity - 1
        better = np.where(better > 0, better, np.nan)
        rates = []
        for counts in (base, other):
            settled, right, labelled, n = counts.T
            wrongly_right = (1 - specificity) * labelled
            n_right = settled + (right - wrongly_right) / better
            rates.append(n_right / n)
    return rates[1] - rates[0], sensitivity, specificity
