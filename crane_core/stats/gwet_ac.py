"""Gwet's AC1 and AC2 of any number of annotators. Knows the formulas; refuses to know who labelled what.

With w_kl the weight of a pair of labels, T_w their sum over all pairs of categories, and pi_k the mean over items of
the share of its labels that are k,

    p_a = mean over items with two labels of sum_k r_ik (sum_l w_kl r_il - 1) / (r_i (r_i - 1))
    p_e = T_w / (q (q - 1)) sum_k pi_k (1 - pi_k)        AC = (p_a - p_e) / (1 - p_e)

AC1: w_kl = 1 for k = l, else 0. AC2 linear: 1 - |k - l| / (q - 1). AC2 ordinal: 1 - C(|k - l| + 1, 2) / C(q, 2).

Source: Gwet 2014, "Handbook of Inter-Rater Reliability", 4th edition; AC1 first in Gwet 2008. An item with one label
counts in pi only. Degenerate: without an item that has two labels there is no value and `why` says so; everything else
has one, because p_e is at most 1/q for AC1 and below 1 for AC2: labels that are all the same give 1, a single item
with two different labels has -1/3 for AC1 on three categories. An unused category counts in q: AC depends
on the declared scale, so compare it only between like scales.
"""

from collections.abc import Callable

import numpy as np

from crane_core.stats import agreement, resampling
from crane_core.stats.arrays import Array


def _linear(q: int) -> Array:
    return 1.0 - agreement.category_distance(q) / (q - 1)


def _ordinal(q: int) -> Array:
    distance = agreement.category_distance(q)
    return 1.0 - distance * (distance + 1) / (q * (q - 1))


def _summands(codes: agreement.Codes, weights: Array) -> Array:
    """Columns: two labels or more, any label, p_a of the item, and its share of each category."""
    counts = agreement.label_counts(codes, len(weights))
    n_labels = counts.sum(axis=1)
    # An item without a label has no share; the 1 only avoids 0 / 0.
    shares = counts / np.maximum(n_labels, 1)[:, None]
    return np.column_stack(
        [
            n_labels >= 2,
            n_labels >= 1,
            agreement.agreeing_share(counts, weights),
            shares,
        ]
    )


def _value(sums: Array, weights: Array) -> Array:
    q = len(weights)
    observed = resampling.ratio_of_sums(sums[..., 2], sums[..., 0])
    prevalence = resampling.ratio_of_sums(sums[..., 3:], sums[..., 1:2])
    chance = (
        weights.sum()
        / (q * (q - 1))
        * (prevalence * (1 - prevalence)).sum(axis=-1)
    )
    value: Array = (observed - chance) / (1 - chance)
    return value


def _weighted(
    name: str,
    source: str,
    weights: Callable[[int], Array],
) -> agreement.Statistic:
    return agreement.Statistic(
        name,
        source,
        lambda codes, q: _summands(codes, weights(q)),
        lambda sums, q: _value(sums, weights(q)),
    )


AC1 = _weighted("Gwet's AC1", "Gwet 2008", np.eye)
AC2_LINEAR = _weighted("Gwet's AC2, linear weights", "Gwet 2014", _linear)
AC2_ORDINAL = _weighted("Gwet's AC2, ordinal weights", "Gwet 2014", _ordinal)
