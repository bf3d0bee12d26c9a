"""Several runs of one instance taken together. Knows how many of them are right, not the question."""

from math import nan
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from crane_core.stats import resampling
from crane_core.stats.arrays import Array, floats


class VarianceShare(NamedTuple):
    """Share of the variance of right or wrong that lies between instances, with its interval; the rest is by run.

    Over n instances of n_clusters clusters; nan throughout where nothing varies.
    """

    between: float
    low: float
    high: float
    n: int
    n_clusters: int


def pass_at_k(
    n_right: ArrayLike,
    n_runs: ArrayLike,
    k: int,
) -> Array:
    """Chance that at least one of k runs is right, per instance (Chen et al. 2021, equation 1: unbiased).

        1 - C(n - c, k) / C(n, k)  =  1 - prod_{i = n - c + 1 .. n} (1 - k / i)

    n_right (c) and n_runs (n): shape (n_instances,). nan if there are fewer than k runs. Raises ValueError on an
    impossible count and on k below 1.
    """
    right, runs = _counts(n_right, n_runs)
    if k < 1:
        raise ValueError(f"k must be at least 1, not {k}")
    missed = np.ones(right.shape)
    for drawn in range(k):
        missed *= resampling.ratio_of_sums(
            np.maximum(runs - right - drawn, 0),
            np.where(runs > drawn, runs - drawn, 0),
        )
    return 1 - missed


def variance_share(
    n_right: ArrayLike,
    n_runs: int,
    cluster: ArrayLike,
    *,
    seed: int,
) -> VarianceShare:
    """One-way analysis of variance of right (1) or wrong (0) by instance, with the same number of runs of each.

        MSB = k sum (p_i - p)^2 / (n - 1),   MSW = k sum p_i (1 - p_i) / (n (k - 1))
        between = (MSB - MSW) / (MSB + (k - 1) MSW), cut to 0..1

    p_i the share of right runs of instance i, k runs of each: the intraclass correlation ICC(1) of Shrout and Fleiss
    (1979). n_right and cluster: shape (n,). The interval is the middle 95% of a bootstrap of whole clusters. Raises
    ValueError on fewer than two runs.
    """
    right, _ = _counts(n_right, n_runs)
    sums, _ = resampling.cluster_sums(
        cluster,
        np.ones(right.shape),
        right,
        right**2,
    )
    return variance_share_of_cases(
        sums,
        np.ones(len(sums)),
        n_runs,
        seed=seed,
    )


def variance_share_of_cases(
    sums: ArrayLike,
    n_cases: ArrayLike,
    n_runs: int,
    *,
    seed: int,
) -> VarianceShare:
    """`variance_share` from sums over the instances of a cluster, with the same interval.

    sums: shape (n_different, 3), of 1, of each instance's number of right runs, and of its square. n_cases: shape
    (n_different,), how many clusters are like that.
    """
    if n_runs < 2:
        raise ValueError("variance between runs needs at least two of them")
    parts, n_of = (
        floats(sums).reshape(-1, 3),
        floats(n_cases),
    )
    whole, n_clusters = n_of @ parts, int(n_of.sum())
    between = float(_icc(whole[None, :], n_runs)[0]) if n_clusters else nan
    if np.isnan(between):
        return VarianceShare(
            nan,
            nan,
            nan,
            int(whole[0]),
            n_clusters,
        )
    drawn = _icc(
        resampling.resampled_sums(
            parts,
            n_of,
            seed,
            resampling.N_RESAMPLES,
        ),
        n_runs,
    )
    tail = (1 - resampling.CONFIDENCE) / 2
    low, high = np.quantile(drawn[~np.isnan(drawn)], [tail, 1 - tail])
    return VarianceShare(
        between,
        float(low),
        float(high),
        int(whole[0]),
        n_clusters,
    )


def _icc(sums: Array, k: int) -> Array:
    """Of sums of 1, c and c^2 (c = k p), shape (n_rows, 3); nan if nothing varies or one instance is alone."""
    n, total, squares = (sums / [1, k, k**2]).T
    above = resampling.ratio_of_sums(
        k * (squares - total**2 / n), np.maximum(n - 1, 0)
    )
    within = k * (total - squares) / (n * (k - 1))
    whole = above + (k - 1) * within
    return np.clip(
        resampling.ratio_of_sums(
            above - within, np.where(whole > 1e-12, whole, 0)
        ),
        0,
        1,
    )


def _counts(n_right: ArrayLike, n_runs: ArrayLike) -> tuple[Array, Array]:
    right, runs = np.broadcast_arrays(
        floats(n_right),
        floats(n_runs),
    )
    if (right < 0).any() or (right > runs).any():
        raise ValueError(
            "the number of right runs must be between 0 and the number of runs"
        )
    return right, runs
