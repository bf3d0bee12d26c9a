"""Krippendorff's alpha of any number of annotators, nominal and ordinal. Refuses to know who labelled what.

With o_kl the coincidences (each ordered pair of labels within an item counts 1 / (labels of the item - 1)), n_k their
margins, n their sum, and d_kl the squared difference,

    alpha = 1 - (n - 1) sum_kl o_kl d_kl / sum_kl n_k n_l d_kl

nominal: d_kl = 1 unless k = l. ordinal: d_kl is the squared distance of the categories' mean ranks, that is
(sum_{g=k..l} n_g - (n_k + n_l) / 2)^2.

Source: Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability". Labels may be missing; an item with fewer than
two counts for nothing. Degenerate: without an item that has two labels, and where all of them are the same (0/0),
alpha has no value and `why` says so. A single item with two different labels has 0. An unused category
changes nothing: ranks come from the labels given.
"""

import numpy as np

from crane_core.stats import agreement, resampling
from crane_core.stats.arrays import Array


def _coincidences(codes: agreement.Codes, q: int) -> Array:
    """Column 0: the item has two labels; the others: its coincidence matrix, row by row."""
    counts = agreement.label_counts(codes, q)
    n_labels = counts.sum(axis=1)
    # A label is not paired with itself.
    pairs = counts[:, :, None] * counts[:, None, :] - counts[
        :, :, None
    ] * np.eye(q)
    per_item = pairs.reshape(-1, q * q) / np.maximum(n_labels - 1, 1)[:, None]
    return np.column_stack([n_labels >= 2, per_item])


def _alpha(matrix: Array, difference: Array) -> Array:
    margins = matrix.sum(axis=-1)
    observed = (matrix * difference).sum(axis=(-2, -1))
    expected = np.einsum(
        "...k,...kl,...l->...",
        margins,
        difference,
        margins,
    )
    return 1 - resampling.ratio_of_sums(
        (margins.sum(axis=-1) - 1) * observed, expected
    )


def _nominal(sums: Array, q: int) -> Array:
    matrix = agreement.square(sums, q)
    return _alpha(matrix, np.broadcast_to(1.0 - np.eye(q), matrix.shape))


def _ordinal(sums: Array, q: int) -> Array:
    matrix = agreement.square(sums, q)
    margins = matrix.sum(axis=-1)
    mean_rank = margins.cumsum(axis=-1) - margins / 2
    return _alpha(
        matrix, (mean_rank[..., :, None] - mean_rank[..., None, :]) ** 2
    )


NOMINAL = agreement.Statistic(
    "Krippendorff's alpha, nominal",
    "Krippendorff 2011",
    _coincidences,
    _nominal,
)
ORDINAL = agreement.Statistic(
    "Krippendorff's alpha, ordinal",
    "Krippendorff 2011",
    _coincidences,
    _ordinal,
)
