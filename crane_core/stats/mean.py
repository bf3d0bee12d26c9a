"""A mean of few, very unlike values with its interval."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from crane_core.stats.arrays import floats
from crane_core.stats.resampling import CONFIDENCE, N_RESAMPLES


class Mean(NamedTuple):
    """A mean with its 95% interval, NaN if the values are all alike or fewer than two."""

    value: float
    low: float
    high: float
    n: int


def mean(values: ArrayLike, *, seed: int) -> Mean:
    """The mean with its BCa bootstrap interval (Efron 1987). Where few values make up most of it, it is too short."""
    array = floats(values)
    if len(array) < 2 or np.ptp(array) == 0:
        return Mean(
            float(array.mean()) if len(array) else float("nan"),
            float("nan"),
            float("nan"),
            len(array),
        )
    # Scipy.stats takes a second to load, and few pages ask for it.
    from scipy.stats import bootstrap

    found = bootstrap(
        (array,),
        np.mean,
        n_resamples=N_RESAMPLES,
        confidence_level=CONFIDENCE,
        rng=np.random.default_rng(seed),
    )
    low, high = found.confidence_interval
    return Mean(
        float(array.mean()),
        float(low),
        float(high),
        len(array),
    )
