"""Texts in a CSV that somebody opens in a spreadsheet: no note of an annotator becomes a formula there.

A text that begins with a sign that starts a formula gets an apostrophe in front, which spreadsheets take for "this is
text". One that begins with an apostrophe gets another, so that taking one away gives back what was written. Source of
the signs: OWASP, CSV Injection.
"""

from __future__ import annotations

GUARD = "'"
_STARTS = tuple("=+-@＝＋－＠\t\r\n" + GUARD)


def guarded(text: str) -> str:
    """The text as it may stand in a cell."""
    return GUARD + text if text.startswith(_STARTS) else text


def unguarded(cell: str) -> str:
    """The text that a cell was written from."""
    return cell.removeprefix(GUARD)
