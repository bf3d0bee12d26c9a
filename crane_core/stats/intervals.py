"""Confidence intervals of rates and of their differences, valid for few cases too. Knows sums and clusters.

Instances of one case are alike (its crashing and its fixed notebook), so what varies is measured between cases: the
linearised sums of each (Binder 1983), with Student's quantile for n - 1 cases. A variance from a few cases that all
say the same is 0, which is not certainty, so no interval rests on it alone:

- a rate has Wilson's score interval (1927) for its effective number of instances (Korn and Graubard 1998; Dean and
  Pagano 2015), which lies between the number of cases and the number of instances;
- a difference has Bonett and Price's idea (2012), by which the sample is joined by imaginary pairs that differ: here
  by one imaginary case more that turned either way, so that its mean is 0 and its variance that of one instance in k.

`python -m benchmarks.interval_coverage` prints how often they hold the truth.
"""

from collections.abc import Sequence
from functools import lru_cache
from math import nan, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from crane_core.stats.arrays import Array, floats
from crane_core.stats.resampling import CONFIDENCE, Interval, cluster_sums


class RateEstimate(NamedTuple):
    """A value with its interval, over `n` instances of `n_clusters` clusters; nan throughout where it is undefined."""

    value: float
    low: float
    high: float
    n: int
    n_clusters: int


UNDEFINED = RateEstimate(nan, nan, nan, n=0, n_clusters=0)
"""A rate or difference over nothing."""
ROUNDING = 1e-12
"""Share of the whole below which a case differs from the others by rounding alone: cases that are alike must count so,
whatever the last digit of their rate."""


def clustered_rate(
    part: ArrayLike,
    whole: ArrayLike,
    cluster: ArrayLike,
    *,
    confidence: float = CONFIDENCE,
) -> RateEstimate:
    """The rate sum(part) / sum(whole) with Wilson's interval for its effective number of instances.

        n_eff = p (1 - p) / v,   v = n / (n - 1) sum_i (part_i - p whole_i)^2 / (sum_i whole_i)^2

    over n clusters i; n_eff is at least the number of clusters (all instances of one alike) and at most the number of
    instances, both counted as Kish does for unequal weights: (sum w)^2 / sum w^2. Student's quantile for n - 1.

    part, whole: shape (n,), each instance's share in both sums (a `rates.Ratio` of `confusion_parts`), with
    0 <= part <= whole. cluster: shape (n,), the case of each. Instances whose whole is 0 do not count. One case leaves
    the whole range, (0, 1).
    """
    sums, counted = _counted(
        cluster,
        whole,
        part,
        whole,
    )
    return _rate(
        sums,
        len(counted),
        _kish(counted),
        confidence,
    )


def rate_of_cases(right: ArrayLike, asked: ArrayLike) -> RateEstimate:
    """`clustered_rate` of counts per cluster, for instances of equal weight.

    right, asked: shape (n_clusters,), the sum of what the cluster's instances have right, in 0..1 each, and how many
    instances it has; clusters without one do not count.
    """
    sums = _asked_of(asked, right, asked)
    n = int(sums[:, 1].sum())
    return _rate(
        sums,
        n,
        float(n),
        CONFIDENCE,
    )


def _asked_of(asked: ArrayLike, *columns: ArrayLike) -> Array:
    is_asked = floats(asked) > 0
    table = np.column_stack([*columns]).astype(np.float64)
    return table[is_asked]


def _rate(
    sums: Array,
    n_instances: int,
    most: float,
    confidence: float,
) -> RateEstimate:
    """sums: part and whole of each cluster, shape (n_clusters, 2). most: the effective number of instances."""
    n = len(sums)
    total_part, total = sums.sum(axis=0)
    if not total:
        return UNDEFINED
    share = min(max(float(total_part / total), 0.0), 1.0)
    left = sums[:, 0] - share * sums[:, 1]
    left[np.abs(left) < ROUNDING * total] = 0.0
    variance = 0.0
    if n > 1:
        variance = n / (n - 1) * _squares(left) / total**2
    fewest = _kish(sums[:, 1])
    effective = fewest
    if variance > 0:
        effective = share * (1 - share) / variance
    # Between Kish's number of cases and that of instances: an estimate from few cases may lie outside.
    effective = min(max(effective, fewest), max(most, fewest))
    quantile = student_quantile(n - 1, confidence)
    low, high = wilson(share, effective, quantile)
    return RateEstimate(
        share,
        low,
        high,
        n_instances,
        n,
    )


def clustered_difference(
    part_a: ArrayLike,
    whole_a: ArrayLike,
    part_b: ArrayLike,
    whole_b: ArrayLike,
    cluster: ArrayLike,
) -> RateEstimate:
    """Rate B minus rate A of the same instances, in -1..1, with an interval that is never without width.

        m -+ t sqrt(v / (n + 1)),   m = n d / (n + 1),   v = (sum_i u_i^2 + n d^2 + 1 / k) / (n + 1) - m^2

    with d the difference, u_i the linearised contribution of cluster i (its own difference minus d, where all rates
    are over the same instances), k instances to a cluster and t Student's quantile for n - 1. All arrays have shape
    (n,) and one order of instances: what both conditions share cancels. Cut to -1..1; one case leaves the whole range.
    """
    return clustered_contrast(
        (-1.0, 1.0),
        (part_a, part_b),
        (whole_a, whole_b),
        cluster,
    )


