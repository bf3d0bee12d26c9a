"""Fleiss' kappa against statsmodels, the example of its source, and Scott's pi by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import aggregate_raters
from statsmodels.stats.inter_rater import fleiss_kappa as oracle

from crane_core.stats.fleiss_kappa import FLEISS

SCALE = ["correct", "partial", "wrong"]


@given(
    st.lists(
        st.lists(st.integers(0, 2), min_size=4, max_size=4), min_size=2, max_size=40
    )
)
def test_it_is_that_of_statsmodels(rows: list[list[int]]) -> None:
    assume(len({code for row in rows for code in row}) > 1)
    counts, _ = aggregate_raters(np.array(rows), n_cat=3)
    labels = [[SCALE[code] for code in row] for row in rows]
    assert FLEISS(labels, SCALE).value == pytest.approx(oracle(counts), abs=1e-12)


def test_the_example_of_the_formula() -> None:
    """Ten subjects, fourteen raters, five categories: the worked example of many textbooks, kappa 0.210."""
    counts = [
        [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
    ]  # fmt: skip
    labels = [
        [category for category, n in zip("abcde", row, strict=True) for _ in range(n)]
        for row in counts
    ]
    assert FLEISS(labels, "abcde").value == pytest.approx(0.20993, abs=5e-6)


def test_two_annotators_give_scotts_pi() -> None:
    labels = [
        ["correct", "correct"],
        ["correct", "wrong"],
        ["wrong", "wrong"],
        ["wrong", "wrong"],
    ]
    chance = (3 / 8) ** 2 + (5 / 8) ** 2
    assert FLEISS(labels, SCALE).value == pytest.approx((3 / 4 - chance) / (1 - chance))


def test_an_item_with_one_label_does_not_count() -> None:
    labels = [
        ["correct", "correct", None],
        ["correct", "wrong", "wrong"],
        ["wrong", None, "wrong"],
    ]
    alone = [*labels, ["partial", None, None]]
    assert FLEISS(alone, SCALE) == FLEISS(labels, SCALE)
