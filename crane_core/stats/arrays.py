"""Arrays of floats, which the statistics compute with. Knows nothing of what the numbers are."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def floats(values: ArrayLike) -> Array:
    """The values as an array of floats of their shape; the array itself if it is one. Raises ValueError on a text."""
    return np.asarray(values, dtype=np.float64)


def are_known(one: Array, other: Array) -> NDArray[np.bool_]:
    """True where neither of two arrays of one shape is nan."""
    return ~(np.isnan(one) | np.isnan(other))
