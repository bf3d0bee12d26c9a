"""Power of a comparison of two conditions by the exact McNemar test, and the smallest detectable difference.

Knows numbers of pairs and shares of them that differ; refuses to know what was compared. Everything is exact: over
the number of pairs that differ, which is binomial, and over which way each of them turns (Connor 1987 approximates
both by normal distributions, which promises too much for few pairs).
"""

from functools import lru_cache
from math import nan, sqrt
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crane_core.stats.arrays import Array

ALPHA = 0.05
POWER = 0.80
MOST_PAIRS = 100_000
"""More pairs than any benchmark has are not worth a search."""
_FAR = 7.0
"""Standard deviations beyond which a number of differing pairs has no chance that counts."""
_STEPS = 30


class _Rejections(NamedTuple):
    """Numbers of differing pairs that may give p <= alpha: the chance of each, and the most that turn the rarer way."""

    n_differing: NDArray[np.int64]
    chance: Array
    critical: Array

    def power(self, discordant_share: float, difference: float) -> float:
        """Chance of p <= alpha where pairs that differ turn as this difference has them turn."""
        # Loaded with the first test, not with the app: it takes half a second.
        from scipy.special import bdtr

        turned = min(
            max((discordant_share + difference) / (2 * discordant_share), 0.0),
            1.0,
        )
        one = bdtr(self.critical, self.n_differing, turned)
        other = bdtr(self.critical, self.n_differing, 1 - turned)
        return float(self.chance @ (one + other))


def mcnemar_power(
    n: int,
    discordant_share: float,
    difference: float,
    *,
    alpha: float = ALPHA,
) -> float:
    """Chance that the exact two-sided McNemar test of n independent pairs has p <= alpha.

    discordant_share: share of the pairs that differ, in 0..1; difference: of the two rates, at most that share.
    Pairs are taken as independent: of cases with two instances that are alike, pass the number of cases.
    """
    if not n or not discordant_share:
        return 0.0
    return _rejections(n, discordant_share, alpha).power(
        discordant_share, difference
    )


def minimum_detectable_difference(
    n: int,
    discordant_share: float,
    *,
    alpha: float = ALPHA,
) -> float:
    """Smallest true difference of two paired rates, in 0..1, that n pairs reveal with at least POWER.

    nan if no difference that such a share of differing pairs allows is revealed: too few pairs, or none differ.
    """
    if not n or not discordant_share:
        return nan
    rejections = _rejections(n, discordant_share, alpha)
    # The largest difference that this share of differing pairs allows: all turn one way.
    if rejections.power(discordant_share, discordant_share) < POWER:
        return nan
    low = 0.0
    high = discordant_share
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if rejections.power(discordant_share, middle) >= POWER:
            high = middle
        else:
            low = middle
    return high


@lru_cache(maxsize=4096)
def pairs_needed(discordant_share: float, difference: float) -> float:
    """Pairs that reveal a true difference of two paired rates with POWER at ALPHA, if that share of pairs differs.

    nan if no pair differs, or fewer do than the difference needs, and beyond MOST_PAIRS. The power of an exact test has
    small steps: a few pairs fewer may have it too.
    """
    if not 0 < abs(difference) <= discordant_share:
        return nan

    def is_enough(n: int) -> bool:
        return mcnemar_power(n, discordant_share, difference) >= POWER

    # Connor's approximation (1987) is a little too small, which makes it a good place to begin.
    z_alpha = NormalDist().inv_cdf(1 - ALPHA / 2)
    z_power = NormalDist().inv_cdf(POWER)
    spread = z_power * sqrt(discordant_share - difference**2)
    spread += z_alpha * sqrt(discordant_share)
    too_few = int((spread / difference) ** 2)
    if too_few > MOST_PAIRS:
        return nan
    enough = too_few + too_few // 8 + 8
    while not is_enough(enough):
        too_few = enough
        enough = 2 * enough
    while enough - too_few > 1:
        middle = (too_few + enough) // 2
        if is_enough(middle):
            enough = middle
        else:
            too_few = middle
    return float(enough)


def _rejections(
    n: int,
    discordant_share: float,
    alpha: float,
) -> _Rejections:
    from scipy.special import bdtr

    middle = n * discordant_share
    reach = _FAR * sqrt(middle * (1 - discordant_share)) + 1
    fewest = max(1, int(middle - reach))
    most = min(n, int(middle + reach) + 1)
    differing = np.arange(fewest, most + 1)
    chance = bdtr(differing, n, discordant_share) - bdtr(
        differing - 1, n, discordant_share
    )
    critical = (
        np.floor(
            differing / 2
            + NormalDist().inv_cdf(alpha / 2) * np.sqrt(differing) / 2
        )
        + 1
    )
    while (
        is_too_many := (critical >= 0)
        & (2 * bdtr(np.maximum(critical, 0.0), differing, 0.5) > alpha)
    ).any():
        critical = critical - is_too_many
    can_reject = critical >= 0
    return _Rejections(
        differing[can_reject], chance[can_reject], critical[can_reject]
    )
