"""Two conditions on the same instances. Knows two columns of right/wrong; refuses to know what was right.

Source: McNemar 1947 in its exact (binomial) form.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray


class Discordance(NamedTuple):
    """How many instances both, only A, only B and neither condition got right."""

    both: int
    only_a: int
    only_b: int
    neither: int


def discordance(right_a: ArrayLike, right_b: ArrayLike) -> Discordance:
    """The four-fold table of two boolean arrays of shape (n,) in one order of instances."""
    a, b = _pair(right_a, right_b)
    return Discordance(
        *(
            int(np.count_nonzero(cell))
            for cell in (a & b, a & ~b, ~a & b, ~a & ~b)
        )
    )


def mcnemar(only_a: int, only_b: int) -> float:
    """Exact two-sided McNemar p-value: a fair coin for each discordant instance. 1.0 if none is discordant.

    Takes instances as independent; a case's two notebooks are not quite: `sign_flip` is the test that allows for it.
    """
    # Loaded with the first test, not with the app: it takes half a second.
    from scipy.special import bdtr

    return min(1.0, 2 * float(bdtr(min(only_a, only_b), only_a + only_b, 0.5)))


def _pair(
    right_a: ArrayLike, right_b: ArrayLike
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    a, b = np.asarray(right_a, dtype=bool), np.asarray(right_b, dtype=bool)
    if a.shape != b.shape or a.ndim != 1:
        raise ValueError(
            f"expected two arrays of the same length, not {a.shape} and {b.shape}"
        )
    return a, b
