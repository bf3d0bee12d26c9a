"""Whether groups gain alike from a treatment: logistic regression by generalized estimating equations (GEE).

    logit P(right) = a_g + b_g treated    for an instance of group g

Knows arrays of outcomes and clusters, not what they are of. Every group has an intercept and its own effect, so
the fitted shares are the observed ones and exp(b_g) is the odds ratio of the group's 2x2 table. What the estimating
equations (Liang and Zeger 1986) add is a covariance that lets all outcomes of one cluster depend on each other in any
way, across groups too. The working correlation is independence; the covariance is the sandwich with Mancl and
DeRouen's correction for few clusters (2001). Outcomes may be shares in 0..1 (Papke and Wooldridge 1996).

A model with a share for every cell needs no iterations: sums per cluster and cell give all of it. statsmodels, which
the tests compare with, solves a system per cluster instead, 10 s for 11,000 of them.
"""

from enum import StrEnum
from math import nan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crane_core.stats.arrays import Array, floats
from crane_core.stats.resampling import CONFIDENCE, ratio_of_sums

LEAST_CHANGED = 5
"""Clusters in which the treatment changes something that an effect needs: of fewer, single cases decide."""
_SINGULAR = 1e-9
"""Eigenvalue below which a covariance (of logarithms of odds) counts as singular, or that share of its largest."""


class Unfit(StrEnum):
    """Why a model has no numbers."""

    ONE_GROUP = "a single group"
    FEW_CLUSTERS = "too few clusters"
    SEPARATED = "all outcomes of a group are right, or all are wrong"
    FEW_CHANGED = "the treatment changes outcomes in too few clusters"
    NO_VARIANCE = "no variance of the effects"


class OddsRatios(NamedTuple):
    """The effect of each group, and the Wald test that all groups have the same.

    groups: shape (n_groups,), sorted. odds_ratio, low, high: the same shape. chi2, df, p_value: of the test. n outcomes
    of n_clusters clusters. unfit: why there are no numbers (they are nan then), and unfit_groups: of which groups.
    """

    groups: NDArray[np.generic]
    odds_ratio: Array
    low: Array
    high: Array
    chi2: float
    df: int
    p_value: float
    n: int
    n_clusters: int
    unfit: Unfit | None = None
    unfit_groups: tuple[str, ...] = ()


def odds_ratios(
    right: ArrayLike,
    treated: ArrayLike,
    group: ArrayLike,
    cluster: ArrayLike,
) -> OddsRatios:
    """The odds ratio of `treated` in each group with its Wald interval, and the Wald test of group x treated.

    All arrays have shape (n,): right in 0..1, treated a boolean, group and cluster the name of each. No numbers for a
    single group, for a group that is always right or always wrong with the treatment or without (its odds have no
    bound), for too few clusters, for a group whose share of right outcomes the treatment changes in fewer than
    LEAST_CHANGED clusters, and for effects that cannot be distinguished (two groups with the same outcomes). Raises
    ValueError on unequal lengths or outcomes outside 0..1.
    """
    y = floats(right)
    with_it = np.asarray(treated, dtype=bool)
    names, place = np.unique(np.asarray(group), return_inverse=True)
    cases, case = np.unique(np.asarray(cluster), return_inverse=True)
    lengths = [len(array) for array in (y, with_it, place, case)]
    if len(set(lengths)) > 1:
        raise ValueError(f"unequal lengths: {', '.join(map(str, lengths))}")
    if not ((y >= 0) & (y <= 1)).all():
        raise ValueError("an outcome must be between 0 and 1")
    # Loaded with the first model, not with the app: it takes half a second.
    from scipy.special import chdtrc, ndtri

    k = len(names)
    unknown = np.full(k, nan)
    found = OddsRatios(
        groups=names,
        odds_ratio=unknown,
        low=unknown,
        high=unknown,
        chi2=nan,
        df=max(k - 1, 0),
        p_value=nan,
        n=len(y),
        n_clusters=len(cases),
    )
    cell = 2 * place + with_it
    why, where = _cannot_fit(
        y,
        cell,
        case,
        k,
    )
    if why:
        blamed = tuple(str(names[index]) for index in where)
        return found._replace(unfit=why, unfit_groups=blamed)
    shares = np.bincount(cell, y) / np.bincount(cell)
    effect = np.kron(np.eye(k), [-1.0, 1.0])
    log_ratio = effect @ np.log(shares / (1 - shares))
    covariance = (
        effect
        @ _covariance(
            y,
            cell,
            case,
            shares,
        )
        @ effect.T
    )
    # The first group minus each other one; which one is the reference does not change the test.
    contrast = np.hstack([np.ones((k - 1, 1)), -np.eye(k - 1)])
    of_contrast = contrast @ covariance @ contrast.T
    if _is_singular(covariance) or _is_singular(of_contrast):
        return found._replace(unfit=Unfit.NO_VARIANCE)
    quantile = float(ndtri((1 + CONFIDENCE) / 2))
    reach = quantile * np.sqrt(np.diag(covariance))
    differ = contrast @ log_ratio
    chi2 = float(differ @ np.linalg.solve(of_contrast, differ))
    return found._replace(
        odds_ratio=np.exp(log_ratio),
        low=np.exp(log_ratio - reach),
        high=np.exp(log_ratio + reach),
        chi2=chi2,
        p_value=float(chdtrc(k - 1, chi2)),
    )


