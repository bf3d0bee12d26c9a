"""Cosines of texts: bounds, symmetry, and a worked example."""

from __future__ import annotations

from math import log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crane_core.stats.text_likeness import text_cosines


@given(texts=st.lists(st.text(max_size=40), max_size=6))
def test_cosines_are_symmetric_and_within_bounds(texts: list[str]) -> None:
    found = text_cosines(texts)
    assert found.shape == (len(texts), len(texts))
    assert np.allclose(found, found.T)
    assert ((found >= 0) & (found <= 1)).all()
    own = np.diag(found)
    assert (np.isclose(own, 1) | (own == 0)).all()


def test_the_cosine_of_two_texts_by_hand() -> None:
    # idf of a word in one of two texts is 1 + ln(3/2), in both 1 + ln(3/3) = 1.
    rare = 1 + log(3 / 2)
    by_hand = 2 / (2 + rare**2)
    found = text_cosines(["index is five", "index is six"])
    assert found[0, 1] == pytest.approx(by_hand)
    assert sqrt(found[0, 0]) == pytest.approx(1)
