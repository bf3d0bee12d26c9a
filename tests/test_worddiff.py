"""Words of two lines that differ: every unmarked character is in both lines, and unlike lines have no mark."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crane_core.worddiff import (
    MOST_WORDS_OF_A_TEXT,
    Span,
    WordSide,
    changed_words,
    merged_words,
)

LINE = st.text(st.sampled_from("ab1_ .(),'=é"), max_size=40)


def marked(line: str, spans: tuple[Span, ...]) -> list[str]:
    return [line[start:end] for start, end in spans]


@pytest.mark.parametrize(
    ("left", "right", "lost", "gained"),
    [
        ("x = a + b", "x = a + c", ["b"], ["c"]),
        (
            "read('f', sep=';')",
            "read('f', sep=';', skip=True)",
            [],
            [", skip=True"],
        ),
        ("y.numpy()", "y.numpy", ["()"], []),
        ("x = 1", "import pandas", [], []),
        ("same", "same", [], []),
    ],
)
def test_words_of_one_side(
    left: str, right: str, lost: list[str], gained: list[str]
) -> None:
    spans = changed_words(left, right)
    assert (marked(left, spans.left), marked(right, spans.right)) == (
        lost,
        gained,
    )


def unmarked(line: str, spans: tuple[Span, ...]) -> str:
    keep = [
        c
        for i, c in enumerate(line)
        if not any(start <= i < end for start, end in spans)
    ]
    return "".join(keep)


@given(left=LINE, right=LINE)
def test_what_is_not_marked_is_the_same_on_both_sides(
    left: str, right: str
) -> None:
    spans = changed_words(left, right)
    if spans.left or spans.right:
        assert unmarked(left, spans.left) == unmarked(right, spans.right)


WORDS = st.lists(
    st.sampled_from(
        ["the", "column", "is", "not", "missing", "from", "`frame`", "."]
    ),
    max_size=12,
).map(" ".join)


def test_two_versions_of_a_text_are_read_as_one() -> None:
    left, right = (
        "The key 'price' is missing in df.",
        "The column 'cost' is missing in df, twice.",
    )
    pieces = merged_words(left, right)
    assert pieces is not None
    assert [(str(side), (left if side is WordSide.LEFT else right)[start:end]) for side, (start, end) in pieces] == [
        ("both", "The "), ("left", "key"), ("right", "column"), ("both", " '"), ("left", "price"), ("right", "cost"),
        ("both", "' is missing in df"), ("right", ", twice"), ("both", "."),
    ]  # fmt: skip


def test_unlike_and_endless_texts_are_not_compared() -> None:
    assert (
        merged_words(
            "The key is missing.",
            "An array has another shape than its mask, therefore `where` fails",
        )
        is None
    )
    assert (
        merged_words("a " * MOST_WORDS_OF_A_TEXT, "a " * MOST_WORDS_OF_A_TEXT)
        is None
    )


@given(left=WORDS, right=WORDS)
def test_the_pieces_of_one_side_are_its_text(left: str, right: str) -> None:
    pieces = merged_words(left, right)
    if pieces is None:
        return
    assert (
        "".join(
            right[start:end]
            for side, (start, end) in pieces
            if side is not WordSide.LEFT
        )
        == right
    )
    of_left = [
        right[start:end] if side is WordSide.BOTH else left[start:end]
        for side, (start, end) in pieces
        if side is not WordSide.RIGHT
    ]
    assert "".join(of_left) == left
