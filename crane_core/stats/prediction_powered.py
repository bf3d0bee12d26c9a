"""A share from few labels of people and many of a judge. Knows numbers from 0 to 1; refuses to know what they say.

Prediction-powered inference (Angelopoulos et al. 2023, Science 382; its tuned form, PPI++: Angelopoulos, Duchi and
Zrnic 2023, equations 1 and 8): what the judge says of everything, corrected by how far it was off where a person said
it too. Valid however bad the judge is, if people labelled a random sample; a good judge narrows the interval.
"""

from math import nan
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from crane_core.stats.arrays import Array, floats
from crane_core.stats.intervals import student_quantile, wilson
from crane_core.stats.resampling import cluster_sums


class PoweredShare(NamedTuple):
    """A share with its interval from `n` labels of a person and `n_more` of the judge alone, of `n_clusters` cases.

    weight: how much the judge counts, in 0..1; 0 where it says nothing about the person's labels.
    """

    value: float
    low: float
    high: float
    n: int
    n_more: int
    n_clusters: int
    weight: float


def powered_share(
    human: ArrayLike,
    judge: ArrayLike,
    judge_alone: ArrayLike,
    cluster: ArrayLike,
    cluster_alone: ArrayLike,
) -> PoweredShare:
    """The mean of what a person would say of everything.

        theta = w mean(judge_alone) + mean(human - w judge),   w = cov(human, judge) / ((1 + n / N) var(judge)) in 0..1

    human, judge: shape (n,), 0 to 1 for the same items; judge_alone: shape (N,), for further items. cluster,
    cluster_alone: the case of each. The variance is that of the linearised sums of cases, but not below that of items
    that are independent; the interval is Wilson's for the number of labels that would have it, as in
    `intervals.clustered_rate`. nan without a person's label.
    """
    y = floats(human)
    f = floats(judge)
    alone = floats(judge_alone)
    n = len(y)
    n_more = len(alone)
    if not n:
        return PoweredShare(
            nan,
            nan,
            nan,
            0,
            n_more,
            0,
            0.0,
        )
    weight = _weight(y, f, alone)
    corrected = y - weight * f
    value = min(
        max(
            float(
                corrected.mean() + (weight * alone.mean() if n_more else 0.0)
            ),
            0.0,
        ),
        1.0,
    )
    summands = np.concatenate(
        [
            (corrected - corrected.mean()) / n,
            _centred(alone) * weight / max(n_more, 1),
        ]
    )
    names = np.concatenate(
        [np.asarray(cluster).astype(str), np.asarray(cluster_alone).astype(str)]
    )
    sums = cluster_sums(names, summands)[0][:, 0]
    # Only cases that a person labelled tell how far the judge is off.
    n_labelled = len(set(names[:n].tolist()))
    n_clusters = len(sums)
    variance = (
        n_clusters / (n_clusters - 1) * float(sums @ sums)
        if n_clusters > 1
        else 0.0
    )
    apart = float(corrected.var()) / n + weight**2 * float(
        alone.var() if n_more else 0.0
    ) / max(n_more, 1)
    spread = value * (1 - value)
    effective = (
        min(spread / apart, spread / variance)
        if apart > 0 and variance > 0
        else n_labelled
    )
    low, high = wilson(
        value,
        max(effective, n_labelled),
        student_quantile(n_labelled - 1),
    )
    return PoweredShare(
        value,
        low,
        high,
        n,
        n_more,
        n_clusters,
        weight,
    )


def _weight(
    y: Array,
    f: Array,
    alone: Array,
) -> float:
    if len(y) < 2 or not len(alone):
        return 0.0
    spread = float(np.concatenate([f, alone]).var())
    if spread == 0:
        return 0.0
    alike = float(np.cov(y, f, ddof=1)[0, 1])
    return min(max(alike / ((1 + len(y) / len(alone)) * spread), 0.0), 1.0)


def _centred(values: Array) -> Array:
    return values - values.mean() if len(values) else values
