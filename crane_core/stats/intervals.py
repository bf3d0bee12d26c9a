"""Confidence intervals of rates. Knows counts and per-instance sums; refuses to know what they are sums of.

Wilson's interval is for independent trials (one run per item). Where instances belong together (a case's crashing and
fixed notebook, its five runs) whole cases are drawn anew: the percentile bootstrap clustered by case.
"""

from functools import lru_cache
from math import sqrt
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

N_RESAMPLES = 2000
CONFIDENCE = 0.95


class Interval(NamedTuple):
    low: float
    high: float


class Estimate(NamedTuple):
    """A value with its interval. `n` instances in `n_clusters` clusters; `n_undefined` resamples had no value."""

    value: float
    low: float
    high: float
    n: int
    n_clusters: int
    n_undefined: int


def wilson(successes: int, n: int, *, confidence: float = CONFIDENCE) -> Interval:
    """Wilson's score interval of a share (Wilson 1927). No trial at all leaves the whole range, (0, 1)."""
    return wilson_share(successes / n if n else 0.0, n, confidence=confidence)


def wilson_share(share: float, n: int, *, confidence: float = CONFIDENCE) -> Interval:
    """Wilson's score interval around a share of `n` that need not be a whole number of successes.

        (p + z^2 / 2n  -+  z sqrt(p (1 - p) / n + z^2 / 4n^2)) / (1 + z^2 / n)

    For a rate whose clusters all say the same: the bootstrap has nothing to vary there, and its width of 0 would read
    as certainty. With n the number of clusters this is what that many agreeing cases tell. (0, 1) for n = 0.
    """
    if n == 0:
        return Interval(0.0, 1.0)
    z = -NormalDist().inv_cdf((1 - confidence) / 2)
    middle = share + z**2 / (2 * n)
    reach = z * sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return Interval(max(0.0, (middle - reach) / (1 + z**2 / n)), min(1.0, (middle + reach) / (1 + z**2 / n)))


def clustered_rate(
    part: ArrayLike,
    whole: ArrayLike,
    cluster: ArrayLike,
    *,
    seed: int,
    n_resamples: int = N_RESAMPLES,
    confidence: float = CONFIDENCE,
) -> Estimate:
    """The rate sum(part) / sum(whole) with a percentile interval from resampled clusters.

    part, whole: shape (n,), each instance's share in both sums (a `rates.Ratio` of `confusion_parts`). cluster:
    shape (n,), the case of each. Resamples whose whole is 0 have no value: they are counted and left out.
    Degenerate: no instance or no whole gives nan throughout; a single cluster gives an interval of width 0, as the
    bootstrap has nothing to vary, so show `n_clusters` beside it.
    """
    sums, index = cluster_sums(cluster, part, whole)
    drawn = resampled_counts(len(index), seed, n_resamples) @ sums
    value = ratio_of_sums(sums[:, 0].sum(), sums[:, 1].sum())
    return _estimate(value, ratio_of_sums(drawn[:, 0], drawn[:, 1]), cluster, len(index), confidence)


def clustered_difference(
    part_a: ArrayLike,
    whole_a: ArrayLike,
    part_b: ArrayLike,
    whole_b: ArrayLike,
    cluster: ArrayLike,
    *,
    seed: int,
    n_resamples: int = N_RESAMPLES,
    confidence: float = CONFIDENCE,
) -> Estimate:
    """Rate B minus rate A of the same instances, in -1..1, with a percentile interval from resampled clusters.

    All arrays have shape (n,) and one order of instances: both conditions are drawn together, so what they share
    cancels. Conventions as in `clustered_rate`.
    """
    sums, index = cluster_sums(cluster, part_a, whole_a, part_b, whole_b)
    drawn = resampled_counts(len(index), seed, n_resamples) @ sums
    whole = sums.sum(axis=0)
    value = ratio_of_sums(whole[2], whole[3]) - ratio_of_sums(whole[0], whole[1])
    differences = ratio_of_sums(drawn[:, 2], drawn[:, 3]) - ratio_of_sums(drawn[:, 0], drawn[:, 1])
    return _estimate(value, differences, cluster, len(index), confidence)


def cluster_sums(cluster: ArrayLike, *columns: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.generic]]:
    """Sums per cluster, shape (n_clusters, n_columns), and the clusters in sorted order."""
    names, place = np.unique(np.asarray(cluster), return_inverse=True)
    arrays = [np.asarray(column, dtype=np.float64) for column in columns]
    if any(array.shape != place.shape for array in arrays):
        raise ValueError(f"{len(place)} cluster labels for columns of shapes {[array.shape for array in arrays]}")
    sums = [np.bincount(place, weights=array, minlength=len(names)) for array in arrays]
    return np.column_stack(sums), names


@lru_cache(maxsize=16)
def resampled_counts(n_clusters: int, seed: int, n_resamples: int) -> NDArray[np.float64]:
    """How often each cluster is drawn, shape (n_resamples, n_clusters), read-only; every row sums to n_clusters.

    The seed decides the draw, so a page that asks dozens of questions of the same cases draws them once.
    """
    if n_clusters == 0:
        return np.zeros((n_resamples, 0))
    chosen = np.random.default_rng(seed).integers(n_clusters, size=(n_resamples, n_clusters))
    chosen += np.arange(n_resamples)[:, None] * n_clusters
    counts = np.bincount(chosen.ravel(), minlength=n_resamples * n_clusters)
    drawn = counts.reshape(n_resamples, n_clusters).astype(np.float64)
    drawn.flags.writeable = False
    return drawn


def ratio_of_sums(part: ArrayLike, whole: ArrayLike) -> NDArray[np.float64]:
    """part / whole elementwise, nan where the whole is 0."""
    top, bottom = np.asarray(part, dtype=np.float64), np.asarray(whole, dtype=np.float64)
    value = np.full(top.shape, np.nan)
    np.divide(top, bottom, out=value, where=bottom != 0)
    return value


def _estimate(
    value: NDArray[np.float64], drawn: NDArray[np.float64], cluster: ArrayLike, n_clusters: int, confidence: float
) -> Estimate:
    defined = drawn[~np.isnan(drawn)]
    tail = (1 - confidence) / 2
    low, high = np.quantile(defined, [tail, 1 - tail]) if len(defined) else (np.nan, np.nan)
    n_undefined = len(drawn) - len(defined)
    return Estimate(float(value), float(low), float(high), np.size(np.asarray(cluster)), n_clusters, n_undefined)
