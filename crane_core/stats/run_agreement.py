"""How far the runs of one detector agree with each other about one instance.

    pairs(c, s) = (c + s)(c + s - 1) / 2,    agreeing(c, s) = c(c - 1)/2 + s(s - 1)/2

with c runs that predict a crash and s that do not; the rate is the sum of agreeing pairs over the sum of pairs, the
observed agreement of Fleiss (1971, equation 3) when every instance has the same number of runs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray


class RunPairs(NamedTuple):
    """Shape (n,) each: pairs of runs that say the same, and all pairs. An instance with one run has no pair."""

    agreeing: NDArray[np.float64]
    pairs: NDArray[np.float64]


def run_pairs(n_crash: ArrayLike, n_safe: ArrayLike) -> RunPairs:
    """n_crash, n_safe: shape (n,), counts of answered runs by what they say. Raises ValueError on a negative count."""
    crash, safe = (
        np.asarray(n_crash, dtype=np.float64),
        np.asarray(n_safe, dtype=np.float64),
    )
    if crash.shape != safe.shape:
        raise ValueError(f"n_crash has shape {crash.shape}, n_safe has {safe.shape}")
    if (crash < 0).any() or (safe < 0).any():
        raise ValueError("a count cannot be negative")
    return RunPairs(_pairs(crash) + _pairs(safe), _pairs(crash + safe))


def _pairs(n: NDArray[np.float64]) -> NDArray[np.float64]:
    return n * (n - 1) / 2
