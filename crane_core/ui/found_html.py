"""Texts with the words of a search marked, as escaped HTML: the whole phrase, or else each of its words."""

import re
from html import escape

from crane_core.storage.search import phrase_of, words_of

MOST_OF_LINE = 160
"""Characters that are shown of a found line, around what was found."""
BEFORE_HIT = 40
"""Of them, those before the first hit of a longer line."""


def marked_line(line: str, find: str) -> str:
    """The line cut to what surrounds the first hit."""
    line = " ".join(line.split())
    first = _wanted(line, find).search(line)
    start = max(0, first.start() - BEFORE_HIT) if first else 0
    if len(line) <= MOST_OF_LINE:
        start = 0
    end = start + MOST_OF_LINE
    before = "…" if start else ""
    after = "…" if end < len(line) else ""
    return f"{before}{marked_html(line[start:end], find)}{after}"


def marked_html(text: str, find: str) -> str:
    """The whole text; without a word to find it is only escaped."""
    if not words_of(find):
        return escape(text)
    pieces, done = [], 0
    for hit in _wanted(text, find).finditer(text):
        pieces += [
            escape(text[done : hit.start()]),
            f"<mark>{escape(hit[0])}</mark>",
        ]
        done = hit.end()
    return f"{''.join(pieces)}{escape(text[done:])}"


def is_found(text: str | None, find: str) -> bool:
    """Whether the text contains every word; never without a word."""
    words = words_of(find)
    lower = (text or "").lower()
    return bool(words) and all(word in lower for word in words)


def _wanted(text: str, find: str) -> re.Pattern[str]:
    phrase = re.compile(re.escape(phrase_of(find)), re.IGNORECASE)
    words = sorted(words_of(find), key=len, reverse=True)
    any_word = re.compile("|".join(map(re.escape, words)), re.IGNORECASE)
    return phrase if phrase.search(text) else any_word
