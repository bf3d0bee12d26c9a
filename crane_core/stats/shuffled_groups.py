"""Two groups of clusters whose rates are compared. Knows parts, wholes and clusters, not what they are of.

Were both groups alike, any clusters would as well have made up the second one: the permutation test of two samples
(Pitman 1937), with whole clusters moved because a case's instances belong together.
"""

import numpy as np
from numpy.typing import ArrayLike

from crane_core.stats.resampling import cluster_sums

N_DRAWS = 99_999
"""Seeded draws of the second group, with the observed one counted among them (Phipson and Smyth 2010)."""
_CLOSE = 1e-9


def shuffled_groups(
    part: ArrayLike,
    whole: ArrayLike,
    cluster: ArrayLike,
    is_second: ArrayLike,
    *,
    seed: int,
) -> float:
    """Two-sided p-value of the rate of the second group minus that of the first, each sum(part) / sum(whole).

    All arrays have shape (n,); cluster names the case of each. A draw that leaves a rate undefined counts as a result
    as extreme as the observed one. nan where an observed rate is undefined. Raises ValueError if a cluster is in both
    groups.
    """
    second = np.asarray(is_second, dtype=np.float64)
    ones = np.ones(len(second))
    sums, _ = cluster_sums(cluster, part, whole, second, ones)
    in_second = sums[:, 2] > 0
    if (sums[in_second, 2] != sums[in_second, 3]).any():
        raise ValueError("a cluster is in both groups")
    # Rounded, so that clusters that are alike are one kind whatever the last digit.
    kinds, kind = np.unique(
        np.round(sums[:, :2], 9), axis=0, return_inverse=True
    )
    n_of = np.bincount(kind.ravel(), minlength=len(kinds))
    observed = np.bincount(kind.ravel()[in_second], minlength=len(kinds))
    drawn = np.random.default_rng(seed).multivariate_hypergeometric(
        n_of, int(in_second.sum()), size=N_DRAWS, method="marginals"
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        moved = []
        for n_second in (observed[np.newaxis], drawn):
            first = (n_of - n_second) @ kinds
            other = n_second @ kinds
            moved.append(other[:, 0] / other[:, 1] - first[:, 0] / first[:, 1])
    [difference], others = moved
    if np.isnan(difference):
        return float("nan")
    is_less = np.abs(others) < abs(difference) - _CLOSE
    return float((N_DRAWS - np.count_nonzero(is_less) + 1) / (N_DRAWS + 1))
