"""Gains of groups drawn towards their mean, by as much as chance explains. Knows estimates, not what the groups are.

A group of few cases may show a large gain by chance alone. Partial pooling takes the groups as draws from one normal
distribution of true gains and weighs each group's estimate against the mean of all (Morris 1983).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crane_core.stats.arrays import Array, are_known, floats
from crane_core.stats.intervals import student_quantile

LEAST_GROUPS = 5
"""Groups from which on the spread between them is known well enough: its uncertainty goes by 1 / (k - 3)."""


class ShrunkenGains(NamedTuple):
    """Of each group the gain after partial pooling with its 95% interval, and how much its own estimate counts.

    value, low, high, weight: shape (n_groups,); weight is in 0..1. mean: that groups are drawn towards; between: the
    standard deviation of true gains between groups. nan throughout for fewer than LEAST_GROUPS groups.
    """

    value: Array
    low: Array
    high: Array
    weight: Array
    mean: float
    between: float


def standard_errors(
    difference: ArrayLike, low: ArrayLike, high: ArrayLike, n: ArrayLike
) -> Array:
    """The standard errors behind 95% intervals of `intervals.clustered_difference` over n clusters each.

    All arrays have shape (m,); nan for an interval that is the whole range, from -1 to 1: what was cut off is unknown.
    """
    d = floats(difference)
    least = floats(low)
    most = floats(high)
    count = floats(n)
    middle = count * d / (count + 1)
    # The end that is farther from the middle is the one that no limit cut.
    reach = np.maximum(most - middle, middle - least)
    quantiles = np.full(count.shape, np.nan)
    for place in np.flatnonzero(count > 1):
        n_free = int(count[place]) - 1
        quantiles[place] = student_quantile(n_free)
    is_whole = (least <= -1) & (most >= 1)
    return np.where(is_whole, np.nan, reach / quantiles)


def shrunken(difference: ArrayLike, error: ArrayLike) -> ShrunkenGains:
    """Empirical Bayes estimates of k groups from their differences and standard errors, both of shape (k,).

        w_j = t / (t + s_j^2),   value_j = m + w_j (d_j - m)
        v_j = w_j s_j^2 + (1 - w_j)^2 (v_m + 2 / (k - 3) (u + t) / (s_j^2 + t) (d_j - m)^2)

    t is the variance between groups by DerSimonian and Laird (1986), m the mean weighted by 1 / (t + s_j^2), v_m its
    variance and u the mean of s_j^2 by the same weights. The last term is the uncertainty of t (Morris 1983, for
    unequal variances). The interval has Student's quantile for k - 1, cut to -1..1. Groups whose difference or error
    is nan count for nothing and have none. Raises ValueError for an error that is not above 0.
    """
    d = floats(difference)
    s = floats(error)
    known = are_known(d, s)
    if (s[known] <= 0).any():
        raise ValueError("a standard error must be above 0")
    k = int(known.sum())
    if k < LEAST_GROUPS:
        nothing = np.full(d.shape, np.nan)
        return ShrunkenGains(
            value=nothing,
            low=nothing,
            high=nothing,
            weight=nothing,
            mean=np.nan,
            between=np.nan,
        )
    d = d[known]
    variance = s[known] ** 2
    between = _between(d, variance)
    total = between + variance
    weights = 1 / total
    of_weights = weights.sum()
    mean = float(weights @ d / of_weights)
    own = between / total
    value = mean + own * (d - mean)
    usual = float(weights @ variance / of_weights)
    of_groups = (1 - own) ** 2
    unsure = 2 / (k - 3) * (usual + between) / total
    uncertain = unsure * of_groups * (d - mean) ** 2
    of_mean = of_groups / of_weights
    spread = own * variance + of_mean + uncertain
    quantile = student_quantile(k - 1)
    reach = quantile * np.sqrt(spread)
    low = np.maximum(value - reach, -1.0)
    high = np.minimum(value + reach, 1.0)
    return ShrunkenGains(
        value=_filled(value, known),
        low=_filled(low, known),
        high=_filled(high, known),
        weight=_filled(own, known),
        mean=mean,
        between=float(np.sqrt(between)),
    )


def _filled(column: Array, known: NDArray[np.bool_]) -> Array:
    """The column of the known groups among all groups."""
    whole = np.full(known.shape, np.nan)
    whole[known] = column
    return whole


def _between(d: Array, variance: Array) -> float:
    """DerSimonian and Laird's moment estimate of the variance between groups, at least 0."""
    w = 1 / variance
    total = w.sum()
    mean = w @ d / total
    q = float(w @ (d - mean) ** 2)
    scale = float(total - (w**2).sum() / total)
    n_free = len(d) - 1
    return max((q - n_free) / scale, 0.0)
