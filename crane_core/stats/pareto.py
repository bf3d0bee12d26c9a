"""The Pareto front of options: cost against value. Knows two arrays; refuses to know what is paid for."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crane_core.stats.arrays import floats


def pareto_front(cost: ArrayLike, value: ArrayLike) -> NDArray[np.bool_]:
    """True where no other option costs at most as much and is worth at least as much, one of both strictly.

    cost, value: shape (n,). Options with the same cost and value are all on the front or all off it; an option whose
    cost or value is nan is not on it.
    """
    costs = floats(cost)
    values = floats(value)
    if costs.shape != values.shape or costs.ndim != 1:
        raise ValueError(
            f"expected two arrays of the same length, not {costs.shape} and {values.shape}"
        )
    # Row: the option that may beat; column: the one that may be beaten.
    cost_of_row = costs[:, None]
    value_of_row = values[:, None]
    is_as_cheap = cost_of_row <= costs
    is_as_good = value_of_row >= values
    is_cheaper = cost_of_row < costs
    is_better = value_of_row > values
    is_beating = is_as_cheap & is_as_good & (is_cheaper | is_better)
    is_beaten = is_beating.any(axis=0)
    is_unknown = np.isnan(costs) | np.isnan(values)
    on_front: NDArray[np.bool_] = ~(is_unknown | is_beaten)
    return on_front
