"""Two groups of clusters whose rates are compared. Knows parts, wholes and clusters, not what they are of.

Were both groups alike, any clusters would as well have made up the second one: the permutation test of two samples
(Pitman 1937), with whole clusters moved because a case's instances belong together.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crane_core.stats.arrays import floats
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
    second = floats(is_second)
    ones = np.ones(len(second))
    sums, _ = cluster_sums(cluster, part, whole, second, ones)
    n_second = sums[:, 2]
    n_all = sums[:, 3]
    in_second = n_second > 0
    if (n_second[in_second] != n_all[in_second]).any():
        raise ValueError("a cluster is in both groups")
    # Rounded, so that clusters that are alike are one kind whatever the last digit.
    kinds, inverse = np.unique(
        np.round(sums[:, :2], 9),
        axis=0,
        return_inverse=True,
    )
    kind = inverse.ravel()
    n_of = np.bincount(kind, minlength=len(kinds))
    observed = np.bincount(kind[in_second], minlength=len(kinds))
    rng = np.random.default_rng(seed)
    drawn = rng.multivariate_hypergeometric(
        n_of,
        int(in_second.sum()),
        size=N_DRAWS,
        method="marginals",
    )
    moved = []
    # A draw may leave a group without a whole, and its rate undefined.
    with np.errstate(divide="ignore", invalid="ignore"):
        for n_of_second in (observed[np.newaxis], drawn):
            first = _rates(n_of - n_of_second, kinds)
            other = _rates(n_of_second, kinds)
            moved.append(other - first)
    [difference], others = moved
    if np.isnan(difference):
        return float("nan")
    is_less = np.abs(others) < abs(difference) - _CLOSE
    n_reached = N_DRAWS - np.count_nonzero(is_less)
    return float((n_reached + 1) / (N_DRAWS + 1))


def _rates(n_of: NDArray[np.int64], kinds: NDArray[Any]) -> NDArray[Any]:
    """Of every draw the rate of its clusters, shape (n_draws,); nan or infinite without a whole."""
    part, whole = (n_of @ kinds).T
    return np.asarray(part / whole)
