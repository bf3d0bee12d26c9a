"""Two conditions whose rate is a ratio of sums, such as F1. Knows parts, wholes and clusters, not what they are of.

Were both conditions alike, the outcomes of a cluster would as well have come from the other one: the permutation test
of paired samples (Pitman 1937; Yeh 2000 for F1), with whole clusters swapped because a case's instances belong
together. Where both wholes are the number of instances it is the test of `sign_flip`.
"""

from collections.abc import Iterator
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crane_core.stats.arrays import Array
from crane_core.stats.resampling import cluster_sums

N_DRAWS = 19_999
"""Seeded draws where there are more different results of swapping than MOST_COUNTED."""
MOST_COUNTED = 50_000
"""Up to so many different results are counted one by one; each takes a row of a table."""
_CLOSE = 1e-9
_AT_A_TIME = 5_000


class _Moved(NamedTuple):
    """The clusters that swapping changes, those with equal or opposite differences together as one kind.

    middle: part and whole of the mean of both conditions, shape (2,). steps: half the difference of a cluster, shape
    (n_kinds, 2). n_of: how many clusters have it, and n_opposite: how many of these have the opposite, each of shape
    (n_kinds,).
    """

    middle: Array
    steps: Array
    n_of: NDArray[np.int64]
    n_opposite: NDArray[np.int64]

    def differences(self, n_opposite: NDArray[np.int64]) -> Array:
        """Rate B minus rate A where so many clusters of each kind stand the other way; nan where one is undefined."""
        moved = (self.n_of - 2 * n_opposite) @ self.steps
        return _rate(self.middle + moved) - _rate(self.middle - moved)


def ratio_swap(
    part_a: ArrayLike,
    whole_a: ArrayLike,
    part_b: ArrayLike,
    whole_b: ArrayLike,
    cluster: ArrayLike,
    *,
    seed: int,
) -> float:
    """Two-sided p-value of the rate of B minus that of A, each sum(part) / sum(whole) of the same instances.

    All arrays have shape (n,); cluster names the case of each. Exact where there are few different results, otherwise
    from N_DRAWS seeded draws with the observed result counted among them (Phipson and Smyth 2010). A swap that leaves a
    rate undefined counts as a result as extreme as the observed one. nan where an observed rate is undefined; 1.0 where
    no cluster differs.
    """
    sums = cluster_sums(
        cluster,
        part_a,
        whole_a,
        part_b,
        whole_b,
    )[0]
    moved = _moved(sums)
    observed = float(moved.differences(moved.n_opposite[np.newaxis])[0])
    if np.isnan(observed):
        return float("nan")
    if not len(moved.n_of):
        return 1.0
    if prod(int(n) + 1 for n in moved.n_of) <= MOST_COUNTED:
        return _counted(moved, abs(observed))
    return _drawn(moved, abs(observed), seed)


def _moved(sums: Array) -> _Moved:
    a, b = sums[:, :2], sums[:, 2:]
    middle = (a + b).sum(axis=0) / 2
    # Rounded, so that clusters that are alike are one kind whatever the last digit.
    steps = np.round((b - a) / 2, 9)
    steps = steps[steps.any(axis=1)]
    leading = np.where(steps[:, 0] != 0, steps[:, 0], steps[:, 1])
    is_opposite = leading < 0
    one_way = (
        np.where(is_opposite[:, np.newaxis], -steps, steps) + 0.0
    )  # without -0.0, which would be another kind
    kinds, kind = np.unique(one_way, axis=0, return_inverse=True)
    n_of = np.bincount(kind.ravel(), minlength=len(kinds))
    n_opposite = np.bincount(kind.ravel(), is_opposite, len(kinds)).astype(
        np.int64
    )
    return _Moved(
        middle,
        kinds.reshape(-1, 2),
        n_of,
        n_opposite,
    )


def _counted(moved: _Moved, observed: float) -> float:
    """Over all results, each with the number of ways to it."""
    # Loaded with the first test, not with the app: it takes half a second.
    from scipy.special import gammaln

    grid = np.indices((moved.n_of + 1).tolist()).reshape(len(moved.n_of), -1).T
    ways = (
        gammaln(moved.n_of + 1)
        - gammaln(grid + 1)
        - gammaln(moved.n_of - grid + 1)
    )
    chance = np.exp(ways.sum(axis=1) - moved.n_of.sum() * np.log(2))
    return min(
        1.0, float(chance[_is_reached(moved.differences(grid), observed)].sum())
    )


def _drawn(
    moved: _Moved,
    observed: float,
    seed: int,
) -> float:
    rng, n_reached = np.random.default_rng(seed), 0
    for n in _portions(N_DRAWS):
        swapped = rng.binomial(moved.n_of, 0.5, size=(n, len(moved.n_of)))
        n_reached += int(
            np.count_nonzero(_is_reached(moved.differences(swapped), observed))
        )
    return (n_reached + 1) / (N_DRAWS + 1)


def _portions(n: int) -> Iterator[int]:
    for n_left in range(n, 0, -_AT_A_TIME):
        yield min(n_left, _AT_A_TIME)


def _is_reached(differences: Array, observed: float) -> NDArray[np.bool_]:
    reached: NDArray[np.bool_] = np.isnan(differences) | (
        np.abs(differences) >= observed - _CLOSE
    )
    return reached


def _rate(sums: Array) -> Array:
    """part / whole of the last axis, nan where the whole is 0."""
    part, whole = sums[..., 0], sums[..., 1]
    rate = np.full(np.shape(whole), np.nan)
    np.divide(
        part,
        whole,
        out=rate,
        where=whole > _CLOSE,
    )
    return rate
