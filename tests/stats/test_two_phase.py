"""Shares in two phases: worked examples, the chances' properties, and simulated campaigns with known truths."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.second_label_coverage import simulated
from crane_core.stats.two_phase import (
    FLOOR,
    second_chances,
    systematic_draw,
    two_phase_share,
    unlike_rate,
)
from tests.examples import examples

N_CAMPAIGNS = 200
"""Of which 5% is a standard error of 1.5 points; the benchmark has more."""


def test_a_worked_example() -> None:
    # 3 of 4 first labels say 1. Of the two with a second label, the one drawn with 1/4 stands for four items: 1 -> 0.
    found = two_phase_share(
        first=[1, 1, 1, 0],
        final=[0, 1, np.nan, np.nan],
        chance=[0.25, 0.5, 0.5, 0.5],
        weight=[1, 1, 1, 1],
        cluster=[0, 1, 2, 3],
    )
    # 3/4 - 4 / (4 + 2)
    assert found.value == pytest.approx(0.75 - 4 / 6)
    assert (found.n, found.n_clusters) == (4, 4)
    assert found.low <= found.value <= found.high


def test_second_labels_of_all_items_are_the_share_of_the_final_ones() -> None:
    rng = np.random.default_rng(3)
    first, final = rng.integers(0, 2, (2, 50))
    weight = rng.uniform(1, 3, 50)
    found = two_phase_share(first, final, np.ones(50), weight, np.arange(50))
    assert found.value == pytest.approx(np.average(final, weights=weight))


def test_without_a_second_label_there_is_no_share() -> None:
    found = two_phase_share([1, 0], [np.nan] * 2, [0.5] * 2, [1, 1], [0, 1])
    assert np.isnan(found.value)
    assert found.n == 0


def test_pairs_that_agree_leave_room_for_errors() -> None:
    """Ten agreeing pairs of 1,000 items: the share of first labels is not as sure as if all had a second one."""
    first = np.arange(1_000) % 2
    final = np.where(np.arange(1_000) < 10, first, np.nan)
    few = two_phase_share(
        first, final, np.full(1_000, 0.01), np.ones(1_000), np.arange(1_000)
    )
    every = two_phase_share(
        first, first, np.ones(1_000), np.ones(1_000), np.arange(1_000)
    )
    assert few.high - few.low > 3 * (every.high - every.low)


@given(
    st.lists(st.floats(0.05, 1.5), min_size=1, max_size=60),
    st.floats(0.01, 1.0),
    st.floats(0.0, 0.999),
)
@examples(100)
def test_chances_have_their_floor_and_mean_and_the_draw_its_size(
    need: list[float], share: float, start: float
) -> None:
    chance = second_chances(need, share)
    assert chance.mean() == pytest.approx(share, rel=1e-6)
    assert chance.min() >= FLOOR * share - 1e-12
    assert chance.max() <= 1
    order = np.argsort(need)
    assert (np.diff(chance[order]) >= -1e-12).all()
    n_drawn = systematic_draw(chance, start).sum()
    assert abs(n_drawn - chance.sum()) < 1 + 1e-6


@pytest.mark.parametrize("share", [0.0, 1.1, float("nan")])
def test_a_share_outside_of_its_range_is_refused(share: float) -> None:
    with pytest.raises(ValueError, match="above 0 and at most 1"):
        second_chances([1.0], share)


def test_each_item_is_drawn_with_its_own_chance() -> None:
    chance = np.array([0.1, 1.0, 0.35, 0.7, 0.05, 0.8])
    starts = (np.arange(2_000) + 0.5) / 2_000
    drawn = np.mean([systematic_draw(chance, one) for one in starts], axis=0)
    assert drawn == pytest.approx(chance, abs=1e-3)


def test_a_rate_begins_at_its_prior_and_narrows() -> None:
    rates = [unlike_rate(n, n // 2) for n in (0, 10, 1_000)]
    assert rates[0].mean == 0.25
    assert rates[2].mean == pytest.approx(0.5, abs=0.01)
    assert [one.sd for one in rates] == sorted(
        (one.sd for one in rates), reverse=True
    )
    # A group without pairs is expected to be as its wider group is.
    assert unlike_rate(0, 0, rates[2]).mean == rates[2].mean


def test_intervals_of_adaptive_second_labels_hold_the_truth() -> None:
    """93 to 98 of 100 intervals, without bias; a uniform draw needs at least 25% more labels for the same variance."""
    adaptive, uniform = (
        simulated(N_CAMPAIGNS, is_adaptive=is_adaptive)
        for is_adaptive in (True, False)
    )
    assert 0.93 <= adaptive.coverage <= 0.98
    assert 0.93 <= uniform.coverage <= 0.98
    assert abs(adaptive.bias) < 0.01
    assert uniform.variance / adaptive.variance > 1.25
