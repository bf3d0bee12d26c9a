"""Whether a difference is smaller than a bound: two one-sided tests. Knows an estimate with its interval, not its unit.

A large p-value of a difference shows nothing. That a difference is small is another claim, with its own tests
(Schuirmann 1987): one that it is above -bound, one that it is below +bound.
"""

from math import nan, sqrt

import numpy as np
from numpy.typing import ArrayLike

from crane_core.stats.arrays import Array, floats
from crane_core.stats.intervals import student_quantile

SMALLEST_EFFECT = 0.05
"""The smallest effect of interest, as a share, where a study names none: 5 points."""


def smaller_p(
    difference: float,
    low: float,
    high: float,
    n_clusters: int,
    *,
    bound: float = SMALLEST_EFFECT,
) -> float:
    """The larger p-value of the two one-sided tests that the true difference lies within -bound and +bound.

        t = (bound - |d|) / max(s, s_0),   s_0 = sqrt(bound (1 - bound) / n)

    difference, low, high: of `intervals.clustered_difference` with its 95% interval over n clusters, whose standard
    error is s; Student's distribution has n - 1 degrees of freedom. s_0 is the standard error of n cases of which a
    share of `bound` differs, all in one direction, which is what the tests have to exclude (a score test, as Nam 1997
    and Tango 1998 make it). Without it, cases that happen not to differ at all would prove too much: 24 cases lead to
    a false claim 28% of the time (`tests/stats/test_equivalence.py`). nan where the difference is undefined or of one
    case. Raises ValueError for a bound outside 0..1.
    """
    if not 0 < bound < 1:
        raise ValueError(f"a bound must be between 0 and 1, not {bound}")
    ends = np.array([difference, low, high], dtype=np.float64)
    if np.isnan(ends).any() or n_clusters < 2:
        return nan
    # Loaded with the first test, not with the app: it takes half a second.
    from scipy.special import stdtr

    error = _standard_error(ends, n_clusters)
    least = sqrt(bound * (1 - bound) / n_clusters)
    t = (bound - abs(difference)) / max(error, least)
    return float(stdtr(n_clusters - 1, -t))


def smaller_p_values(
    difference: ArrayLike,
    low: ArrayLike,
    high: ArrayLike,
    n_clusters: ArrayLike,
    *,
    bound: float = SMALLEST_EFFECT,
) -> Array:
    """`smaller_p` of each of several comparisons; all arrays have shape (m,)."""
    columns = (floats(column) for column in (difference, low, high, n_clusters))
    found = [
        smaller_p(d, one, other, 0 if np.isnan(n) else int(n), bound=bound)
        for d, one, other, n in zip(*columns, strict=True)
    ]
    return np.array(found, dtype=np.float64)


def _standard_error(ends: Array, n: int) -> float:
    """What the interval was made of; the end that is farther from its middle is the one that no limit cut."""
    difference, low, high = ends
    middle = n * difference / (n + 1)
    reach = max(high - middle, middle - low)
    return float(reach / student_quantile(n - 1))
