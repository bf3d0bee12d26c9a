"""The six outcomes of a comparison: what each of them needs, and that none needs less."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crane_core.stats.outcome import BoundTest, Outcome, outcome

NAN = float("nan")
NARROW, WIDE = BoundTest(0.05, -0.02, 0.03), BoundTest(0.05, -0.02, 0.06)


@pytest.mark.parametrize(
    ("difference", "p_adjusted", "bound", "expected"),
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
        (0.01, (0.6,), NARROW, Outcome.SMALLER),
        (0.01, (), NARROW, Outcome.SMALLER),
        (0.01, (0.6,), WIDE, Outcome.NO_EVIDENCE),
        (0.01, (0.6,), BoundTest(0.05, NAN, NAN), Outcome.NO_EVIDENCE),
        (0.01, (0.001,), NARROW, Outcome.GAIN),
    ],
)
def test_outcome(
    difference: float | None,
    p_adjusted: tuple[float | None, ...],
    bound: BoundTest | None,
    expected: Outcome,
) -> None:
    assert outcome(difference, p_adjusted, bound=bound) is expected


@given(st.floats(-1, 1), st.lists(st.floats(0, 1), max_size=3))
def test_both_directions_are_treated_alike(
    difference: float, p_adjusted: list[float]
) -> None:
    mirrored = {Outcome.GAIN: Outcome.LOSS, Outcome.LOSS: Outcome.GAIN}
    found = outcome(difference, p_adjusted)
    assert outcome(-difference, p_adjusted) is mirrored.get(found, found)


def test_a_bound_must_be_named() -> None:
    with pytest.raises(ValueError, match="above 0"):
        outcome(0.01, (0.6,), bound=BoundTest(0.0, -0.01, 0.02))