def _cannot_fit(
    y: Array,
    cell: NDArray[Any],
    case: NDArray[Any],
    k: int,
) -> tuple[Unfit | None, list[int]]:
    """Why there is nothing to fit and which groups are to blame; cell 2g holds group g untreated, 2g + 1 treated.

    A cell whose outcomes are of one cluster leaves the correction nothing to measure.
    """
    if k < 2:
        return Unfit.ONE_GROUP, []
    lonely, separated = set(), set()
    for index in range(2 * k):
        is_here = cell == index
        outcomes = y[is_here]
        if len(np.unique(case[is_here])) < 2:
            lonely.add(index // 2)
        if (outcomes == 0).all() or (outcomes == 1).all():
            separated.add(index // 2)
    if lonely or case.max() < 2 * k:
        return Unfit.FEW_CLUSTERS, sorted(lonely)
    if separated:
        return Unfit.SEPARATED, sorted(separated)
    steady = [
        group
        for group in range(k)
        if _n_changed(
            y,
            cell,
            case,
            group,
        )
        < LEAST_CHANGED
    ]
    return (Unfit.FEW_CHANGED, steady) if steady else (None, [])


def _n_changed(
    y: Array,
    cell: NDArray[Any],
    case: NDArray[Any],
    group: int,
) -> int:
    """Clusters whose share of right outcomes differs between the two cells of a group; those of one cell count too."""
    n_cases = int(case.max()) + 1
    shares = []
    for index in (2 * group, 2 * group + 1):
        mine = case[cell == index]
        n_right = np.bincount(mine, y[cell == index], n_cases)
        n_asked = np.bincount(mine, minlength=n_cases)
        shares.append(ratio_of_sums(n_right, n_asked))
    without, with_it = shares
    is_there = ~(np.isnan(without) & np.isnan(with_it))
    # Shares of votes that are equal may differ in their last digit.
    is_same = np.isclose(
        without,
        with_it,
        rtol=0,
        atol=1e-9,
    )
    return int(np.count_nonzero(is_there & ~is_same))


def _covariance(
    y: Array,
    cell: NDArray[Any],
    case: NDArray[Any],
    shares: Array,
) -> Array:
    """The covariance of the logits of the cells, shape (2k, 2k): B^-1 M B^-1 with B = diag(n_c p_c q_c), M = U'U.

        u_ic = n_c / (n_c - m_ic) sum_j (y_j - p_c)    over the m_ic outcomes of cluster i in cell c

    Of a model with a parameter per cell, a cluster's leverage is 1 / n_c between two of its outcomes in one cell and 0
    otherwise, so Mancl and DeRouen's (I - H_i)^-1 is the factor before the sum.
    """
    n_cells = len(shares)
    shape = (int(case.max()) + 1, n_cells)
    size = shape[0] * n_cells
    place = case * n_cells + cell
    counts = np.bincount(place, minlength=size).reshape(shape)
    residuals = np.bincount(place, y - shares[cell], size).reshape(shape)
    of_cell = counts.sum(axis=0)
    corrected = residuals * of_cell / (of_cell - counts)
    scores = corrected / (of_cell * shares * (1 - shares))
    covariance: Array = scores.T @ scores
    return covariance


def _is_singular(covariance: Array) -> bool:
    if not np.isfinite(covariance).all():
        return True
    values = np.linalg.eigvalsh(covariance)
    return bool(values[0] <= _SINGULAR * max(values[-1], 1.0))
