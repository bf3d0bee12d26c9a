"""Shares from first labels of all items and second labels of some, which the least certain items have more often.

Knows first and final labels, chances and weights. Refuses to know who labelled, or what the chances were made of.

Two-phase sampling (Neyman 1938; Särndal, Swensson and Wretman 1992, 9.6: the difference estimator). A chance may depend
on everything that was known before the item's own draw, as each item is drawn for once: then the correction has the
right mean whatever the chances are (Zrnic and Candès 2024, Active statistical inference, theorem 3).
"""

from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crane_core.stats import intervals, resampling
from crane_core.stats.arrays import Array, floats

FLOOR = 0.4
"""The smallest chance of an item over that of a uniform draw: it bounds the weights, whatever the first labels say."""
PRIOR_LABELS = 4.0
"""What is known of a wider group counts as this many pairs of labels in a narrower one."""
PRIOR_UNLIKE = 0.25
"""The share of unlike pairs that is assumed before there is any pair."""
UNSEEN = 0.5
"""Unlike pairs that are added to the variance of the correction: few pairs that all agree do not mean no error."""


class UnlikeRate(NamedTuple):
    """How often second labels differ from first ones in a group: mean and standard deviation of the posterior."""

    mean: float
    sd: float

    @property
    def need(self) -> float:
        """How large a chance the group's items deserve, up to a factor.

        The variance of the correction is smallest with chances in proportion to the square root of the rate (Särndal,
        Swensson and Wretman 1992, 12.2); one standard deviation is added, so that groups with few pairs are tried.
        """
        return sqrt(self.mean + self.sd)


def unlike_rate(
    n: int, n_unlike: int, wider: UnlikeRate | None = None
) -> UnlikeRate:
    """The posterior after `n` pairs of labels, of which `n_unlike` differ; the prior is the rate of a wider group."""
    expected = PRIOR_UNLIKE if wider is None else wider.mean
    size = n + PRIOR_LABELS
    mean = (n_unlike + expected * PRIOR_LABELS) / size
    variance = mean * (1 - mean) / (size + 1)
    return UnlikeRate(mean, sqrt(variance))


def second_chances(need: ArrayLike, share: float) -> Array:
    """The chance of each item: in proportion to its need, from FLOOR times `share` to 1, and `share` on average.

    need: shape (n,), above 0. share: in 0..1, above 0. Raises ValueError otherwise.
    """
    wanted = floats(need)
    if not 0 < share <= 1 or not (wanted > 0).all():
        raise ValueError("a share of second labels is above 0 and at most 1")
    if share == 1 or not len(wanted):
        return np.ones(len(wanted))
    least = FLOOR * share
    low = 0.0
    high = 1 / float(wanted.min())
    # The mean grows with the factor, so that halving finds it; 60 times are the digits of a float.
    for _ in range(60):
        factor = (low + high) / 2
        chances = np.clip(factor * wanted, least, 1.0)
        if chances.mean() < share:
            low = factor
        else:
            high = factor
    return np.clip(high * wanted, least, 1.0)


def systematic_draw(chances: ArrayLike, start: float) -> NDArray[np.bool_]:
    """Which items are drawn: each with its own chance, and as many as the chances sum to, rounded up or down.

    start: random, in 0..1. Items that stand together are rarely drawn together (Madow 1949).
    """
    chance = floats(chances)
    is_certain = chance >= 1
    uncertain = np.where(is_certain, 0.0, chance)
    passed = np.cumsum(uncertain) + start
    steps = np.diff(
        np.floor(passed),
        prepend=np.floor(start),
    )
    return is_certain | (steps > 0)


def two_phase_share(
    first: ArrayLike,
    final: ArrayLike,
    chance: ArrayLike,
    weight: ArrayLike,
    cluster: ArrayLike,
) -> intervals.RateEstimate:
    """The share that final labels would have if all items had a second label.

        p = sum w first / sum w + sum v (final - first) / sum v,   v = w / chance, over items with both labels

    first: shape (n,), 1 or 0; final: shape (n,), nan for items without a second label; chance: shape (n,), of having
    one; weight: shape (n,), how many items of the population each represents; cluster: shape (n,), the case of each.
    The interval is Wilson's for the number of labels that would have the variance of the linearised sums of cases,
    with Student's quantile for the cases that have a second label. nan without a second label.
    """
    before = floats(first)
    after = floats(final)
    p = floats(chance)
    w = floats(weight)
    has_both = ~np.isnan(after)
    if not has_both.any():
        return intervals.UNDEFINED
    change = np.nan_to_num(after) - before
    moved = np.where(has_both, change, 0.0)
    v = np.where(has_both, w / p, 0.0)
    of_w = w.sum()
    of_v = v.sum()
    mean = float(w @ before / of_w)
    shift = float(v @ moved / of_v)
    value = min(max(mean + shift, 0.0), 1.0)
    of_mean = w * (before - mean) / of_w
    of_shift = v * (moved - shift) / of_v
    names = np.asarray(cluster)
    sums, _ = resampling.cluster_sums(names, of_mean + of_shift)
    n = len(sums)
    n_both = len(np.unique(names[has_both]))
    mean_square = float((v[has_both] ** 2).mean())
    variance = UNSEEN * mean_square / float(of_v) ** 2
    if n > 1:
        squares = float((sums**2).sum())
        variance += n / (n - 1) * squares
    spread = value * (1 - value)
    # Where nothing varies, each case with a second label counts as one label.
    effective = spread / variance if spread else float(n_both)
    # Kish's number of items: the correction cannot make them more.
    most = float(of_w**2 / (w**2).sum())
    low, high = intervals.wilson(
        value,
        min(effective, most),
        intervals.student_quantile(n_both - 1),
    )
    return intervals.RateEstimate(
        value=value,
        low=low,
        high=high,
        n=len(before),
        n_clusters=n,
    )
