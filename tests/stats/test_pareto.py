"""The front is what nothing beats: by hand, and by its definition on drawn options."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crane_core.stats.pareto import pareto_front

NAN = float("nan")


@pytest.mark.parametrize(
    ("cost", "value", "front"),
    [
        ([1, 2, 3], [0.5, 0.7, 0.6], [True, True, False]),
        ([1, 1], [0.5, 0.6], [False, True]),
        ([1, 2], [0.5, 0.5], [True, False]),
        ([1, 1], [0.5, 0.5], [True, True]),
        ([NAN, 2], [0.9, 0.5], [False, True]),
        ([1, 2], [NAN, 0.5], [False, True]),
        ([], [], []),
    ],
)
def test_by_hand(
    cost: list[float], value: list[float], front: list[bool]
) -> None:
    assert pareto_front(cost, value).tolist() == front


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=12))
def test_what_is_off_the_front_is_beaten_by_something_on_it(
    options: list[tuple[int, int]],
) -> None:
    cost, value = (
        np.array([o[0] for o in options], float),
        np.array([o[1] for o in options], float),
    )
    front = pareto_front(cost, value)
    for place, (c, v) in enumerate(options):
        on_front = [
            option for option, on in zip(options, front, strict=True) if on
        ]
        is_beaten = any(
            x <= c and y >= v and (x, y) != (c, v) for x, y in on_front
        )
        assert is_beaten != front[place]


def test_lengths_must_agree() -> None:
    with pytest.raises(ValueError, match="same length"):
        pareto_front([1, 2], [1])
