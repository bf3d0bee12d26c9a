"""Cohen's kappa of two annotators, nominal and linear-weighted. Knows the formula; refuses more than two annotators.

With p_kl the share of items that the first annotator labelled k and the second l, and d_kl the disagreement (nominal:
1 unless k = l; linear: |k - l|),

    kappa = 1 - sum_kl d_kl p_kl / sum_kl d_kl p_k. p_.l

Sources: Cohen 1960 (nominal, the kappa of the study), Cohen 1968 (weighted). Items that either
annotator left unlabelled do not count. Degenerate: without a common item, and where both gave one same label
throughout (0/0), kappa has no value and `why` says so; scikit-learn returns nan there too. A single item that they
labelled differently has a kappa of 0, as do two annotators who always give one label each, but not the same. An unused
category changes nothing, except that in the linear kappa it keeps its neighbours apart.
"""

import numpy as np

from crane_core.stats import agreement, resampling
from crane_core.stats.arrays import Array


def _confusions(codes: agreement.Codes, q: int) -> Array:
    """Column 0: both labelled; the others: the item's one-hot confusion matrix, row by row."""
    if codes.shape[1] != 2:
        raise ValueError(
            f"Cohen's kappa is of two annotators, not {codes.shape[1]}"
        )
    both = (codes != agreement.UNLABELLED).all(axis=1)
    # An item that one left out has no cell: -1 is none of them.
    cell = np.where(both, codes[:, 0] * q + codes[:, 1], agreement.UNLABELLED)
    return np.column_stack([both, cell[:, None] == np.arange(q * q)]).astype(
        np.float64
    )


def _kappa(
    sums: Array,
    q: int,
    disagreement: Array,
) -> Array:
    matrix = agreement.square(sums, q)
    first, second = matrix.sum(axis=-1), matrix.sum(axis=-2)
    observed = (matrix * disagreement).sum(axis=(-2, -1))
    expected = np.einsum(
        "...k,kl,...l->...",
        first,
        disagreement,
        second,
    )
    return 1 - resampling.ratio_of_sums(sums[..., 0] * observed, expected)


def _nominal(sums: Array, q: int) -> Array:
    return _kappa(sums, q, 1.0 - np.eye(q))


def _linear(sums: Array, q: int) -> Array:
    return _kappa(sums, q, agreement.category_distance(q))


NOMINAL = agreement.Statistic(
    "Cohen's kappa",
    "Cohen 1960",
    _confusions,
    _nominal,
)
LINEAR = agreement.Statistic(
    "Cohen's kappa, linear weights",
    "Cohen 1968",
    _confusions,
    _linear,
)


LANDIS_KOCH = {
    0.2: "slight",
    0.4: "fair",
    0.6: "moderate",
    0.8: "substantial",
    1.0: "almost perfect",
}
"""Upper end of each range to its word (Landis and Koch 1977, p. 165); below 0 is "poor"."""


def landis_koch(kappa: float) -> str:
    """What Landis and Koch call a kappa: a convention, not a test. Raises ValueError for nan."""
    if not -1 - agreement.SAME <= kappa <= 1 + agreement.SAME:
        raise ValueError(f"kappa must be between -1 and 1, not {kappa}")
    return (
        "poor"
        if kappa < 0
        else next(
            word
            for end, word in LANDIS_KOCH.items()
            if kappa <= end + agreement.SAME
        )
    )
