"""Shuffled groups against counting by hand, and against scipy where every cluster is one instance."""

from __future__ import annotations

from math import comb, isnan

import numpy as np
import pytest
from scipy.stats import fisher_exact

from crane_core.stats.shuffled_groups import shuffled_groups


def test_of_eight_cases_two_of_seventy_choices_are_as_extreme() -> None:
    second = [False] * 4 + [True] * 4
    p = shuffled_groups([1] * 4 + [0] * 4, [1] * 8, range(8), second, seed=1)
    assert p == pytest.approx(2 / comb(8, 4), abs=0.002)


def test_single_instances_agree_with_fishers_exact_test() -> None:
    rng = np.random.default_rng(3)
    right, second = rng.random((2, 60)) < [[0.6], [0.5]]
    right[second] |= rng.random(second.sum()) < 0.5
    p = shuffled_groups(right, np.ones(60), range(60), second, seed=1)
    table = [
        [np.sum(right & second), np.sum(~right & second)],
        [np.sum(right & ~second), np.sum(~right & ~second)],
    ]
    assert p == pytest.approx(fisher_exact(table)[1], rel=0.25)


def test_instances_of_a_case_move_together() -> None:
    """Twice the instances of the same eight cases say no more than the cases."""
    second = np.repeat([False] * 4 + [True] * 4, 2)
    right = np.repeat([1] * 4 + [0] * 4, 2)
    case = np.repeat(range(8), 2)
    p = shuffled_groups(right, np.ones(16), case, second, seed=1)
    assert p == pytest.approx(2 / comb(8, 4), abs=0.002)


def test_what_cannot_be_compared() -> None:
    assert isnan(shuffled_groups([1, 0], [1, 1], [1, 2], [True] * 2, seed=1))
    with pytest.raises(ValueError, match="both groups"):
        shuffled_groups([1, 0], [1, 1], [1, 1], [True, False], seed=1)
