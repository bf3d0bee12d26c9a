"""p-values of several tests at once. Knows p-values; refuses to know the hypotheses.

Holm 1979 for planned families (chance of any false alarm), Benjamini and Hochberg 1995 for exploratory grids (share
of false alarms). A nan p-value is a test that was not made: it stays nan and does not count into the family.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crane_core.stats.arrays import Array, floats


def holm(p_values: ArrayLike) -> Array:
    """Holm's adjusted p-values, shape (m,), in the order given: max over j <= i of min(1, (m - j) p_(j)), j from 0."""
    p, made = _checked(p_values)
    order = np.argsort(p[made], kind="stable")
    steps = np.arange(order.size, 0, -1) * p[made][order]
    adjusted = np.empty(order.size)
    # A larger p-value never gets a smaller adjusted one.
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return _filled(p, made, adjusted)


def benjamini_hochberg(p_values: ArrayLike) -> Array:
    """Benjamini-Hochberg adjusted p-values, shape (m,), in the order given, by scipy."""
    # Loaded with the first grid, not with the app: it takes a second.
    from scipy.stats import false_discovery_control

    p, made = _checked(p_values)
    adjusted = (
        false_discovery_control(p[made], method="bh") if made.any() else p[made]
    )
    return _filled(p, made, adjusted)


def _checked(
    p_values: ArrayLike,
) -> tuple[Array, NDArray[np.bool_]]:
    p = np.atleast_1d(floats(p_values))
    if ((p < 0) | (p > 1)).any():
        raise ValueError("a p-value must be between 0 and 1")
    return p, ~np.isnan(p)


def _filled(
    p: Array,
    made: NDArray[np.bool_],
    adjusted: ArrayLike,
) -> Array:
    result = np.full(p.shape, np.nan)
    result[made] = adjusted
    return result
