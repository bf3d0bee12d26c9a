"""Intervals of rates and differences: oracles, values by hand, degenerate cases, and how often they hold the truth."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.stats import norm, t
from statsmodels.regression.linear_model import OLS
from statsmodels.stats.proportion import proportion_confint

from benchmarks import interval_coverage
from crane_core.stats.intervals import (
    clustered_contrast,
    clustered_difference,
    clustered_rate,
    student_quantile,
    wilson,
)

Z = float(norm.ppf(0.975))
ROWS = st.lists(
    st.tuples(st.booleans(), st.booleans(), st.integers(0, 5)),
    min_size=1,
    max_size=40,
)


@given(
    st.integers(1, 400).flatmap(
        lambda n: st.tuples(st.integers(0, n), st.just(n))
    )
)
def test_wilson_agrees_with_statsmodels(counts: tuple[int, int]) -> None:
    successes, n = counts
    assert wilson(successes / n, n, Z) == pytest.approx(
        proportion_confint(*counts, method="wilson"), abs=1e-9
    )


def test_the_variance_of_a_rate_is_that_of_cluster_robust_regression() -> None:
    """statsmodels' sandwich, with its n / (n - 1); the effective n, read back out of the interval, follows from it."""
    rng = np.random.default_rng(3)
    cluster = np.repeat(np.arange(30), 3)
    right = (rng.random(90) < np.repeat(rng.random(30), 3)).astype(float)
    fit = OLS(right, np.ones(90)).fit(
        cov_type="cluster",
        cov_kwds={
            "groups": cluster,
            "use_correction": False,
            "df_correction": False,
        },
    )
    p, variance = right.mean(), float(fit.cov_params()[0, 0]) * 30 / 29
    found = clustered_rate(right, np.ones(90), cluster)
    effective = p * (1 - p) / variance
    assert 30 < effective < 90
    assert found == pytest.approx(
        (p, *wilson(p, effective, float(t.ppf(0.975, 29))), 90, 30), abs=1e-9
    )


def test_one_instance_a_case_is_bonett_and_prices_shape_by_hand() -> None:
    """Of 20 cases five were gained and one lost: m = 4 / 21, v = 7 / 21 - m^2, t = 2.0930 for 19 degrees."""
    a = np.array([1.0] + [0.0] * 5 + [1.0] * 14)
    b = np.array([0.0] + [1.0] * 5 + [1.0] * 14)
    found = clustered_difference(a, np.ones(20), b, np.ones(20), np.arange(20))
    middle = 4 / 21
    reach = 2.093024 * math.sqrt((7 / 21 - middle**2) / 21)
    assert found == pytest.approx(
        (0.2, middle - reach, middle + reach, 20, 20), abs=1e-6
    )


def test_two_instances_that_share_their_fate_weigh_as_one() -> None:
    right = np.array([1.0, 0, 1, 1, 0, 1, 1, 1, 0, 1])
    once = clustered_rate(right, np.ones(10), np.arange(10))
    twice = clustered_rate(
        np.repeat(right, 2), np.ones(20), np.repeat(np.arange(10), 2)
    )
    assert twice[:3] == pytest.approx(once[:3])


def test_order_does_not_matter() -> None:
    rng = np.random.default_rng(5)
    right, cluster = (
        (rng.random(222) < 0.7).astype(float),
        np.repeat(np.arange(111), 2),
    )
    order = rng.permutation(222)
    first = clustered_rate(right, np.ones(222), cluster)
    assert clustered_rate(
        right[order], np.ones(222), cluster[order]
    ) == pytest.approx(first)


def test_no_agreement_is_certainty() -> None:
    """All cases say the same, and still the interval has a width; one case says nothing of the next."""
    ones = np.ones(40)
    rate = clustered_rate(ones, ones, np.repeat(np.arange(20), 2))
    assert rate.value == rate.high == 1.0 and 0.8 < rate.low < 0.9
    same = clustered_difference(
        ones, ones, ones, ones, np.repeat(np.arange(20), 2)
    )
    assert same.value == 0 and -0.1 < same.low < 0 < same.high < 0.1
    assert clustered_rate([1, 0], [1, 1], ["a", "a"])[:3] == (0.5, 0.0, 1.0)
    assert clustered_difference([0, 0], [1, 1], [1, 0], [1, 1], ["a", "a"])[
        :3
    ] == (
        0.5,
        -1.0,
        1.0,
    )


def test_instances_that_the_rate_is_not_over_do_not_count() -> None:
    found = clustered_rate([1, 0, 0], [1, 0, 0], ["a", "b", "c"])
    assert (found.n, found.n_clusters) == (1, 1)


@pytest.mark.parametrize(
    ("part", "whole", "cluster"), [([], [], []), ([0, 0], [0, 0], [1, 2])]
)
def test_nothing_to_have_a_rate_of_is_undefined(
    part: list[float], whole: list[float], cluster: list[int]
) -> None:
    for found in (
        clustered_rate(part, whole, cluster),
        clustered_difference(part, whole, part, whole, cluster),
    ):
        assert all(math.isnan(value) for value in found[:3])
        assert (found.n, found.n_clusters) == (0, 0)


