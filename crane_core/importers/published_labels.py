"""The words that upstream's judges and annotators use for an outcome.

Knows the spellings in files and sheets. Refuses to guess at any other word.
"""

from __future__ import annotations

from typing import Any

from crane_core.domain import Label

_LABEL_OF_WORD = {
    "correct": Label.CORRECT,
    "partially correct": Label.PARTIAL,
    "reasoning wrong": Label.WRONG,
    "wrong": Label.MISDETECTED,
}
_UNDECIDED = ("cannot verify", "cannot extract detection labels")
_EXACT = {
    f"[{word.capitalize()}]": (label, None) for word, label in _LABEL_OF_WORD.items()
}


def label_named(text: Any) -> tuple[Label, str | None] | None:
    """The label, and an undecided judge's addition to it; None for anything that is not a label of the study."""
    if not isinstance(text, str):
        return None
    # A shortcut for the thousands of entries that are spelled as upstream's judge was told to.
    if text in _EXACT:
        return _EXACT[text]
    word = text.strip().strip("[]").strip().lower()
    if word in _LABEL_OF_WORD:
        return _LABEL_OF_WORD[word], None
    if word.startswith(_UNDECIDED):
        return Label.UNVERIFIABLE, text.strip() if word not in _UNDECIDED else None
    return None
