"""Fleiss' kappa of any number of annotators. Knows the formula; refuses to know who labelled what.

With r_ik the labels k of item i, r_i their number, and p_k the share of k among all labels,

    p_a = mean over items of sum_k r_ik (r_ik - 1) / (r_i (r_i - 1))        p_e = sum_k p_k^2
    kappa = (p_a - p_e) / (1 - p_e)

over the items that have two labels or more. Source: Fleiss 1971, where every item has the same number of labels; with
two annotators it is Scott's pi. Degenerate: without such an item, or with one label everywhere, there is no value.
"""

import numpy as np

from crane_core.stats import agreement
from crane_core.stats.arrays import Array
from crane_core.stats.resampling import ratio_of_sums


def _summands(codes: agreement.Codes, q: int) -> Array:
    """Columns: two labels or more, p_a of the item, its number of labels, and how many of each category."""
    counts = agreement.label_counts(codes, q)
    paired = counts.sum(axis=1) >= 2
    counts = counts * paired[:, None]
    return np.column_stack(
        [
            paired,
            agreement.agreeing_share(counts, np.eye(q)),
            counts.sum(axis=1),
            counts,
        ]
    )


def _value(sums: Array, q: int) -> Array:
    observed = ratio_of_sums(sums[..., 1], sums[..., 0])
    shares = ratio_of_sums(sums[..., 3:], sums[..., 2:3])
    chance = (shares**2).sum(axis=-1)
    return ratio_of_sums(observed - chance, 1 - chance)


FLEISS = agreement.Statistic(
    "Fleiss' kappa",
    "Fleiss 1971",
    _summands,
    _value,
)
