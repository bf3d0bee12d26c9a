"""Whether a stated confidence comes true: Brier score, reliability diagram, and the risk of the surest answers.

Knows probabilities, outcomes and clusters. scikit-learn computes the points; intervals are by cluster (`intervals`).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from crane_core.stats.arrays import Array, floats
from crane_core.stats.intervals import RateEstimate, clustered_rate

N_BINS = 10
"""Of equal width, as in most published diagrams (Guo et al. 2017)."""
MOST_POINTS = 100
"""Of a risk-coverage curve."""


class ReliabilityPoint(NamedTuple):
    """Answers whose confidence lies in one bin: its mean, in 0..1, and how often they are right."""

    stated: float
    right: RateEstimate


class RiskPoint(NamedTuple):
    """The answers of at least this confidence: their share of all, and how often they are wrong."""

    threshold: float
    coverage: float
    risk: RateEstimate


def brier_score(
    confidence: ArrayLike, is_right: ArrayLike, cluster: ArrayLike
) -> RateEstimate:
    """The mean of (confidence - right)^2, 0 at best, with its 95% interval by cluster; always saying 50% has 0.25.

    confidence: probabilities in 0..1; is_right: 0 or 1; cluster: the case of each; all of shape (n,). Brier 1950.
    Squared errors lie in 0..1, so the interval is that of a rate. nan without an answer.
    """
    # scikit-learn takes a second to load, and only runs with a confidence need it.
    from sklearn.metrics import brier_score_loss

    stated, right = _checked(confidence, is_right)
    squared = (stated - right) ** 2
    found = clustered_rate(squared, np.ones(len(squared)), cluster)
    if not len(stated):
        return found
    value = float(brier_score_loss(right, stated, pos_label=1))
    return found._replace(value=value)


def reliability_points(
    confidence: ArrayLike, is_right: ArrayLike, cluster: ArrayLike
) -> list[ReliabilityPoint]:
    """A point per bin that holds an answer, from the lowest confidence to the highest. Arrays as for `brier_score`."""
    from sklearn.calibration import calibration_curve

    stated, right = _checked(confidence, is_right)
    if not len(stated):
        return []
    edges = np.linspace(0.0, 1.0, N_BINS + 1)
    # The rule of `calibration_curve`, so that its points and our intervals are about the same answers.
    bin_of = np.searchsorted(edges[1:-1], stated)
    _, means = calibration_curve(right, stated, n_bins=N_BINS, pos_label=1)
    cases = np.asarray(cluster)
    points = []
    for place, mean in zip(np.unique(bin_of), means, strict=True):
        is_in = bin_of == place
        is_right_here = right[is_in]
        rate = clustered_rate(
            is_right_here,
            np.ones_like(is_right_here),
            cases[is_in],
        )
        points.append(ReliabilityPoint(float(mean), rate))
    return points


def risk_coverage_points(
    confidence: ArrayLike, is_right: ArrayLike, cluster: ArrayLike
) -> list[RiskPoint]:
    """A point per different confidence, from the highest to the lowest; the last one keeps every answer.

    Of more than MOST_POINTS different ones (probabilities of tokens hardly repeat), each hundredth of the answers has a
    point. Arrays as for `brier_score`. El-Yaniv and Wiener 2010.
    """
    stated, right = _checked(confidence, is_right)
    cases = np.asarray(cluster)
    thresholds = np.unique(stated)
    if len(thresholds) > MOST_POINTS:
        nth = np.arange(1, MOST_POINTS + 1)
        n_kept = np.ceil(nth * len(stated) / MOST_POINTS)
        surest_first = np.sort(stated)[::-1]
        thresholds = surest_first[n_kept.astype(int) - 1]
        thresholds = np.unique(thresholds)
    points = []
    for threshold in thresholds[::-1]:
        is_kept = stated >= threshold
        wrong = 1 - right[is_kept]
        risk = clustered_rate(
            wrong,
            np.ones_like(wrong),
            cases[is_kept],
        )
        point = RiskPoint(
            threshold=float(threshold),
            coverage=float(is_kept.mean()),
            risk=risk,
        )
        points.append(point)
    return points


def _checked(confidence: ArrayLike, is_right: ArrayLike) -> tuple[Array, Array]:
    stated = floats(confidence)
    right = floats(is_right)
    if stated.shape != right.shape:
        raise ValueError(
            f"{stated.shape} confidences for {right.shape} outcomes"
        )
    if not ((stated >= 0) & (stated <= 1)).all():
        raise ValueError("a confidence is not within 0 to 1")
    return stated, right
