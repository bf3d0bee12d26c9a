"""Several detectors as one. Knows a table of yes and no; refuses to know who said it and what is true.

Three rules, none of them fitted to the data: any (one is enough), majority (more than half, as in `vote`), and cascade
(what the first one predicts holds; where it predicts nothing, the majority of the others decides).
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crane_core.stats import vote

Array = NDArray[np.bool_]


def any_of(predicted: ArrayLike) -> Array:
    """predicted: shape (m, n), what each of m detectors predicts of n instances. True where at least one does."""
    table = _table(predicted)
    said: Array = table.sum(axis=0) > 0
    return said


def majority_of(predicted: ArrayLike) -> Array:
    """True where more than half of the m detectors predict it; half of them is not a majority."""
    table = _table(predicted)
    n_yes = table.sum(axis=0)
    return vote.majority(n_yes, len(table) - n_yes).crash


def cascade(predicted: ArrayLike) -> Array:
    """True where the first detector predicts it; where it does not, the majority of the other m - 1 (at least one)."""
    table = _table(predicted)
    if len(table) < 2:
        raise ValueError("a cascade needs at least two detectors")
    said: Array = table[0] | majority_of(table[1:])
    return said


def _table(predicted: ArrayLike) -> Array:
    table = np.asarray(predicted, dtype=bool)
    if table.ndim != 2 or not len(table):
        raise ValueError(
            f"expected a table of detectors by instances, not {table.shape}"
        )
    return table
