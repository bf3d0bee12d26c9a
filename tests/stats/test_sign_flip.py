"""The sign-flip test by case against scipy's permutation test, by hand, and its share of false alarms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm, permutation_test

from crane_core.stats.paired import mcnemar
from crane_core.stats.sign_flip import sign_flip
from tests.examples import examples

STEPS = st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0])


def oracle(
    sums: list[float], n_resamples: float = np.inf, seed: int = 0
) -> float:
    found = permutation_test(
        (np.asarray(sums),),
        lambda x, axis: np.sum(x, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=n_resamples,
        rng=np.random.default_rng(seed),
    )
    return float(found.pvalue)


@examples(60)
@given(st.lists(STEPS, min_size=2, max_size=9))
def test_it_is_scipys_exact_permutation_test(differences: list[float]) -> None:
    assert sign_flip(
        differences, range(len(differences)), seed=1
    ) == pytest.approx(oracle(differences))


def test_instances_of_a_case_are_flipped_together() -> None:
    found = sign_flip(
        [0.5, 0.5, 1.0, -0.5, 0.0], ["a", "a", "b", "b", "c"], seed=1
    )
    assert found == oracle([1.0, 0.5, 0.0]) == 0.5


def test_of_yes_and_no_it_is_mcnemars_exact_test() -> None:
    assert sign_flip(
        [1.0] * 9 + [-1.0] * 2, range(11), seed=1
    ) == pytest.approx(mcnemar(2, 9))


@examples(30)
@given(
    st.lists(
        st.fractions(-2, 2, max_denominator=6).map(float),
        min_size=2,
        max_size=9,
    )
)
def test_shares_of_votes_are_counted_out_too(differences: list[float]) -> None:
    assert sign_flip(
        differences, range(len(differences)), seed=1
    ) == pytest.approx(oracle(differences), abs=1e-9)


def test_sums_without_a_common_unit_are_drawn_and_the_seed_decides() -> None:
    drawn = np.random.default_rng(3).normal(0.2, 1, size=12)
    found = sign_flip(drawn, range(12), seed=5)
    assert (
        found
        == sign_flip(drawn, range(12), seed=5)
        != sign_flip(drawn, range(12), seed=6)
    )
    assert found == pytest.approx(oracle(drawn.tolist()), abs=0.006)


def test_many_cases_are_counted_out_as_well() -> None:
    """22,200 instances, as in a store a hundred times larger; nearly normal by then."""
    drawn = np.random.default_rng(3).choice(
        [-1.0, 0.0, 1.0], size=22_200, p=[0.1, 0.79, 0.11]
    )
    sums = drawn.reshape(-1, 2).sum(axis=1)
    expected = 2 * norm.sf((abs(sums.sum()) - 0.5) / np.sqrt(sums @ sums))
    assert sign_flip(
        drawn, np.repeat(np.arange(11_100), 2), seed=1
    ) == pytest.approx(expected, abs=0.01)


def test_where_nothing_differs_there_is_no_doubt() -> None:
    assert sign_flip([], [], seed=1) == 1.0
    assert sign_flip([0.0, 0.5, -0.5], ["a", "b", "b"], seed=1) == 1.0


@pytest.mark.parametrize("n_cases", [13, 40])
def test_without_an_effect_it_is_seldom_below_a_twentieth(n_cases: int) -> None:
    rng = np.random.default_rng(7)
    cases = np.repeat(np.arange(n_cases), 2)
    drawn = rng.choice([-1.0, -0.5, 0.5, 1.0], size=(200, n_cases)).repeat(
        2, axis=1
    )
    share = np.mean(
        [sign_flip(differences, cases, seed=1) < 0.05 for differences in drawn]
    )
    assert share == pytest.approx(0.05, abs=0.04)


def test_long_distributions_are_convolved_as_the_short_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sums = np.random.default_rng(9).choice(
        [-1.0, -0.6, 0.0, 0.2, 0.4, 0.6], size=3_000
    )
    by_transform = sign_flip(sums, range(3_000), seed=1)
    monkeypatch.setattr("crane_core.stats.sign_flip._MANY_PRODUCTS", 10**12)
    assert by_transform == pytest.approx(
        sign_flip(sums, range(3_000), seed=1), abs=1e-12
    )
