"""Looks at a study before its end: the nominal level of each look, and a p-value that allows for the looks before it.

Who tests at 5% on five looks finds something in 14% of studies without an effect. Lan and DeMets 1983 spend the 5%
over the looks. Knows shares of the planned cases; refuses to know what is tested.
"""

from enum import StrEnum
from functools import lru_cache
from math import e, log, sqrt

import numpy as np

from crane_core.stats.arrays import Array
from crane_core.stats.power import ALPHA

MOST_LOOKS = 10
_NODES = 96
_FAR = 8.0
"""Standard deviations beyond which a test statistic has no chance that counts."""
_HIGHEST = 37.0
"""The largest z whose tail a float can hold."""
_TINY = 1e-290


class Spending(StrEnum):
    """How fast the error is spent: hardly any before the end, or about as much at each look."""

    OBRIEN_FLEMING = "O'Brien-Fleming"
    POCOCK = "Pocock"


def spent(spending: Spending, fraction: float, alpha: float = ALPHA) -> float:
    """Two-sided error spent until a fraction t of the study: Lan and DeMets 1983.

    O'Brien-Fleming: 4 (1 - Phi(z / sqrt(t))) with z the upper alpha / 4 quantile; Pocock: alpha ln(1 + (e - 1) t).
    Half of it is spent on either side.
    """
    if spending is Spending.POCOCK:
        return alpha * log(1 + (e - 1) * fraction)
    # Loaded with the first look, not with the app: half a second.
    from scipy.special import ndtr, ndtri

    z = ndtri(alpha / 4)
    tail = ndtr(z / sqrt(fraction))
    return float(4 * tail)


@lru_cache(maxsize=256)
def nominal_levels(
    n_looks: int, spending: Spending, alpha: float = ALPHA
) -> tuple[float, ...]:
    """Two-sided p at which each of n equally spaced looks may reject, so that all together err with `alpha`.

    By recursive integration of the score process (Armitage, McPherson and Rowe 1969). Raises ValueError unless there
    are 1 to MOST_LOOKS looks and alpha is between 0 and 1.
    """
    if not 1 <= n_looks <= MOST_LOOKS or not 0 < alpha < 1:
        raise ValueError(
            f"{n_looks} looks at a level of {alpha} are not possible"
        )
    from scipy.special import ndtr

    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    # Where the process can be without having rejected, and how likely it is there.
    place = np.zeros(1)
    mass = np.ones(1)
    step = sqrt(1 / n_looks)
    levels = []
    before = 0.0
    for look in range(1, n_looks + 1):
        until = spent(spending, look / n_looks, alpha)
        scale = sqrt(look / n_looks)
        z = _boundary(
            until - before,
            place / step,
            mass,
            scale / step,
        )
        before = until
        levels.append(float(2 * ndtr(-z)))
        reach = min(z, _FAR) * scale
        new = reach * nodes
        apart = (new[:, None] - place[None, :]) / step
        likely = np.exp(-(apart**2) / 2)
        area = step * sqrt(2 * np.pi)
        density = likely @ mass / area
        place = new
        mass = density * weights * reach
    return tuple(levels)


def _boundary(error: float, place: Array, mass: Array, scale: float) -> float:
    """The z that the process passes with this chance, from where it is; place and scale in units of a step."""
    from scipy.optimize import brentq
    from scipy.special import ndtr

    def excess(z: float) -> float:
        far = scale * z
        beyond = ndtr(place - far) + ndtr(-place - far)
        return float(beyond @ mass) - error

    if error < _TINY or excess(_HIGHEST) >= 0:
        return _HIGHEST
    return float(brentq(excess, 0.0, _HIGHEST, xtol=1e-8))


def repeated_p(
    p_value: float, look: int, n_looks: int, spending: Spending
) -> float:
    """The smallest error of a whole study at which this look would reject: a p-value that can be adjusted as any other.

    The repeated p-value of Jennison and Turnbull 2000 (9.4). look: of n_looks, from 1; 0 before the first look, which
    rejects nothing: 1. nan stays nan.
    """
    if np.isnan(p_value) or (n_looks == 1 and look == 1):
        return p_value
    if look == 0:
        return 1.0
    from scipy.optimize import brentq

    def excess(alpha: float) -> float:
        levels = nominal_levels(n_looks, spending, alpha)
        return levels[look - 1] - p_value

    # An error is never smaller than the level of one of its looks.
    least = max(p_value, 1e-12)
    most = 0.999
    if excess(most) <= 0:
        return 1.0
    if excess(least) >= 0:
        return least
    return float(brentq(excess, least, most, xtol=1e-6, rtol=1e-4))