def clustered_contrast(
    weights: Sequence[float],
    parts: Sequence[ArrayLike],
    wholes: Sequence[ArrayLike],
    cluster: ArrayLike,
) -> RateEstimate:
    """A weighted sum of rates of the same instances, such as one change minus another, with its interval.

    The formula of `clustered_difference`, which is the contrast of weights (-1, 1), with u_i the sum over the rates of
    weight times linearised contribution. weights: one per rate; parts and wholes: one array of shape (n,) per rate, in
    one order of instances, whose whole is 0 where the rate is not over the instance. Cut to what the weights allow.
    nan if a rate is undefined.
    """
    rates = clustered_rates(parts, wholes, cluster)
    return rates.contrast(weights)


class ClusteredRates(NamedTuple):
    """Rates of the same instances, summed once for any number of contrasts.

    sums: part and whole of each rate in turn, a row per cluster. effective: n_instances by Kish's formula.
    """

    sums: Array
    n_instances: int
    effective: float

    def contrast(self, weights: Sequence[float]) -> RateEstimate:
        """As `clustered_contrast`."""
        return _contrast(
            weights,
            self.sums,
            self.n_instances,
            self.effective,
        )


def clustered_rates(
    parts: Sequence[ArrayLike],
    wholes: Sequence[ArrayLike],
    cluster: ArrayLike,
) -> ClusteredRates:
    """The sums that `clustered_contrast` needs of the same arrays."""
    columns: list[Array] = []
    for part, whole in zip(parts, wholes, strict=True):
        columns += [floats(part)]
        columns += [floats(whole)]
    largest_whole = np.max(columns[1::2], axis=0)
    sums, counted = _counted(cluster, largest_whole, *columns)
    return ClusteredRates(sums, len(counted), _kish(counted))


def difference_of_cases(
    right_a: ArrayLike,
    right_b: ArrayLike,
    asked: ArrayLike,
) -> RateEstimate:
    """`clustered_difference` of counts per cluster, as for `rate_of_cases`; `asked` is that of both conditions."""
    sums = _asked_of(
        asked,
        right_a,
        asked,
        right_b,
        asked,
    )
    n = int(sums[:, 1].sum())
    return _contrast(
        (-1.0, 1.0),
        sums,
        n,
        float(n),
    )


def _contrast(
    weights: Sequence[float],
    sums: Array,
    n_instances: int,
    effective: float,
) -> RateEstimate:
    """sums: part and whole of each rate in turn, a row per cluster."""
    n = len(sums)
    parts = sums[:, ::2]
    wholes = sums[:, 1::2]
    total = sums.sum(axis=0)
    total_parts = total[::2]
    total_wholes = total[1::2]
    if not total_wholes.all():
        return UNDEFINED
    rates = total_parts / total_wholes
    value = 0.0
    moved = np.zeros(n)
    for j, weight in enumerate(weights):
        value += weight * float(rates[j])
        left = parts[:, j] - rates[j] * wholes[:, j]
        moved += weight * n * left / total_wholes[j]
    # The imaginary case differs in one of its k instances.
    per_cluster = max(effective / n, 1.0)
    middle = n * value / (n + 1)
    squares = _squares(moved) + n * value**2 + 1 / per_cluster
    variance = squares / (n + 1) - middle**2
    reach = student_quantile(n - 1) * sqrt(variance / (n + 1))
    least = sum(min(weight, 0.0) for weight in weights)
    most = sum(max(weight, 0.0) for weight in weights)
    # The middle is drawn towards 0, so the interval could otherwise leave out the value itself.
    low = max(min(middle - reach, value), least)
    high = min(max(middle + reach, value), most)
    return RateEstimate(
        value,
        low,
        high,
        n_instances,
        n,
    )


def wilson(
    share: float,
    n: float,
    z: float,
) -> Interval:
    """Wilson's score interval of a share of n, which need not be an integer; z is the quantile to use.

    (p + z^2 / 2n  -+  z sqrt(p (1 - p) / n + z^2 / 4n^2)) / (1 + z^2 / n)
    """
    # Student's quantile without a degree of freedom: one case leaves everything open.
    if z == np.inf:
        return Interval(0.0, 1.0)
    middle = share + z**2 / (2 * n)
    reach = z * sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    shrunk = 1 + z**2 / n
    low = (middle - reach) / shrunk
    high = (middle + reach) / shrunk
    # A share of 0 or 1 is its own limit, which the last digit of the quotient can miss.
    return Interval(max(0.0, min(low, share)), min(1.0, max(high, share)))


def _counted(
    cluster: ArrayLike, weight: ArrayLike, *columns: ArrayLike
) -> tuple[Array, Array]:
    """Sums per cluster of the instances whose weight is above 0, shape (n_clusters, n_columns), and these weights."""
    weights = floats(weight)
    sums, _ = cluster_sums(cluster, *columns, weights)
    return sums[sums[:, -1] > 0, :-1], weights[weights > 0]


def _kish(weights: Array) -> float:
    return (
        float(weights.sum() ** 2 / _squares(weights)) if len(weights) else 0.0
    )


def _squares(values: Array) -> float:
    """Their sum; without BLAS, whose threads wait for each other on a busy machine."""
    return float(np.sum(values * values))


@lru_cache(maxsize=1024)
def student_quantile(degrees: int, confidence: float = CONFIDENCE) -> float:
    """Student's quantile for a two-sided interval; infinite without a degree of freedom."""
    if not degrees:
        return np.inf
    # Loaded with the first interval, not with the app: it takes half a second.
    from scipy.special import stdtrit

    return float(stdtrit(degrees, (1 + confidence) / 2))
