"""Two conditions on the same instances: McNemar against an oracle."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.contingency_tables import mcnemar as oracle

from crane_core.stats.paired import discordance, mcnemar


@given(st.integers(0, 80), st.integers(0, 80))
def test_exact_mcnemar_agrees_with_statsmodels(
    only_a: int, only_b: int
) -> None:
    if only_a + only_b:
        expected = oracle([[3, only_a], [only_b, 4]], exact=True).pvalue
        assert mcnemar(only_a, only_b) == pytest.approx(expected)
    assert mcnemar(only_a, only_b) == pytest.approx(mcnemar(only_b, only_a))


def test_without_discordant_instances_nothing_is_shown() -> None:
    assert mcnemar(0, 0) == 1.0


def test_discordance_by_hand() -> None:
    a = [True, True, False, False, True, False]
    b = [True, False, True, True, True, False]
    assert discordance(a, b) == (2, 1, 2, 1)
    assert discordance(b, a) == (2, 2, 1, 1)


def test_unequal_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="same length"):
        discordance([True], [True, False])
