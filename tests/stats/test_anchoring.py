"""The cost of an order by case: a simulation of annotators who follow the label before, against the formula."""

from __future__ import annotations

import numpy as np
import pytest

from crane_core.stats.anchoring import difference_left, simulated_anchoring

N_DRAWS = 20_000
SURE = 5 * np.sqrt(0.5 / N_DRAWS)
"""Five standard errors of a difference of two labels, at most."""


@pytest.mark.parametrize("followed", [0.0, 0.1, 0.5, 1.0])
@pytest.mark.parametrize("chances", [[0.9, 0.2], [0.9, 0.2, 0.5, 0.5, 0.7]])
def test_shares_stay_and_differences_shrink_by_what_follows(
    followed: float, chances: list[float]
) -> None:
    found = simulated_anchoring(chances, followed, seed=3, n_draws=N_DRAWS)
    assert found.share == pytest.approx(np.mean(chances), abs=SURE)
    left = difference_left(followed) * (chances[0] - chances[1])
    assert found.difference == pytest.approx(left, abs=SURE)


@pytest.mark.parametrize("followed", [-0.1, 1.1, float("nan")])
def test_a_share_outside_of_0_to_1_is_refused(followed: float) -> None:
    with pytest.raises(ValueError, match="0 to 1"):
        simulated_anchoring([0.5, 0.5], followed, seed=1)


def test_a_case_of_one_item_has_no_label_before() -> None:
    with pytest.raises(ValueError, match="two items"):
        simulated_anchoring([0.5], 0.1, seed=1)
