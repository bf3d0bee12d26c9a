"""Looks at a running study: boundaries against published tables, and errors of simulated studies."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import norm

from crane_core.stats.alpha_spending import (
    Spending,
    nominal_levels,
    repeated_p,
    spent,
)

PUBLISHED = {
    Spending.OBRIEN_FLEMING: [4.877, 3.357, 2.680, 2.290, 2.031],
    Spending.POCOCK: [2.438, 2.427, 2.410, 2.397, 2.386],
}
"""z of five equally spaced looks at 5%, two-sided: Reboussin, DeMets, Kim and Lan 2000 (the program ld98)."""


@pytest.mark.parametrize("spending", Spending)
def test_boundaries_are_the_published_ones(spending: Spending) -> None:
    z = -norm.ppf(np.array(nominal_levels(5, spending)) / 2)
    assert z == pytest.approx(PUBLISHED[spending], abs=0.001)


@pytest.mark.parametrize("spending", Spending)
def test_all_is_spent_at_the_end_and_one_look_is_a_plain_test(
    spending: Spending,
) -> None:
    assert spent(spending, 1) == pytest.approx(0.05)
    shares = [spent(spending, t / 10) for t in range(1, 11)]
    assert all(one < other for one, other in pairwise(shares))
    assert nominal_levels(1, spending) == pytest.approx([0.05])
    assert repeated_p(0.03, 1, 1, spending) == 0.03


@pytest.mark.parametrize("spending", Spending)
def test_studies_without_an_effect_err_in_five_percent(
    spending: Spending,
) -> None:
    """20,000 studies of five looks; at 5% on each look 14% of them would find something."""
    rng = np.random.default_rng(3)
    z = np.cumsum(rng.standard_normal((20_000, 5)), axis=1) / np.sqrt(
        range(1, 6)
    )
    p = 2 * norm.sf(np.abs(z))
    assert np.mean(
        (p < nominal_levels(5, spending)).any(axis=1)
    ) == pytest.approx(0.05, abs=0.004)
    assert np.mean((p < 0.05).any(axis=1)) == pytest.approx(0.142, abs=0.01)


@pytest.mark.parametrize("spending", Spending)
@pytest.mark.parametrize("look", [2, 5])
def test_the_repeated_p_is_5_percent_at_the_boundary(
    spending: Spending, look: int
) -> None:
    level = nominal_levels(5, spending)[look - 1]
    assert repeated_p(level, look, 5, spending) == pytest.approx(0.05, rel=1e-3)
    assert repeated_p(level / 2, look, 5, spending) < 0.05
    assert repeated_p(1.0, look, 5, spending) == 1


def test_before_the_first_look_nothing_is_rejected() -> None:
    assert repeated_p(1e-9, 0, 5, Spending.POCOCK) == 1
    assert np.isnan(repeated_p(np.nan, 3, 5, Spending.POCOCK))
    for n_looks, alpha in ((0, 0.05), (11, 0.05), (3, 0.0)):
        with pytest.raises(ValueError, match="not possible"):
            nominal_levels(n_looks, Spending.POCOCK, alpha)
