"""Gains of groups drawn towards their mean, by as much as chance explains. Knows estimates, not what the groups are.

A group of few cases may show a large gain by chance alone. Partial pooling takes the groups as draws from one normal
distribution of true gains and weighs each group's estimate against the mean of all (Morris 1983).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crane_core.stats.intervals import student_quantile
from crane_core.stats.resampling import CONFIDENCE

LEAST_GROUPS = 5
"""Groups from which on the spread between them is known well enough: its uncertainty goes by 1 / (k - 3)."""

Array = NDArray[np.float64]


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
    d, one, other, count = (
        np.asarray(column, dtype=np.float64)
        for column in (difference, low, high, n)
    )
    middle = count * d / (count + 1)
    # The end that is farther from the middle is the one that no limit cut.
    reach = np.maximum(other - middle, middle - one)
    quantiles = [
        student_quantile(int(k) - 1, CONFIDENCE) if k > 1 else np.nan
        for k in count
    ]
    is_whole = (one <= -1) & (other >= 1)
    return np.where(is_whole, np.nan, reach / np.array(quantiles))


def shrunken(difference: ArrayLike, error: ArrayLike) -> ShrunkenGains:
    """Empirical Bayes estimates of k groups from their differences and standard errors, both of shape (k,).

        w_j = t / (t + s_j^2),   value_j = m + w_j (d_j - m)
        v_j = w_j s_j^2 + (1 - w_j)^2 (v_m + 2 / (k - 3) (u + t) / (s_j^2 + t) (d_j - m)^2)

    t is the variance between groups by DerSimonian and Laird (1986), m the mean weighted by 1 / (t + s_j^2), v_m its
    variance and u the mean of s_j^2 by the same weights. The last term is the uncertainty of t (Morris 1983, for
    unequal variances). The interval has Student's quantile for k - 1, cut to -1..1. Groups whose difference or error
    is nan count for nothing and have none. Raises ValueError for an error that is not above 0.
    """
    d = np.asarray(difference, dtype=np.float64)
    s = np.asarray(error, dtype=np.float64)
    known = ~np.isnan(d) & ~np.isnan(s)
    if (s[known] <= 0).any():
        raise ValueError("a standard error must be above 0")
    k = int(known.sum())
    if k < LEAST_GROUPS:
        nothing = np.full(d.shape, np.nan)
        return ShrunkenGains(
            nothing, nothing, nothing, nothing, mean=np.nan, between=np.nan
        )
    d, variance = d[known], s[known] ** 2
    between = _between(d, variance)
    weights = 1 / (between + variance)
    mean = float(weights @ d / weights.sum())
    own = between / (between + variance)
    value = mean + own * (d - mean)
    usual = float(weights @ variance / weights.sum())
    unsure = 2 / (k - 3) * (usual + between) / (variance + between)
    uncertain = unsure * (1 - own) ** 2 * (d - mean) ** 2
    spread = own * variance + (1 - own) ** 2 / weights.sum() + uncertain
    reach = student_quantile(k - 1, CONFIDENCE) * np.sqrt(spread)
    return ShrunkenGains(
        _filled(value, known),
        _filled(np.maximum(value - reach, -1.0), known),
        _filled(np.minimum(value + reach, 1.0), known),
        _filled(own, known),
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
    mean = w @ d / w.sum()
    q = float(w @ (d - mean) ** 2)
    scale = float(w.sum() - (w**2).sum() / w.sum())
    return max((q - (len(d) - 1)) / scale, 0.0)
