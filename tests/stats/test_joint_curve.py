"""One p-value for many readings of the same answers, and intervals that hold for all of them together."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import permutation_test

from crane_core.stats import joint_curve
from crane_core.stats.intervals import difference_of_cases, student_quantile
from crane_core.stats.joint_curve import (
    N_DRAWS,
    curve_p,
    joint_interval,
    joint_quantile,
)
from crane_core.stats.resampling import Interval

SEED = 7


def alike_readings(
    rng: np.random.Generator, n_cases: int, n_readings: int
) -> np.ndarray:
    """Readings without an effect; two in three cases move alike in all of them."""
    chances = [0.15, 0.7, 0.15]
    common = rng.choice([-1.0, 0.0, 1.0], p=chances, size=(n_cases, 1))
    own = rng.choice([-1.0, 0.0, 1.0], p=chances, size=(n_cases, n_readings))
    is_common = rng.random((n_cases, n_readings)) < 0.67
    return np.where(is_common, common, own)


def test_of_one_reading_it_is_the_permutation_test_of_scipy() -> None:
    rng = np.random.default_rng(1)
    moved = rng.normal(0.3, 1.0, size=(40, 1))
    theirs = permutation_test(
        (moved[:, 0],),
        np.sum,
        permutation_type="samples",
        n_resamples=N_DRAWS,
        rng=np.random.default_rng(2),
    )
    assert 0.01 < theirs.pvalue < 0.5
    # Both draw 9,999 signs; three standard errors of each.
    assert curve_p(moved, seed=SEED) == pytest.approx(theirs.pvalue, abs=0.02)


def test_all_signs_of_a_few_cases_by_hand() -> None:
    moved = np.array([[0.2, 0.1], [0.1, 0.3], [0.1, 0.0], [-0.05, 0.1]])
    observed = abs(np.median(moved.sum(axis=0)))
    signs = np.array(list(product((-1.0, 1.0), repeat=4)))
    medians = np.abs(np.median(signs @ moved, axis=1))
    exact = np.mean(medians >= observed - 1e-9)
    assert curve_p(moved, seed=SEED) == pytest.approx(exact, abs=0.02)


def test_the_level_and_the_joint_coverage_of_curves_without_an_effect(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of 300 curves of 12 readings of 20 cases; 5% and three standard errors are 8.8%."""
    monkeypatch.setattr(joint_curve, "N_DRAWS", 999)
    rng = np.random.default_rng(3)
    n_cases, n_readings, n_curves = 20, 12, 300
    n_found = n_held = n_held_alone = 0
    asked, nothing = np.ones(n_cases), np.zeros(n_cases)
    for seed in range(n_curves):
        moved = alike_readings(rng, n_cases, n_readings)
        n_found += curve_p(moved / n_cases, seed=seed) <= 0.05
        quantile = joint_quantile(moved / n_cases, seed=seed)
        alone = [difference_of_cases(nothing, one, asked) for one in moved.T]
        wide = [
            joint_interval(
                Interval(one.low, one.high), one.value, n_cases, quantile
            )
            for one in alone
        ]
        n_held += all(one.low <= 0 <= one.high for one in wide)
        n_held_alone += all(one.low <= 0 <= one.high for one in alone)
    assert n_found / n_curves <= 0.088
    assert n_held / n_curves >= 0.912
    # Intervals of single readings do not hold together: this is what the quantile is for.
    assert n_held_alone / n_curves < 0.88


@given(st.integers(2, 30), st.integers(1, 6), st.integers(0, 100))
def test_more_readings_need_no_shorter_intervals(
    n_cases: int, n_readings: int, seed: int
) -> None:
    moved = alike_readings(np.random.default_rng(seed), n_cases, n_readings)
    single = student_quantile(n_cases - 1, 0.95)
    found = joint_quantile(moved, seed=SEED)
    assert found >= single
    assert joint_quantile(
        np.repeat(moved, 2, axis=1), seed=SEED
    ) == pytest.approx(found)


def test_where_nothing_moves_nothing_is_found() -> None:
    nothing = np.zeros((20, 3))
    assert curve_p(nothing, seed=SEED) == 1.0
    assert joint_quantile(nothing, seed=SEED) == student_quantile(19, 0.95)


def test_one_case_leaves_everything_open() -> None:
    assert joint_quantile([[0.5, 0.5]], seed=SEED) == np.inf
    assert joint_interval(Interval(-1.0, 1.0), 0.5, 1, np.inf) == (-1.0, 1.0)


def test_a_flat_array_is_refused() -> None:
    with pytest.raises(ValueError, match="cases by readings"):
        curve_p([0.1, 0.2], seed=SEED)
