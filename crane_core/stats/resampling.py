"""Drawing whole clusters again: the bootstrap where instances that belong together stay together.

Knows per-instance sums and clusters; refuses to know what is summed. For rates and their differences see `intervals`,
which needs no draw.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crane_core.stats.arrays import Array, floats

N_RESAMPLES = 2000
CONFIDENCE = 0.95


class Interval(NamedTuple):
    low: float
    high: float


def cluster_sums(
    cluster: ArrayLike, *columns: ArrayLike
) -> tuple[Array, NDArray[np.generic]]:
    """Sums per cluster, shape (n_clusters, n_columns), and the clusters in sorted order."""
    names, place = np.unique(np.asarray(cluster), return_inverse=True)
    arrays = [floats(column) for column in columns]
    shapes = [array.shape for array in arrays]
    if any(shape != place.shape for shape in shapes):
        raise ValueError(
            f"{len(place)} cluster labels for columns of shapes {shapes}"
        )
    sums = [
        np.bincount(place, weights=array, minlength=len(names))
        for array in arrays
    ]
    return np.column_stack(sums), names


def resampled_sums(
    sums: Array,
    n_of: ArrayLike,
    seed: int,
    n_resamples: int,
) -> Array:
    """Sums over as many clusters drawn again, shape (n_resamples, n_columns); the seed decides the draw.

    sums: those of each different cluster, shape (n_different, n_columns); n_of: how many clusters are like it. Their
    order does not matter, and equal ones may stand apart: clusters with equal sums are drawn together, n of them with
    n / n_clusters, which has the multinomial distribution that drawing one by one has. Eleven thousand cases of two
    labelled instances differ in a handful of ways.
    """
    table = floats(sums)
    different, place = np.unique(table, axis=0, return_inverse=True)
    n = np.bincount(place.ravel(), floats(n_of), len(different))
    n_clusters = n.sum()
    if not n_clusters:
        return np.zeros((n_resamples, different.shape[1]))
    drawn = _drawn(tuple(n.astype(int).tolist()), seed, n_resamples)
    return floats(drawn @ different)


def resampled_rows(
    cluster: ArrayLike, seed: int, n_resamples: int
) -> Iterator[NDArray[np.intp]]:
    """Rows of as many clusters drawn again, once for each resample: for fits, which need more than sums.

    cluster: shape (n_rows,). A cluster that is drawn twice has its rows twice.
    """
    _, of_row = np.unique(np.asarray(cluster), return_inverse=True)
    members = [np.flatnonzero(of_row == c) for c in range(of_row.max() + 1)]
    chance = np.random.default_rng(seed)
    for _ in range(n_resamples):
        drawn = chance.integers(len(members), size=len(members))
        yield np.concatenate([members[c] for c in drawn])


@lru_cache(maxsize=16)
def _drawn(n_of: tuple[int, ...], seed: int, n_resamples: int) -> Array:
    """How often each kind of cluster is drawn, shape (n_resamples, n_kinds), read-only.

    The seed decides the draw, so a page that asks a dozen coefficients of the same labels draws once.
    """
    n_clusters = sum(n_of)
    shares = np.array(n_of) / n_clusters
    drawn = (
        np.random.default_rng(seed)
        .multinomial(n_clusters, shares, size=n_resamples)
        .astype(np.float64)
    )
    drawn.flags.writeable = False
    return drawn


def ratio_of_sums(part: ArrayLike, whole: ArrayLike) -> Array:
    """part / whole elementwise, nan if the whole is 0."""
    top = floats(part)
    bottom = floats(whole)
    value = np.full(top.shape, np.nan)
    np.divide(
        top,
        bottom,
        out=value,
        where=bottom != 0,
    )
    return value