def test_unequal_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="cluster labels"):
        clustered_rate([1, 0], [1, 1], ["a"])


@given(ROWS)
@example([(True, False, 0)] * 4 + [(True, False, 1)])
def test_intervals_hold_their_value_within_the_possible_and_are_never_without_width(
    rows: list[tuple[bool, bool, int]],
) -> None:
    a, b, cluster = (
        np.array(column, dtype=float) for column in zip(*rows, strict=True)
    )
    ones = np.ones(len(rows))
    rate, change = (
        clustered_rate(a, ones, cluster),
        clustered_difference(a, ones, b, ones, cluster),
    )
    assert 0 <= rate.low <= rate.value <= rate.high <= 1
    assert -1 <= change.low <= change.value <= change.high <= 1
    assert rate.low < rate.high and change.low < change.high


@given(ROWS, st.floats(0.5, 4))
def test_the_unit_of_the_sums_does_not_matter(
    rows: list[tuple[bool, bool, int]], unit: float
) -> None:
    a, b, cluster = (
        np.array(column, dtype=float) for column in zip(*rows, strict=True)
    )
    ones = np.ones(len(rows))
    once = clustered_difference(a, ones, b, ones, cluster)
    assert clustered_difference(
        unit * a, unit * ones, unit * b, unit * ones, cluster
    ) == pytest.approx(once)
    assert clustered_rate(unit * a, unit * ones, cluster) == pytest.approx(
        clustered_rate(a, ones, cluster)
    )


@pytest.mark.parametrize("n_cases", [3, 10, 20, 111])
def test_ninety_five_of_a_hundred_hold_the_truth(n_cases: int) -> None:
    """A corner of the benchmark: two instances of a case, alike by 0.4."""
    shape = (2, 0.4)
    lost = interval_coverage.LOST
    scenes = [
        interval_coverage.Scene(lost + 0.1, lost, *shape),
        interval_coverage.Scene(0.7, None, *shape),
    ]
    for scene in scenes:
        held = interval_coverage.coverage(n_cases, scene, 300)
        assert held >= 0.93 - interval_coverage.noise(0.93, 300)
        if n_cases >= interval_coverage.FROM_CASES:
            assert held <= 0.98 + interval_coverage.noise(0.98, 300)


def test_a_contrast_of_two_rates_is_their_difference() -> None:
    rng = np.random.default_rng(11)
    part, other = (rng.random((2, 60)) < 0.6).astype(float)
    whole = np.ones(60)
    cluster = np.repeat(np.arange(30), 2)
    found = clustered_contrast((-1, 1), (part, other), (whole, whole), cluster)
    assert found == clustered_difference(part, whole, other, whole, cluster)
    swapped = clustered_contrast(
        (1, -1), (part, other), (whole, whole), cluster
    )
    assert (swapped.value, swapped.low, swapped.high) == pytest.approx(
        (-found.value, -found.high, -found.low)
    )


def test_a_difference_of_changes_is_one_difference_of_what_each_instance_gained() -> (
    None
):
    """Over the same instances every instance has one number, its own difference of changes."""
    rng = np.random.default_rng(12)
    a, b, c, d = (rng.random((4, 80)) < 0.5).astype(float)
    ones, cluster = np.ones(80), np.repeat(np.arange(40), 2)
    found = clustered_contrast(
        (-1, 1, 1, -1), (a, b, c, d), (ones,) * 4, cluster
    )
    single = clustered_difference(a - c, ones, b - d, ones, cluster)
    assert found[:3] == pytest.approx(single[:3])


def test_a_contrast_of_groups_without_a_common_case_adds_their_variances() -> (
    None
):
    """Welch's sum of variances; the imaginary case adds little to 400 cases."""
    rng = np.random.default_rng(13)
    right = (rng.random(400) < np.repeat([0.3, 0.7], 200)).astype(float)
    first = np.repeat([1.0, 0.0], 200)
    found = clustered_contrast(
        (-1, 1),
        (right * first, right * (1 - first)),
        (first, 1 - first),
        np.arange(400),
    )
    p, q = right[:200].mean(), right[200:].mean()
    reach = Z * math.sqrt(p * (1 - p) / 200 + q * (1 - q) / 200)
    assert found.value == pytest.approx(q - p)
    assert (found.high - found.low) / 2 == pytest.approx(reach, rel=0.02)


def test_a_contrast_with_an_undefined_rate_is_undefined() -> None:
    ones = np.ones(4)
    assert math.isnan(
        clustered_contrast(
            (-1, 1), (ones, ones), (ones, 0 * ones), np.arange(4)
        ).value
    )


@pytest.mark.parametrize("share", [0.1, 0.2, 0.35, 0.4, 0.55, 0.7, 0.8, 2 / 3])
@pytest.mark.parametrize("n_cases", [2, 3, 6, 7])
def test_cases_that_are_alike_count_once_whatever_the_last_digit(
    share: float, n_cases: int
) -> None:
    found = clustered_rate(
        [share] * 2 * n_cases, [1.0] * 2 * n_cases, [*range(n_cases)] * 2
    )
    expected = wilson(share, n_cases, student_quantile(n_cases - 1, 0.95))
    assert (found.low, found.high) == pytest.approx(expected, abs=1e-9)
