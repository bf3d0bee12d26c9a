"""Two one-sided tests of a bound: an oracle, their level by simulation, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.weightstats import ttost_paired

from crane_core.stats.equivalence import smaller_p, smaller_p_values
from crane_core.stats.intervals import RateEstimate, difference_of_cases

BOUND = 0.05


def p_of(estimate: RateEstimate, bound: float = BOUND) -> float:
    return smaller_p(*estimate[:3], estimate.n_clusters, bound=bound)


def test_it_is_the_paired_tost_of_statsmodels_for_many_cases() -> None:
    rng = np.random.default_rng(1)
    base = rng.binomial(2, 0.5, size=4000).astype(float)
    other = np.clip(
        base + rng.choice([-1, 0, 1], p=[0.1, 0.78, 0.12], size=4000), 0, 2
    )
    ours = p_of(difference_of_cases(base, other, np.full(4000, 2)), 0.02)
    theirs = ttost_paired(other / 2, base / 2, -0.02, 0.02)[0]
    # The imaginary case of the interval is worth one in 4,000.
    assert ours == pytest.approx(theirs, rel=0.02)
    assert 0.0001 < theirs < 0.5


@pytest.mark.parametrize("n_draws", [1, 2])
@pytest.mark.parametrize("n_cases", [10, 24, 50, 111])
def test_a_difference_of_the_bound_is_seldom_called_smaller(
    n_cases: int, n_draws: int
) -> None:
    """Cases of two instances, of which 5 or 10% differ: both by one draw, or each by its own."""
    rng = np.random.default_rng(n_cases)
    n_studies = 400
    for share in (0.05, 0.1):
        up = (share + BOUND) / 2
        chances = [up, share - up, 1 - share]
        drawn = rng.choice(
            [1, -1, 0], p=chances, size=(n_studies, n_cases, n_draws)
        )
        moved = drawn.sum(axis=2) * (2 / n_draws)
        found = [
            p_of(
                difference_of_cases(np.zeros(n_cases), one, np.full(n_cases, 2))
            )
            for one in moved
        ]
        # 5% and three standard errors of 400 studies.
        assert np.mean(np.array(found) < 0.05) <= 0.05 + 3 * 0.011


def test_cases_that_do_not_differ_need_to_be_many_enough() -> None:
    def found(n: int) -> float:
        nothing = np.zeros(n)
        return p_of(difference_of_cases(nothing, nothing, np.full(n, 2)))

    # The imaginary case alone would have let 24 pass.
    assert found(24) > 0.05
    assert found(60) < 0.05


@given(
    st.lists(st.sampled_from([-2, -1, 0, 1, 2]), min_size=2, max_size=80),
    st.floats(0.01, 0.3),
)
def test_directions_are_alike_and_a_wider_bound_is_easier(
    moved: list[int], bound: float
) -> None:
    n = len(moved)
    asked, nothing = np.full(n, 2), np.zeros(n)
    up = p_of(difference_of_cases(nothing, moved, asked), bound)
    down = p_of(difference_of_cases(moved, nothing, asked), bound)
    assert up == pytest.approx(down)
    assert (
        p_of(difference_of_cases(nothing, moved, asked), bound + 0.1)
        <= up + 1e-12
    )
    # Nothing beyond the bound is ever called smaller.
    if abs(sum(moved) / (2 * n)) >= bound:
        assert up >= 0.5


def test_what_is_undefined_has_no_p() -> None:
    nan = float("nan")
    found = smaller_p_values(
        [0.0, nan, 0.0], [-0.1, nan, -1.0], [0.1, nan, 1.0], [40, nan, 1]
    )
    assert np.isnan(found).tolist() == [False, True, True]


@pytest.mark.parametrize("bound", [0.0, -0.05, 1.0, 5.0])
def test_a_bound_is_a_share_above_0(bound: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        smaller_p(0.0, -0.1, 0.1, 30, bound=bound)
