"""Items that belong together: intraclass correlation, design effect, effective sample size, margin.

Knows values and the cluster of each; refuses to know what a cluster is. Verdicts of one case are alike, so n of them
tell less about further cases than n independent ones would.

Sources: Kish 1965, Survey Sampling, deff = 1 + (m - 1) rho; for unequal sizes m_i the size that the average item
meets, m = sum m_i^2 / sum m_i (Gabler, Haeder and Lahiri 1999, Survey Methodology 25, with equal weights); the one-way
ANOVA estimate of rho for unequal sizes (Donner and Koval 1980, Biometrics 36).
"""

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from crane_core.stats import resampling, sample_size
from crane_core.stats.arrays import Array, floats


class Estimate(NamedTuple):
    """A value with its interval. `n` items in `n_clusters` clusters; `n_undefined` resamples had no value."""

    value: float
    low: float
    high: float
    n: int
    n_clusters: int
    n_undefined: int


class DesignEffect(NamedTuple):
    """n items in n_clusters clusters; `size` is m, the average item's cluster; `n_effective` = n / deff."""

    n: int
    n_clusters: int
    size: float
    deff: float
    n_effective: float


def design_effect(sizes: Sequence[int], rho: float) -> DesignEffect:
    """Kish's design effect of clusters of these sizes, each 1 or more; rho in 0..1 (below 0 counts as 0).

    A negative estimate of rho would make clustered items weigh more than independent ones, which is not a safe
    assumption for planning. Raises ValueError without clusters, for an empty one, and for rho above 1 or nan.
    """
    if not sizes or min(sizes) < 1 or not rho <= 1:
        raise ValueError("cluster sizes must be at least 1, and rho at most 1")
    n = sum(sizes)
    size = sum(m * m for m in sizes) / n
    # Below 0 by chance only: items of one case are not more unlike than those of two.
    deff = 1 + (size - 1) * max(rho, 0.0)
    return DesignEffect(
        n,
        len(sizes),
        size,
        deff,
        n / deff,
    )


def intraclass_correlation(
    values: ArrayLike,
    cluster: ArrayLike,
    *,
    seed: int,
    n_resamples: int = resampling.N_RESAMPLES,
) -> Estimate:
    """How alike values of one cluster are, -1..1, with a percentile interval from resampled clusters.

        rho = (MSB - MSW) / (MSB + (m0 - 1) MSW),   m0 = (n - sum m_i^2 / n) / (k - 1)

    with MSB and MSW the mean squares between and within k clusters of sizes m_i. values, cluster: shape (n,); for a
    label as a value take 1 and 0. nan if there is one cluster only, where every cluster has one item, and where all
    values are the same.
    """
    of_items = floats(values)
    ones = np.ones(of_items.shape)
    sums, _ = resampling.cluster_sums(
        cluster,
        ones,
        of_items,
        of_items**2,
    )
    return _correlation(
        sums,
        np.ones(len(sums)),
        seed,
        n_resamples,
    )


def correlation_of_cases(
    right: ArrayLike,
    asked: ArrayLike,
    n_cases: ArrayLike,
    *,
    seed: int,
) -> Estimate:
    """`intraclass_correlation` of values 1 and 0 from counts, with the same interval.

    right, asked, n_cases: shape (n_different,), how many values of a cluster are 1, how many it has (1 or more), and
    how many clusters are like that.
    """
    ones = floats(right)
    sums = np.column_stack([floats(asked), ones, ones])
    n_of = floats(n_cases)
    return _correlation(
        sums,
        n_of,
        seed,
        resampling.N_RESAMPLES,
    )


def _correlation(
    sums: Array,
    n_of: Array,
    seed: int,
    n_resamples: int,
) -> Estimate:
    """sums: m_i, total_i and the sum of squares of a cluster, a row for `n_of` clusters each."""
    sizes, totals = sums[:, 0], sums[:, 1]
    ones = np.ones(len(sums))
    means_squared = resampling.ratio_of_sums(totals**2, sizes)
    parts = np.column_stack([ones, sums, sizes**2, means_squared])
    drawn = _anova_rho(
        resampling.resampled_sums(
            parts,
            n_of,
            seed,
            n_resamples,
        )
    )
    defined = drawn[~np.isnan(drawn)]
    low, high = np.nan, np.nan
    if len(defined):
        tail = (1 - resampling.CONFIDENCE) / 2
        low, high = np.quantile(defined, [tail, 1 - tail])
    whole = n_of @ parts
    return Estimate(
        value=float(_anova_rho(whole)),
        low=float(low),
        high=float(high),
        n=int(whole[1]),
        n_clusters=int(whole[0]),
        n_undefined=n_resamples - len(defined),
    )


def _anova_rho(parts: Array) -> Array:
    """parts: shape (..., 6), sums over clusters of 1, m_i, total_i, sum of squares, m_i^2 and total_i^2 / m_i."""
    k, n, total, squares, sizes_squared, means_squared = np.moveaxis(
        parts, -1, 0
    )
    of_whole = resampling.ratio_of_sums(total**2, n)
    between = resampling.ratio_of_sums(means_squared - of_whole, k - 1)
    within = resampling.ratio_of_sums(squares - means_squared, n - k)
    own_size = resampling.ratio_of_sums(sizes_squared, n)
    size = resampling.ratio_of_sums(n - own_size, k - 1)
    spread = between + (size - 1) * within
    return resampling.ratio_of_sums(between - within, spread)


def margin(
    n: float,
    *,
    population: int | None = None,
) -> float:
    """Half width of a share's interval from n independent items, as a share; Equation 1 of the paper solved for E.

        E = z sqrt(p (1 - p) / n (N - n) / (N - 1)),   p = 0.5

    Without a population, or for further items than those of the population, N is infinite. n is above 0 and may be an
    effective sample size; the whole population has a margin of 0.
    """
    is_too_many = population is not None and n > population
    if not n > 0 or is_too_many:
        raise ValueError("n must be above 0 and at most the population")
    rest = 1.0
    if population is not None:
        # The correction for a finite population, 0 when all of it is seen.
        rest = (population - n) / max(population - 1, 1)
    # The widest interval is that of a share of 50%.
    return sample_size.Z_95 * sqrt(0.25 / n * rest)
