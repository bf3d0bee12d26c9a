"""Words of two lines that differ: every unmarked character is in both lines, and unlike lines have no mark."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crane_core.worddiff import Span, changed_words

LINE = st.text(st.sampled_from("ab1_ .(),'=é"), max_size=40)


def marked(line: str, spans: tuple[Span, ...]) -> list[str]:
    return [line[start:end] for start, end in spans]


@pytest.mark.parametrize(
    ("left", "right", "lost", "gained"),
    [
        ("x = a + b", "x = a + c", ["b"], ["c"]),
        ("read('f', sep=';')", "read('f', sep=';', skip=True)", [], [", skip=True"]),
        ("y.numpy()", "y.numpy", ["()"], []),
        ("x = 1", "import pandas", [], []),
        ("same", "same", [], []),
    ],
)
def test_words_of_one_side(left: str, right: str, lost: list[str], gained: list[str]) -> None:
    spans = changed_words(left, right)
    assert (marked(left, spans.left), marked(right, spans.right)) == (lost, gained)


def unmarked(line: str, spans: tuple[Span, ...]) -> str:
    keep = [c for i, c in enumerate(line) if not any(start <= i < end for start, end in spans)]
    return "".join(keep)


@given(left=LINE, right=LINE)
def test_what_is_not_marked_is_the_same_on_both_sides(left: str, right: str) -> None:
    spans = changed_words(left, right)
    if spans.left or spans.right:
        assert unmarked(left, spans.left) == unmarked(right, spans.right)
