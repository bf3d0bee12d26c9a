"""Which words of two versions of a line differ. Two lines in, spans of characters out; no screen."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import NamedTuple

LIKENESS = 0.4
"""Lines that share less than this part of their words (difflib ratio) are other lines: nothing in them is marked."""
MOST_WORDS = 400
"""Words of a line that are compared."""
_WORD = re.compile(r"\w+|\s+|[^\w\s]")

Span = tuple[int, int]
"""First character and the one after the last."""


class WordSpans(NamedTuple):
    """What differs on the left and on the right; nothing on both sides where the lines are too unlike."""

    left: tuple[Span, ...]
    right: tuple[Span, ...]


def changed_words(left: str, right: str) -> WordSpans:
    """The spans of the words that only one of the lines has."""
    a, b = _words(left), _words(right)
    matcher = SequenceMatcher(None, [left[i:j] for i, j in a], [right[i:j] for i, j in b], autojunk=False)
    if matcher.ratio() < LIKENESS:
        return WordSpans((), ())
    changes = [change for change in matcher.get_opcodes() if change[0] != "equal"]
    return WordSpans(
        tuple((a[i1][0], a[i2 - 1][1]) for _, i1, i2, _, _ in changes if i2 > i1),
        tuple((b[j1][0], b[j2 - 1][1]) for _, _, _, j1, j2 in changes if j2 > j1),
    )


def _words(line: str) -> list[Span]:
    return [found.span() for found, _ in zip(_WORD.finditer(line), range(MOST_WORDS), strict=False)]
