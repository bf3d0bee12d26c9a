"""Two conditions on the same instances whose outcome is a share. Knows differences and clusters, not what they are of.

Were both conditions alike, a cluster's differences would as well have the opposite sign: the sign-flip permutation
test (Fisher 1935), with whole clusters flipped because a case's instances belong together.
"""

from math import log

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crane_core.stats.arrays import Array
from crane_core.stats.resampling import cluster_sums

N_DRAWS = 99_999
"""Seeded draws of signs where the sums have no common unit, so that not all of them can be counted."""
_UNITS = (1, 2, 4, 10, 12, 60, 120)
"""Parts of 1 that sums of votes of up to six runs, with half credit or without, are multiples of."""
_CLOSE = 1e-9
_AT_A_TIME = 1_000
_MANY_PRODUCTS = 4_000_000
"""From so many on, a Fourier transform is faster."""


def sign_flip(
    difference: ArrayLike,
    cluster: ArrayLike,
    *,
    seed: int,
) -> float:
    """Two-sided p-value of the sum of `difference`, shape (n,); `cluster` names the case of each.

    Exact, over all signs, where the sums of the clusters are multiples of a common unit, as sums of votes are;
    otherwise from N_DRAWS seeded draws with the observed signs counted among them (Phipson and Smyth 2010). 1.0 where
    no cluster differs.
    """
    sums = cluster_sums(cluster, difference)[0][:, 0]
    moved = np.abs(sums[np.abs(sums) > _CLOSE])
    if not len(moved):
        return 1.0
    # A sum that equals the observed one counts as reached, whatever its last digit.
    observed = abs(float(sums.sum())) - _CLOSE
    unit = next(
        (
            n
            for n in _UNITS
            if np.allclose(
                moved * n,
                np.rint(moved * n),
                rtol=0,
                atol=_CLOSE * n,
            )
        ),
        None,
    )
    if unit is not None:
        steps = np.rint(moved * unit).astype(np.int64)
        chances = _chances(steps)
        reached = np.abs(2 * np.arange(len(chances)) - steps.sum()) / unit
        return min(1.0, float(chances[reached >= observed].sum()))
    rng, n_reached = np.random.default_rng(seed), 0
    for n_left in range(N_DRAWS, 0, -_AT_A_TIME):
        drawn = (
            rng.choice((-1.0, 1.0), size=(min(n_left, _AT_A_TIME), len(moved)))
            @ moved
        )
        n_reached += int(np.count_nonzero(np.abs(drawn) >= observed))
    return (n_reached + 1) / (N_DRAWS + 1)


def _chances(steps: NDArray[np.int64]) -> Array:
    """The distribution of the sum of the steps that are taken forward, each with chance 1/2; shape (sum + 1,).

    Steps of one size make a binomial distribution; different sizes are convolved, long ones by Fourier transform, which
    errs by 1e-15 of the whole.
    """
    # Loaded with the first test, not with the app: it takes half a second.
    from scipy.special import gammaln

    chances = np.ones(1)
    for size, n in zip(*np.unique(steps, return_counts=True), strict=True):
        k = np.arange(n + 1)
        spaced = np.zeros(size * n + 1)
        spaced[::size] = np.exp(
            gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1) - n * log(2)
        )
        chances = _convolved(chances, spaced)
    return chances


def _convolved(a: Array, b: Array) -> Array:
    if len(a) * len(b) < _MANY_PRODUCTS:
        return np.convolve(a, b)
    from scipy.fft import irfft, next_fast_len, rfft

    n = len(a) + len(b) - 1
    size = next_fast_len(n, real=True)
    product: Array = irfft(rfft(a, size) * rfft(b, size), size)[:n]
    return np.maximum(product, 0.0)
