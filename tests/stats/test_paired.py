"""Two conditions on the same instances: McNemar, difference and detectable size against oracles."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm
from statsmodels.stats.contingency_tables import mcnemar as oracle

from crane_core.stats.paired import discordance, mcnemar, minimum_detectable_difference


@given(st.integers(0, 80), st.integers(0, 80))
def test_exact_mcnemar_agrees_with_statsmodels(only_a: int, only_b: int) -> None:
    if only_a + only_b:
        expected = oracle([[3, only_a], [only_b, 4]], exact=True).pvalue
        assert mcnemar(only_a, only_b) == pytest.approx(expected)
    assert mcnemar(only_a, only_b) == pytest.approx(mcnemar(only_b, only_a))


def test_without_discordant_instances_nothing_is_shown() -> None:
    assert mcnemar(0, 0) == 1.0
    assert math.isnan(minimum_detectable_difference(100, 0.0))


def test_discordance_by_hand() -> None:
    a = [True, True, False, False, True, False]
    b = [True, False, True, True, True, False]
    assert discordance(a, b) == (2, 1, 2, 1)
    assert discordance(b, a) == (2, 2, 1, 1)


@given(st.integers(20, 2000), st.floats(0.02, 0.9))
def test_detectable_difference_solves_connors_number_of_pairs(n: int, share: float) -> None:
    smallest = minimum_detectable_difference(n, share)
    if not math.isnan(smallest):
        z_a, z_b = norm.isf(0.025), norm.ppf(0.8)
        needed = (z_a * math.sqrt(share) + z_b * math.sqrt(share - smallest**2)) ** 2 / smallest**2
        assert needed == pytest.approx(n)


def test_detectable_difference_is_revealed_with_the_stated_power() -> None:
    n, share = 222, 0.2
    smallest = minimum_detectable_difference(n, share)
    rng = np.random.default_rng(2)
    cells = rng.multinomial(n, [(share - smallest) / 2, (share + smallest) / 2, 1 - share], size=800)
    assert np.mean([mcnemar(int(a), int(b)) < 0.05 for a, b, _ in cells]) == pytest.approx(0.8, abs=0.08)


def test_too_few_pairs_reveal_nothing() -> None:
    assert math.isnan(minimum_detectable_difference(5, 0.2))
    assert math.isnan(minimum_detectable_difference(0, 0.2))


def test_unequal_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="one length"):
        discordance([True], [True, False])
