"""Speed and drift, worked by hand."""

from __future__ import annotations

from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crane_core.annotation.pace import (
    N_FOR_ESTIMATE,
    QUICK_S,
    Pace,
    Part,
    drift,
    pace,
)
from crane_core.domain import Label

C, P, W = Label.CORRECT, Label.PARTIAL, Label.WRONG


@pytest.mark.parametrize(
    ("seconds", "n_left", "expected"),
    [
        # Sorted 2, 4, 8, 12, 20, 300: median (8 + 12) / 2 = 10, 346 s in total, 83 left are 830 s, one under 3 s.
        ([12, 8, 300, 2, 4, 20], 83, Pace(6, 10, 346, 830, 1)),
        ([], 222, Pace(0, None, 0.0, None, 0)),
        # The time left is told from five labels on, and at the end none is.
        ([7.0] * (N_FOR_ESTIMATE - 1), 10, Pace(4, 7.0, 28.0, None, 0)),
        ([7.0] * N_FOR_ESTIMATE, 10, Pace(5, 7.0, 35.0, 70.0, 0)),
        ([7.0] * 9, 0, Pace(9, 7.0, 63.0, 0, 0)),
        # Three seconds are not quick.
        ([QUICK_S, QUICK_S - 0.5, 0.0], 1, Pace(3, 2.5, 5.5, None, 2)),
        # One long pause hardly moves the estimate.
        ([6, 6, 6, 6, 300], 10, Pace(5, 6, 324, 60, 0)),
    ],
)
def test_speed_by_hand(
    seconds: list[float], n_left: int, expected: Pace
) -> None:
    assert pace(seconds, n_left) == expected


def test_drift_of_eight_labels_by_hand() -> None:
    labels = [C, C, C, P, P, P, W, W]
    seconds = [10, 20, 30, 40, 5, 7, 1, 2]
    assert drift(labels, seconds) == [
        Part(1, 2, 15, {"correct": 1.0}),
        Part(3, 4, 35, {"correct": 0.5, "partial": 0.5}),
        Part(5, 6, 6, {"partial": 1.0}),
        Part(7, 8, 1.5, {"wrong": 1.0}),
    ]


@pytest.mark.parametrize(
    ("n", "parts"),
    [
        (0, []),
        (1, [(1, 1)]),
        (2, [(1, 1), (2, 2)]),
        (3, [(1, 1), (2, 2), (3, 3)]),
    ],
)
def test_few_labels_are_few_parts(n: int, parts: list[tuple[int, int]]) -> None:
    assert [
        (part.first, part.last) for part in drift([C] * n, [1.0] * n)
    ] == parts


@given(
    done=st.lists(
        st.tuples(st.sampled_from([C, P, W]), st.floats(0, 300)), max_size=80
    ),
    n_parts=st.integers(1, 10),
)
def test_parts_cover_every_label_once_and_evenly(
    done: list[tuple[Label, float]], n_parts: int
) -> None:
    labels, seconds = [label for label, _ in done], [s for _, s in done]
    parts = drift(labels, seconds, n_parts=n_parts)
    assert [
        place for part in parts for place in range(part.first, part.last + 1)
    ] == list(range(1, len(done) + 1))
    assert len(parts) == min(n_parts, len(done))
    for part in parts:
        assert sum(part.shares.values()) == pytest.approx(1)
        assert part.median_s == median(seconds[part.first - 1 : part.last])
    lengths = [part.last - part.first + 1 for part in parts]
    assert not lengths or max(lengths) - min(lengths) <= 1
