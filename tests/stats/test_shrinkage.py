"""Partial pooling of groups: statsmodels as oracle, coverage and error by simulation, and its limits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.meta_analysis import combine_effects

from crane_core.stats.intervals import clustered_difference, difference_of_cases
from crane_core.stats.shrinkage import shrunken, standard_errors


def test_mean_and_spread_are_those_of_statsmodels() -> None:
    rng = np.random.default_rng(1)
    error = rng.uniform(0.02, 0.1, size=12)
    difference = 0.1 + rng.normal(scale=np.hypot(error, 0.2))
    ours = shrunken(difference, error)
    theirs = combine_effects(difference, error**2, method_re="dl")
    assert ours.between**2 == pytest.approx(theirs.tau2)
    assert ours.between > 0
    assert ours.mean == pytest.approx(theirs.mean_effect_re)


def test_standard_errors_are_what_intervals_are_made_of() -> None:
    rng = np.random.default_rng(2)
    moved = rng.choice([-1.0, 0.0, 1.0], size=400)
    zeros, ones = np.zeros(400), np.ones(400)
    found = clustered_difference(zeros, ones, moved, ones, np.arange(400))
    [error] = standard_errors([found.value], [found.low], [found.high], [400])
    assert error == pytest.approx(moved.std() / np.sqrt(400), rel=0.01)
    # Of two cases that do not differ, the interval would reach beyond both limits.
    two = difference_of_cases([1, 1], [1, 1], [2, 2])
    assert (two.low, two.high) == (-1.0, 1.0)
    for n in (1, 2):
        assert np.isnan(standard_errors([0.0], [-1.0], [1.0], [n])).all()


@pytest.mark.parametrize("n_groups", [5, 8, 15])
@pytest.mark.parametrize("spread", [0.0, 0.05, 0.12])
def test_intervals_hold_the_truth_and_values_are_nearer_to_it(
    n_groups: int, spread: float
) -> None:
    """Groups of 3 to 30 cases of two instances, a quarter of which differ."""
    rng = np.random.default_rng([n_groups, int(100 * spread)])
    held, errors, raw_errors = [], [], []
    for _ in range(60):
        sizes = rng.choice([3, 5, 10, 15, 30], size=n_groups)
        up = np.clip((0.33 + spread * rng.normal(size=n_groups)) / 2, 0, 0.25)
        true = 2 * up - 0.25
        found = []
        for n, share in zip(sizes, up, strict=True):
            chances = [share, 0.25 - share, 0.75]
            moved = rng.choice([1, -1, 0], p=chances, size=(n, 2)).sum(axis=1)
            found.append(difference_of_cases(np.zeros(n), moved, np.full(n, 2)))
        d, low, high = np.array([one[:3] for one in found]).T
        pooled = shrunken(d, standard_errors(d, low, high, sizes))
        # Of three cases, the interval may be the whole range.
        known = ~np.isnan(pooled.value)
        is_held = (pooled.low <= true) & (true <= pooled.high)
        held += is_held[known].tolist()
        errors += ((pooled.value - true) ** 2)[known].tolist()
        raw_errors += ((d - true) ** 2)[known].tolist()
    assert len(held) > 40 * n_groups
    assert np.mean(held) >= 0.9
    assert np.mean(errors) < 0.75 * np.mean(raw_errors)


@given(
    st.lists(
        st.tuples(st.floats(-0.9, 0.9), st.floats(0.01, 0.5)),
        min_size=5,
        max_size=12,
    )
)
def test_a_group_moves_towards_the_mean_and_never_beyond(
    groups: list[tuple[float, float]],
) -> None:
    difference, error = np.array(groups).T
    found = shrunken(difference, error)
    low = np.minimum(difference, found.mean) - 1e-9
    high = np.maximum(difference, found.mean) + 1e-9
    assert ((low <= found.value) & (found.value <= high)).all()
    assert ((found.low < found.value) & (found.value < found.high)).all()


def test_few_groups_are_not_pooled_and_unknown_ones_count_for_nothing() -> None:
    nan = float("nan")
    assert np.isnan(shrunken([0.1, 0.2, nan, 0.3, 0.0], [0.1] * 5).value).all()
    some = shrunken([0.1, nan, 0.2, 0.3, 0.0, 0.4], [0.1] * 6)
    without = shrunken([0.1, 0.2, 0.3, 0.0, 0.4], [0.1] * 5)
    assert np.isnan(some.value).tolist() == [False, True] + 4 * [False]
    assert some.mean == without.mean


def test_an_error_of_zero_is_refused() -> None:
    with pytest.raises(ValueError, match="above 0"):
        shrunken([0.1, 0.2, 0.3, 0.4], [0.1, 0.0, 0.1, 0.1])
