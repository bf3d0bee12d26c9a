"""Several readings of the same answers at once: one p-value, and intervals that hold for the largest of them.

Knows what each case adds to each reading, not what was read. Readings of the same answers are alike, so their tests
cannot be counted as if each were a separate study; what keeps them together is that a case moves in all of them.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from crane_core.stats.arrays import Array, floats
from crane_core.stats.intervals import student_quantile
from crane_core.stats.resampling import CONFIDENCE, Interval

N_DRAWS = 9_999
"""Seeded draws of signs; the observed signs are counted among them (Phipson and Smyth 2010)."""
_AT_A_TIME = 1_000
_CLOSE = 1e-9


def curve_p(shares: ArrayLike, *, seed: int) -> float:
    """Two-sided p-value of the median difference over all readings; 1.0 where no case moves any.

    shares: what each case adds to the difference of each reading, shape (n_cases, n_readings), so that its columns add
    up to the differences. Were both inputs alike, a case's shares would as well have the opposite sign, in all readings
    together: the joint test of a specification curve (Simonsohn, Simmons and Nelson 2020) by sign flips of cases.
    """
    moved = _checked(shares)
    if not moved.size:
        return 1.0
    differences = moved.sum(axis=0)
    observed = abs(float(np.median(differences)))
    if observed < _CLOSE:
        return 1.0
    least = observed - _CLOSE
    n_reached = 0
    for signs in _signs(len(moved), seed):
        medians = np.median(signs @ moved, axis=1)
        is_reached = np.abs(medians) >= least
        n_reached += int(np.count_nonzero(is_reached))
    return (n_reached + 1) / (N_DRAWS + 1)


def joint_quantile(
    shares: ArrayLike,
    *,
    seed: int,
) -> float:
    """How many standard errors all intervals have to reach, so that all of them hold together with 95% confidence.

    shares: as for `curve_p`. The quantile of the largest |t| over the readings, by random signs of the centred shares
    of whole cases (wild bootstrap: Wu 1986; of maxima: Chernozhukov, Chetverikov and Kato 2013), in proportion to
    Student's for n - 1 cases. Readings that no case moves add nothing. Infinite for one case.
    """
    moved = _checked(shares)
    n = len(moved)
    if not n:
        return np.inf
    single = student_quantile(n - 1)
    centred = moved - moved.mean(axis=0)
    errors = np.sqrt((centred**2).sum(axis=0))
    is_moved = errors > _CLOSE
    scaled = centred[:, is_moved] / errors[is_moved]
    if not scaled.size:
        return single
    # Loaded with the first curve, not with the app: it takes half a second.
    from scipy.special import ndtri

    largest = []
    for signs in _signs(n, seed):
        t = np.abs(signs @ scaled)
        largest.append(t.max(axis=1))
    reach = float(np.quantile(np.concatenate(largest), CONFIDENCE))
    normal = float(ndtri((1 + CONFIDENCE) / 2))
    return max(single, single * reach / normal)


def joint_interval(
    interval: Interval,
    difference: float,
    n_clusters: int,
    quantile: float,
) -> Interval:
    """The interval of a difference, reaching `quantile` standard errors instead of Student's; cut to -1..1.

    interval: of `intervals.clustered_difference` with 95%, over n_clusters cases. Never narrower than that.
    """
    single = student_quantile(n_clusters - 1)
    if not np.isfinite(single):
        return Interval(-1.0, 1.0)
    middle = n_clusters * difference / (n_clusters + 1)
    # The end that is farther from the middle is the one that no limit cut.
    reach = max(interval.high - middle, middle - interval.low)
    widened = reach * max(quantile / single, 1.0)
    low = max(middle - widened, -1.0)
    high = min(middle + widened, 1.0)
    return Interval(low, high)


def _checked(shares: ArrayLike) -> Array:
    moved = floats(shares)
    if moved.ndim != 2:
        raise ValueError(
            f"expected cases by readings, not an array of shape {moved.shape}"
        )
    return moved


def _signs(n: int, seed: int) -> Iterator[Array]:
    """N_DRAWS rows of n signs, some at a time."""
    rng = np.random.default_rng(seed)
    for n_left in range(N_DRAWS, 0, -_AT_A_TIME):
        n_rows = min(n_left, _AT_A_TIME)
        yield rng.choice((-1.0, 1.0), size=(n_rows, n))
