"""Adjusted p-values against statsmodels."""

import math
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from crane_core.stats.multiplicity import benjamini_hochberg, holm

P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=40)


@given(P_VALUES)
def test_adjustments_agree_with_statsmodels(p_values: list[float]) -> None:
    with patch(
        "gc.collect"
    ):  # statsmodels collects garbage at every call, which takes longer than all else here
        theirs = {
            method: multipletests(p_values, method=method)[1]
            for method in ("holm", "fdr_bh")
        }
    assert holm(p_values) == pytest.approx(theirs["holm"])
    assert benjamini_hochberg(p_values) == pytest.approx(theirs["fdr_bh"])


def test_hand_worked_holm() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])


@pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])
def test_tests_that_were_not_made_do_not_count(adjust) -> None:  # type: ignore[no-untyped-def]
    found = adjust([0.01, math.nan, 0.04])
    assert math.isnan(found[1])
    assert found[[0, 2]] == pytest.approx(adjust([0.01, 0.04]))
    assert adjust([]).size == 0
    assert all(math.isnan(value) for value in adjust([math.nan]))


@pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])
def test_an_impossible_p_value_is_refused(adjust) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match="between 0 and 1"):
        adjust([1.2])
