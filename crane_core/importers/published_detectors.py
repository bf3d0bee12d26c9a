"""The detectors whose answers are published, under the names of upstream's folders and columns.

Knows names. Refuses to know any answer.

Knows, too, the words that upstream's judges and annotators use for an outcome; refuses to guess at any other word.
"""

import re
from typing import Any

from crane_core.domain import Detector, DetectorKind, Label

_GEMINI = Detector("gemini-2.5-flash", "Gemini 2.5 Flash", DetectorKind.LLM)
_QWEN = Detector(
    "qwen-2.5-32b-instruct", "Qwen2.5-32B-Instruct", DetectorKind.LLM
)
_GPT = Detector("gpt-5", "GPT-5", DetectorKind.LLM)
_LLAMA = Detector("llama-3.3-70b", "Llama 3.3 70B", DetectorKind.LLM)
_MISTRAL = Detector("mistral-small-3.1", "Mistral Small 3.1", DetectorKind.LLM)
_PYLINT = Detector("pylint", "pylint", DetectorKind.ANALYZER)
_PYRIGHT = Detector("pyright", "pyright", DetectorKind.ANALYZER)
_RULES = Detector("rules", "Certain-crash rules", DetectorKind.RULES)
"""The local detector whose published-state answers ship; the module of detectors/ has its name and title."""

PRINTED_SPELLING = {
    "GPT-5": "GPT 5",
    "Qwen2.5-32B-Instruct": "Qwen 2.5 32b Instruct",
    "Llama 3.3 70B": "Llama 3.3 70b",
}
"""Titles as their owners spell them, and the spelling in the tables of the publications."""

_DETECTOR_OF_NAME = {
    "gemini_2_5_flash": _GEMINI,
    "gemini": _GEMINI,
    "qwen_2_5_32b_instruct": _QWEN,
    "qwen_2_5_32b": _QWEN,
    "qwen": _QWEN,
    "gpt_5": _GPT,
    "gpt5": _GPT,
    "llama3_70b": _LLAMA,
    "mistralsmall31_latest": _MISTRAL,
    "pylint": _PYLINT,
    "pyright": _PYRIGHT,
}


def detector_named(
    name: str, kind: DetectorKind = DetectorKind.LLM
) -> Detector:
    """The detector behind upstream's name; an unknown name becomes a detector of the given kind."""
    return _DETECTOR_OF_NAME.get(name.lower()) or Detector(
        slug(name), name, kind
    )


def detector_with_id(detector: str) -> Detector:
    """The detector with this local id; an unknown id becomes a language model of that name."""
    known = {
        each.detector: each for each in (*_DETECTOR_OF_NAME.values(), _RULES)
    }
    return known.get(detector) or Detector(detector, detector, DetectorKind.LLM)


def as_printed(row: str) -> str:
    """A row of a table in the publications' spelling, which machine-readable tables keep."""
    for title, spelling in PRINTED_SPELLING.items():
        row = row.replace(title, spelling)
    return row


def slug(name: str) -> str:
    """Lower-case letters, digits and dots joined by single hyphens; "unnamed" when nothing is left."""
    return re.sub(r"[^a-z0-9.]+", "-", name.lower()).strip("-.") or "unnamed"


_LABEL_OF_WORD = {
    "correct": Label.CORRECT,
    "partially correct": Label.PARTIAL,
    "reasoning wrong": Label.WRONG,
    "wrong": Label.MISDETECTED,
}
_UNDECIDED = ("cannot verify", "cannot extract detection labels")
_EXACT = {
    f"[{word.capitalize()}]": (label, None)
    for word, label in _LABEL_OF_WORD.items()
}


def label_named(text: Any) -> tuple[Label, str | None] | None:
    """The label, and an undecided judge's addition to it; None for anything that is not a label of the study."""
    if not isinstance(text, str):
        return None
    # A shortcut for the spelling that most of the thousands of published entries have.
    if text in _EXACT:
        return _EXACT[text]
    word = text.strip().strip("[]").strip().lower()
    if word in _LABEL_OF_WORD:
        return _LABEL_OF_WORD[word], None
    if word.startswith(_UNDECIDED):
        return (
            Label.UNVERIFIABLE,
            text.strip() if word not in _UNDECIDED else None,
        )
    return None
