"""Two conditions on the same instances whose outcome is a share. Knows differences and clusters, not what they are of.

Were both conditions alike, a cluster's differences would as well have the opposite sign: the sign-flip permutation
test (Fisher 1935), with whole clusters flipped because a case's instances belong together.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crane_core.stats.resampling import cluster_sums

MOST_EXACT = 13
"""Clusters that differ, up to which all 2^n signs are tried."""
N_RESAMPLES = 9_999
_CLOSE = 1e-9


def sign_flip(difference: ArrayLike, cluster: ArrayLike, *, seed: int) -> float:
    """Two-sided p-value of the sum of `difference`, shape (n,); `cluster` names the case of each.

    Exact over all signs where at most MOST_EXACT clusters differ, otherwise from N_RESAMPLES seeded draws with the
    observed signs counted among them (Phipson and Smyth 2010). 1.0 where no cluster differs.
    """
    sums, _ = cluster_sums(cluster, difference)
    moved = np.abs(sums[:, 0][np.abs(sums[:, 0]) > _CLOSE])
    if not len(moved):
        return 1.0
    observed = abs(float(sums[:, 0].sum())) - _CLOSE
    if len(moved) <= MOST_EXACT:
        return float(np.mean(np.abs(_all_signs(len(moved)) @ moved) >= observed))
    drawn = np.random.default_rng(seed).choice((-1.0, 1.0), size=(N_RESAMPLES, len(moved))) @ moved
    return float((np.count_nonzero(np.abs(drawn) >= observed) + 1) / (N_RESAMPLES + 1))


def _all_signs(n: int) -> NDArray[np.float64]:
    """Every row of n signs, shape (2^n, n)."""
    bits = np.arange(2**n)[:, None] >> np.arange(n) & 1
    return np.where(bits == 1, 1.0, -1.0)
