"""Which words of two versions of a line or a text differ. Two texts in, spans or pieces out; no screen."""

import re
from difflib import SequenceMatcher
from enum import StrEnum
from itertools import groupby, islice
from typing import NamedTuple

LIKENESS = 0.4
"""Lines that share less than this part of their words (difflib ratio) are other lines: nothing in them is marked."""
MOST_WORDS = 400
"""Words of a line that are compared."""
NEAR = 0.6
"""Texts that share at least this part of their words are two versions of one."""
MOST_WORDS_OF_A_TEXT = 1_500
"""Texts of more words, with blanks and signs counted, are not compared."""
_WORD = re.compile(r"\w+|\s+|[^\w\s]")

Span = tuple[int, int]
"""First character and the one after the last."""


class WordSpans(NamedTuple):
    """What differs on the left and on the right; nothing on both sides where the lines are too unlike."""

    left: tuple[Span, ...]
    right: tuple[Span, ...]


class WordSide(StrEnum):
    """Which of two texts has a piece."""

    BOTH = "both"
    LEFT = "left"
    RIGHT = "right"


class WordSpan(NamedTuple):
    """A stretch of words, as a span of the left text if only that one has it, else of the right one."""

    side: WordSide
    span: Span


def merged_words(left: str, right: str) -> tuple[WordSpan, ...] | None:
    """Both texts as one, in reading order; None where they are too unlike, or too long."""
    a, b = (
        _words(left, MOST_WORDS_OF_A_TEXT + 1),
        _words(right, MOST_WORDS_OF_A_TEXT + 1),
    )
    if max(len(a), len(b)) > MOST_WORDS_OF_A_TEXT:
        return None
    matcher = SequenceMatcher(
        None,
        [left[i:j] for i, j in a],
        [right[i:j] for i, j in b],
        autojunk=False,
    )
    if matcher.quick_ratio() < NEAR or matcher.ratio() < NEAR:
        return None
    changes = matcher.get_opcodes()
    is_kept = [
        change == "equal" and bool(right[b[j1][0] : b[j2 - 1][1]].strip())
        for change, _, _, j1, j2 in changes
    ]
    pieces = []
    for kept, group in groupby(
        zip(is_kept, changes, strict=True), key=lambda entry: entry[0]
    ):
        spans = [change for _, change in group]
        (_, i1, _, j1, _), (_, _, i2, _, j2) = spans[0], spans[-1]
        if i2 > i1 and not kept:
            pieces.append(WordSpan(WordSide.LEFT, (a[i1][0], a[i2 - 1][1])))
        if j2 > j1:
            pieces.append(
                WordSpan(
                    WordSide.BOTH if kept else WordSide.RIGHT,
                    (b[j1][0], b[j2 - 1][1]),
                )
            )
    return tuple(pieces)


def changed_words(left: str, right: str) -> WordSpans:
    """The spans of the words that only one of the lines has."""
    a, b = _words(left), _words(right)
    matcher = SequenceMatcher(
        None,
        [left[i:j] for i, j in a],
        [right[i:j] for i, j in b],
        autojunk=False,
    )
    if matcher.ratio() < LIKENESS:
        return WordSpans((), ())
    changes = [
        change for change in matcher.get_opcodes() if change[0] != "equal"
    ]
    return WordSpans(
        tuple(
            (a[i1][0], a[i2 - 1][1]) for _, i1, i2, _, _ in changes if i2 > i1
        ),
        tuple(
            (b[j1][0], b[j2 - 1][1]) for _, _, _, j1, j2 in changes if j2 > j1
        ),
    )


def _words(line: str, most: int = MOST_WORDS) -> list[Span]:
    return [found.span() for found in islice(_WORD.finditer(line), most)]
