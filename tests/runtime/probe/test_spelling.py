"""Names that may have been meant: likeness against a plain computation, and what is close."""

from __future__ import annotations

from functools import cache

from hypothesis import given
from hypothesis import strategies as st

from crane_core.runtime.kernel_side.crane_probe.chains.spelling import (
    closest,
    likeness,
)

WORDS = st.text("abc_é", max_size=9)


def longest(one: str, other: str) -> int:
    @cache
    def common(a: int, b: int) -> int:
        if a == len(one) or b == len(other):
            return 0
        if one[a] == other[b]:
            return 1 + common(a + 1, b + 1)
        return max(common(a + 1, b), common(a, b + 1))

    return common(0, 0)


@given(WORDS, WORDS)
def test_likeness_is_the_longest_common_subsequence_over_both_lengths(
    one: str, other: str
) -> None:
    expected = (
        2 * longest(one, other) / (len(one) + len(other)) if one or other else 1
    )
    assert likeness(one, other) == expected == likeness(other, one)


def test_a_slip_of_the_pen_is_close_and_another_word_is_not() -> None:
    names = [
        "append",
        "extend",
        "fillna",
        "values",
        "columns",
        "column",
        "to_numpy",
    ]
    assert closest("apend", names, 3) == ["append"]
    assert closest("colums", names, 3) == ["columns", "column"]
    assert closest("as_matrix", names, 3) == []
    assert closest("columns", names, 1) == ["columns"]


def test_a_very_long_name_is_no_work() -> None:
    assert closest("x" * 100_000, ["x" * 99_999, "y"], 3) == ["x" * 99_999]
