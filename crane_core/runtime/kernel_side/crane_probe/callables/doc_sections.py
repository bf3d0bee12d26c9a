"""The parts of a docstring that a caller must not overlook: Notes, Important and Warnings (paper, section 3.3).

Knows underlined titles (NumPy), titles with a colon (Google) and directives (Sphinx). Refuses to keep anything else.
"""

from __future__ import annotations

import re
from typing import Iterator, NamedTuple

MAX_SECTION = 700
"""Characters of one section, all its passages together."""

_TITLES = {
    "note": "Notes",
    "notes": "Notes",
    "important": "Important",
    "warning": "Warnings",
    "warnings": "Warnings",
    "caution": "Warnings",
}
_WORDS = "|".join(_TITLES)
# Three marks at least: two are a dash in prose.
_UNDERLINE = re.compile(r"\s*(?:-{3,}|={3,}|~{3,})\s*$")
_GOOGLE = re.compile(
    rf"(?P<indent>\s*)(?:\*\*)?(?P<title>{_WORDS}):(?:\*\*)?\s*(?P<rest>.*)$",
    re.IGNORECASE,
)
_SPHINX = re.compile(
    rf"(?P<indent>\s*)\.\.\s+(?P<title>{_WORDS})\s*::\s*(?P<rest>.*)$",
    re.IGNORECASE,
)


class _Passage(NamedTuple):
    title: str
    body: tuple[str, ...]


def sections_of(doc: str) -> dict[str, str]:
    """ "Notes", "Important" and "Warnings" to their text, white space flattened; what is beyond MAX_SECTION counts."""
    lines = doc.expandtabs().splitlines()
    found: dict[str, list[str]] = {}
    for passage in _passages(lines):
        # Line breaks are of the source's width, and cost tokens.
        flat = " ".join(" ".join(passage.body).split())
        if flat:
            found.setdefault(passage.title, []).append(flat)
    return {title: _bounded(" ".join(found[title])) for title in sorted(found)}


def _passages(lines: list[str]) -> Iterator[_Passage]:
    position = 0
    while position < len(lines):
        passage = _passage_at(lines, position)
        if passage is None:
            position += 1
            continue
        yield passage
        position += max(1, len(passage.body))


def _passage_at(lines: list[str], start: int) -> _Passage | None:
    # NumPy's title first: its line has no colon, so Google's rule would not see it.
    if _is_underlined(lines, start):
        title = _TITLES.get(lines[start].strip().lower())
        return (
            _Passage(title, ("", "", *_until_next_title(lines, start + 2)))
            if title
            else None
        )
    sphinx, google = _SPHINX.match(lines[start]), _GOOGLE.match(lines[start])
    match = sphinx or google
    if match is None:
        return None
    # "Note: text" is one paragraph; a title alone has an indented body.
    is_paragraph = google is not None and bool(match["rest"])
    inner = (
        _paragraph(lines, start + 1)
        if is_paragraph
        else _indented(lines, start + 1, len(match["indent"]))
    )
    return _Passage(_TITLES[match["title"].lower()], (match["rest"], *inner))


def _is_underlined(lines: list[str], position: int) -> bool:
    return bool(
        lines[position].strip()
        and position + 1 < len(lines)
        and _UNDERLINE.match(lines[position + 1])
    )


def _until_next_title(lines: list[str], start: int) -> tuple[str, ...]:
    end = start
    while end < len(lines) and not _is_underlined(lines, end):
        end += 1
    return tuple(lines[start:end])


def _indented(lines: list[str], start: int, indent: int) -> tuple[str, ...]:
    """The lines that stand deeper than `indent`, blank ones in between included."""
    end = start
    while end < len(lines) and (
        # The body ends with the first line that is not deeper than its title.
        not lines[end].strip()
        or len(lines[end]) - len(lines[end].lstrip()) > indent
    ):
        end += 1
    return tuple(lines[start:end])


def _paragraph(lines: list[str], start: int) -> tuple[str, ...]:
    end = start
    while end < len(lines) and lines[end].strip():
        end += 1
    return tuple(lines[start:end])


def _bounded(flat: str) -> str:
    if len(flat) <= MAX_SECTION:
        return flat
    # Cut between words; the rest is counted, so that a model knows of it.
    shown = flat[:MAX_SECTION].rpartition(" ")[0] or flat[:MAX_SECTION]
    return f"{shown} \u2026 ({len(flat) - len(shown)} characters more)"
