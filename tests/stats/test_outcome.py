"""The six outcomes of a comparison: what each of them needs, and that none needs less."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crane_core.stats.outcome import Outcome, outcome, outcome_text

NAN = float("nan")


@pytest.mark.parametrize(
    ("difference", "p_adjusted", "p_smaller", "expected"),
    [
        (0.08, (0.001,), None, Outcome.GAIN),
        (-0.235, (0.001,), None, Outcome.LOSS),
        (0.08, (0.05,), None, Outcome.NO_EVIDENCE),
        (0.08, (0.001, 0.2), None, Outcome.NO_EVIDENCE),
        (0.0, (1.0,), None, Outcome.NO_EVIDENCE),
        (0.08, (), None, Outcome.NOT_TESTED),
        (-0.51, (NAN, None), None, Outcome.NOT_TESTED),
        (0.08, (0.001, NAN), None, Outcome.GAIN),
        (NAN, (NAN,), None, Outcome.NOTHING),
        (None, (0.001,), None, Outcome.NOTHING),
        (0.01, (0.6,), 0.03, Outcome.SMALLER),
        (0.01, (), 0.03, Outcome.SMALLER),
        (0.01, (0.6,), 0.05, Outcome.NO_EVIDENCE),
        (0.01, (0.6,), NAN, Outcome.NO_EVIDENCE),
        (0.01, (0.001,), 0.03, Outcome.GAIN),
    ],
)
def test_outcome(
    difference: float | None,
    p_adjusted: tuple[float | None, ...],
    p_smaller: float | None,
    expected: Outcome,
) -> None:
    assert outcome(difference, p_adjusted, p_smaller=p_smaller) is expected


@given(st.floats(-1, 1), st.lists(st.floats(0, 1), max_size=3))
def test_both_directions_are_treated_alike(
    difference: float, p_adjusted: list[float]
) -> None:
    mirrored = {Outcome.GAIN: Outcome.LOSS, Outcome.LOSS: Outcome.GAIN}
    found = outcome(difference, p_adjusted)
    assert outcome(-difference, p_adjusted) is mirrored.get(found, found)


@pytest.mark.parametrize(
    ("bound", "text"),
    [
        (0.05, "smaller than 5 points"),
        (0.01, "smaller than 1 point"),
        (0.07, "smaller than 7 points"),
        (0.025, "smaller than 2.5 points"),
    ],
)
def test_a_bound_is_named_and_read_back(bound: float, text: str) -> None:
    assert outcome_text(Outcome.SMALLER, bound) == text
    assert Outcome(text) is Outcome.SMALLER


def test_other_outcomes_name_no_bound_and_other_words_are_none() -> None:
    assert outcome_text(Outcome.LOSS, 0.05) == "loss"
    with pytest.raises(ValueError, match="clearly smaller"):
        Outcome("clearly smaller")
