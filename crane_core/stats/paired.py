"""Two conditions on the same instances. Knows two columns of right/wrong; refuses to know what was right.

Sources: McNemar 1947 in its exact (binomial) form; the detectable difference by Connor 1987, equation for the number
of pairs, solved for the difference.
"""

from math import sqrt
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

ALPHA = 0.05
POWER = 0.80


class Discordance(NamedTuple):
    """How many instances both, only A, only B and neither condition got right."""

    both: int
    only_a: int
    only_b: int
    neither: int


def discordance(right_a: ArrayLike, right_b: ArrayLike) -> Discordance:
    """The four-fold table of two boolean arrays of shape (n,) in one order of instances."""
    a, b = _pair(right_a, right_b)
    return Discordance(*(int(np.count_nonzero(cell)) for cell in (a & b, a & ~b, ~a & b, ~a & ~b)))


def mcnemar(only_a: int, only_b: int) -> float:
    """Exact two-sided McNemar p-value: a fair coin for each discordant instance. 1.0 where none is discordant.

    Takes instances as independent; a case's two notebooks are not quite, so read it beside the clustered interval.
    """
    from scipy.special import bdtr  # loaded with the first test, not with the app: it takes half a second

    return min(1.0, 2 * float(bdtr(min(only_a, only_b), only_a + only_b, 0.5)))


def minimum_detectable_difference(
    n: int, discordant_share: float, *, alpha: float = ALPHA, power: float = POWER
) -> float:
    """Smallest true difference of two paired accuracies, in 0..1, that n pairs would reveal with the given power.

    Connor's number of pairs, n = (z_a sqrt(psi) + z_b sqrt(psi - d^2))^2 / d^2, is a quadratic in d; its root is

        d = sqrt(psi) (z_a sqrt(n) + z_b sqrt(n + z_b^2 - z_a^2)) / (n + z_b^2)

    with psi the share of discordant pairs, z_a two-sided at alpha, z_b at power. nan where no difference of at most
    psi would be revealed (too few pairs, or none discordant).
    """
    z_a, z_b = -NormalDist().inv_cdf(alpha / 2), NormalDist().inv_cdf(power)
    under_root = n + z_b**2 - z_a**2
    if n == 0 or under_root < 0 or discordant_share <= 0:
        return float("nan")
    smallest = sqrt(discordant_share) * (z_a * sqrt(n) + z_b * sqrt(under_root)) / (n + z_b**2)
    return smallest if smallest <= discordant_share else float("nan")


def _pair(right_a: ArrayLike, right_b: ArrayLike) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    a, b = np.asarray(right_a, dtype=bool), np.asarray(right_b, dtype=bool)
    if a.shape != b.shape or a.ndim != 1:
        raise ValueError(f"two arrays of one length are needed, not {a.shape} and {b.shape}")
    return a, b
