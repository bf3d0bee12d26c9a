"""pass@k against every draw of k runs; the share of variance against scipy's analysis of variance."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import f_oneway

from crane_core.stats.five_runs import pass_at_k, variance_share


@given(st.integers(1, 7), st.data())
def test_pass_at_k_is_the_share_of_draws_with_a_right_run(
    n_runs: int, data: st.DataObject
) -> None:
    n_right, k = (
        data.draw(st.integers(0, n_runs)),
        data.draw(st.integers(1, n_runs)),
    )
    runs = [index < n_right for index in range(n_runs)]
    draws = [any(drawn) for drawn in combinations(runs, k)]
    assert pass_at_k([n_right], [n_runs], k) == pytest.approx(np.mean(draws))


def test_pass_at_k_of_fewer_runs_is_unknown() -> None:
    assert np.isnan(pass_at_k([0, 1, 0], [2, 2, 0], 3)).all()
    assert pass_at_k([0, 1, 3], [3, 3, 3], 3).tolist() == [0, 1, 1]


def drawn(seed: int, spread: float) -> tuple[np.ndarray, np.ndarray]:
    """Right or wrong of 30 cases of two instances, five runs each; and the case of each instance."""
    rng = np.random.default_rng(seed)
    chance = 1 / (1 + np.exp(-rng.normal(0.5, spread, 60)))
    return (rng.random((60, 5)) < chance[:, None]).astype(int), np.repeat(
        np.arange(30), 2
    )


@pytest.mark.parametrize("spread", [0.5, 2.0, 5.0])
def test_the_share_between_instances_follows_from_the_f_of_scipy(
    spread: float,
) -> None:
    runs, case = drawn(4, spread)
    f = f_oneway(*runs).statistic
    found = variance_share(runs.sum(axis=1), 5, case, seed=1)
    assert found.between == pytest.approx(max((f - 1) / (f + 4), 0))
    assert (found.n, found.n_clusters) == (60, 30)
    assert found.low < found.between < found.high
    assert found == variance_share(runs.sum(axis=1), 5, case, seed=1)


def test_runs_that_always_agree_leave_all_variance_between_instances() -> None:
    found = variance_share([5, 0, 5, 5, 0, 0], 5, [1, 1, 2, 2, 3, 3], seed=1)
    assert found.between == 1


def test_runs_that_differ_alike_everywhere_leave_none() -> None:
    assert variance_share([2, 3, 2, 3], 5, [1, 2, 3, 4], seed=1).between == 0


@pytest.mark.parametrize(
    ("n_right", "case"), [([5, 5, 5], [1, 2, 3]), ([3], [1]), ([], [])]
)
def test_where_nothing_varies_there_is_no_share(
    n_right: list[int], case: list[int]
) -> None:
    found = variance_share(n_right, 5, case, seed=1)
    assert np.isnan([found.between, found.low, found.high]).all()
    assert found.n == len(n_right)


def test_counts_that_cannot_be_are_refused() -> None:
    with pytest.raises(ValueError, match="must be between 0"):
        pass_at_k([3], [2], 1)
    with pytest.raises(ValueError, match="at least 1"):
        pass_at_k([1], [2], 0)
    with pytest.raises(ValueError, match="at least two"):
        variance_share([1], 1, [1], seed=1)
