"""The guideline for new campaigns, a campaign's versions, and the requirements for a text.

Knows texts and their versions. Refuses to know files of the ledger and pages.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from difflib import unified_diff
from importlib.resources import files
from typing import NamedTuple

MOST_CHARACTERS = 40_000
"""Characters of a guideline; the one for new campaigns has about a fifth."""
CONTEXT = 1
"""Unchanged lines around a change in a difference on the terminal."""
_FOLDED = re.compile(r"^### +(?=\S)", re.MULTILINE)


class GuidelineVersion(NamedTuple):
    """A text and since when it has been in force, ISO 8601 in UTC. `by` is empty if its author is unknown."""

    version: str
    text: str
    since: str
    by: str


class Section(NamedTuple):
    """A part of a guideline that is folded away; Markdown."""

    title: str
    text: str


def guideline() -> str:
    """The text for new campaigns, Markdown."""
    return (files("crane_core.annotation") / "guideline.md").read_text("utf-8")


def version_of(text: str) -> str:
    """Twelve hex digits of the text's sha256."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def guideline_version() -> str:
    """The version of the text for new campaigns."""
    return version_of(guideline())


def as_guideline(text: str) -> str:
    """The text as it is stored: line ends of one kind, one at its end. Raises ValueError if it is not valid."""
    whole = (
        # The version is a digest of the text, which the kind of line end must not change.
        text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "").strip("\n")
        + "\n"
    )
    if not whole.strip():
        raise ValueError("the guideline is empty")
    if len(whole) > MOST_CHARACTERS:
        raise ValueError(
            f"the guideline has {len(whole):,} characters; {MOST_CHARACTERS:,} are allowed"
        )
    return whole


def sections(text: str) -> tuple[str, tuple[Section, ...]]:
    """The text before the first heading of the third level, and a section for each such heading."""
    head, *parts = _FOLDED.split(text)
    titled = (part.partition("\n") for part in parts)
    return head, tuple(
        Section(title.strip(), body.strip()) for title, _, body in titled
    )


def difference(older: str, newer: str) -> list[str]:
    """The changed lines in the form of `diff -u`, without its head."""
    return list(
        unified_diff(older.splitlines(), newer.splitlines(), lineterm="", n=CONTEXT)
    )[2:]


def version_known(
    versions: Sequence[GuidelineVersion], version: object
) -> GuidelineVersion | None:
    """The last of a campaign's versions with this name."""
    return next(
        (entry for entry in reversed(versions) if entry.version == version), None
    )
