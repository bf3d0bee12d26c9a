"""Intervals of rates: oracles, degenerate cases, and how often they hold the truth."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from crane_core.stats.intervals import clustered_difference, clustered_rate, wilson, wilson_share


@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_agrees_with_statsmodels(counts: tuple[int, int]) -> None:
    assert wilson(*counts) == pytest.approx(proportion_confint(*counts, method="wilson"), abs=1e-12)


def test_wilson_of_nothing_is_the_whole_range() -> None:
    assert wilson(0, 0) == (0.0, 1.0)


def test_wilson_covers_the_truth_in_about_95_of_100_samples() -> None:
    rng = np.random.default_rng(20251)
    n, truth = 111, 0.71
    hits = [low <= truth <= high for low, high in (wilson(int(k), n) for k in rng.binomial(n, truth, size=1000))]
    assert 0.93 <= np.mean(hits) <= 0.97


def test_clustered_bootstrap_covers_the_truth_where_wilson_is_too_narrow() -> None:
    """Two instances that always share their fate carry half the information that Wilson believes in."""
    rng = np.random.default_rng(7)
    n_cases, truth = 111, 0.65
    cluster = np.repeat(np.arange(n_cases), 2)
    clustered, naive = [], []
    for seed in range(300):
        right = np.repeat(rng.random(n_cases) < truth, 2).astype(float)
        found = clustered_rate(right, np.ones(2 * n_cases), cluster, seed=seed, n_resamples=500)
        low, high = wilson(int(right.sum()), 2 * n_cases)
        clustered.append(found.low <= truth <= found.high)
        naive.append(low <= truth <= high)
    assert 0.91 <= np.mean(clustered) <= 0.98
    assert np.mean(naive) < 0.90


def test_clustered_standard_error_agrees_with_the_theory_of_a_mean() -> None:
    rng = np.random.default_rng(3)
    right = (rng.random(400) < 0.5).astype(float)
    found = clustered_rate(right, np.ones(400), np.arange(400), seed=1, n_resamples=8000)
    expected = 2 * 1.96 * math.sqrt(found.value * (1 - found.value) / 400)
    assert found.high - found.low == pytest.approx(expected, rel=0.05)


def test_a_seed_fixes_the_interval_and_the_order_of_instances_does_not_matter() -> None:
    rng = np.random.default_rng(5)
    right, cluster = (rng.random(222) < 0.7).astype(float), np.repeat(np.arange(111), 2)
    order = rng.permutation(222)
    first = clustered_rate(right, np.ones(222), cluster, seed=11)
    assert clustered_rate(right[order], np.ones(222), cluster[order], seed=11) == first
    assert clustered_rate(right, np.ones(222), cluster, seed=12) != first


def test_difference_of_a_condition_with_itself_is_nothing() -> None:
    right = np.array([1.0, 0, 1, 1, 0, 1])
    found = clustered_difference(right, np.ones(6), right, np.ones(6), [1, 1, 2, 2, 3, 3], seed=1)
    assert found[:3] == (0, 0, 0)


def test_resamples_without_a_value_are_counted() -> None:
    """Precision where one of three cases foretells anything: a resample without it has none."""
    found = clustered_rate([1, 0, 0], [1, 0, 0], ["a", "b", "c"], seed=1)
    assert found[:3] == (1, 1, 1)
    assert found.n_undefined / 2000 == pytest.approx((2 / 3) ** 3, abs=0.04)


@pytest.mark.parametrize(("part", "whole", "cluster"), [([], [], []), ([0, 0], [0, 0], [1, 2])])
def test_nothing_to_have_a_rate_of_is_undefined(part: list[float], whole: list[float], cluster: list[int]) -> None:
    found = clustered_rate(part, whole, cluster, seed=1)
    assert all(math.isnan(value) for value in found[:3])
    assert found.n_undefined == 2000


def test_a_single_case_gives_no_width() -> None:
    assert clustered_rate([1, 0], [1, 1], ["a", "a"], seed=1) == (0.5, 0.5, 0.5, 2, 1, 0)


def test_unequal_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="cluster labels"):
        clustered_rate([1, 0], [1, 1], ["a"], seed=1)


@settings(max_examples=30)
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 5)), min_size=1, max_size=40), st.integers(0, 1000))
def test_interval_lies_within_the_possible_and_around_most_resamples(rows: list[tuple[bool, int]], seed: int) -> None:
    right, cluster = zip(*rows, strict=True)
    found = clustered_rate(right, np.ones(len(rows)), cluster, seed=seed, n_resamples=200)
    assert 0 <= found.low <= found.high <= 1


@given(successes=st.integers(0, 40), more=st.integers(0, 40))
def test_wilson_of_a_share_is_wilson_of_whole_successes(successes: int, more: int) -> None:
    n = successes + more
    share = successes / n if n else 0.0
    assert wilson_share(share, n) == pytest.approx(wilson(successes, n), abs=1e-12)


def test_agreeing_cases_are_not_certainty() -> None:
    assert wilson_share(1.0, 1).low == pytest.approx(0.2065, abs=1e-4)
    assert wilson_share(0.5, 20).low < 0.5 < wilson_share(0.5, 20).high
