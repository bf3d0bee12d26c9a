"""Several detectors as one: by hand, and what holds of any table of predictions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from crane_core.stats.combination import any_of, cascade, majority_of

TABLES = st.tuples(st.integers(2, 5), st.integers(1, 12)).flatmap(
    lambda shape: arrays(bool, shape)
)


def test_the_three_rules_by_hand() -> None:
    table = [[1, 0, 0, 0], [0, 1, 0, 1], [0, 1, 0, 0], [1, 0, 0, 1]]
    assert any_of(table).tolist() == [True, True, False, True]
    assert majority_of(table).tolist() == [False, False, False, False]
    assert cascade(table).tolist() == [True, True, False, True]
    assert majority_of(table[1:]).tolist() == [False, True, False, True]


@given(TABLES)
def test_a_majority_is_the_mean_above_one_half(table: np.ndarray) -> None:
    assert majority_of(table).tolist() == (table.mean(axis=0) > 0.5).tolist()


@given(TABLES)
def test_a_cascade_lies_between_its_first_and_any(table: np.ndarray) -> None:
    said = cascade(table)
    assert (table[0] <= said).all()
    assert (said <= any_of(table)).all()
    assert (said[~table[0]] == majority_of(table[1:])[~table[0]]).all()


@given(TABLES)
def test_of_two_a_cascade_is_any_and_a_majority_is_both(
    table: np.ndarray,
) -> None:
    assert (cascade(table[:2]) == any_of(table[:2])).all()
    assert (majority_of(table[:2]) == table[:2].all(axis=0)).all()


def test_one_detector_makes_no_cascade_and_one_row_no_table() -> None:
    with pytest.raises(ValueError, match="two detectors"):
        cascade([[True, False]])
    with pytest.raises(ValueError, match="detectors by instances"):
        any_of([True, False])
