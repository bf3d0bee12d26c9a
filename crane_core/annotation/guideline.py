"""The guideline for new campaigns, a campaign's versions, and the requirements for a text.

Knows texts and their versions. Refuses to know files of the ledger and pages.
"""

import hashlib
import re
from collections.abc import Sequence
from difflib import unified_diff
from importlib.resources import files
from typing import NamedTuple

from crane_core.annotation import label_set

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


def as_guideline(text: str) -> str:
    """The text as it is stored: line ends of one kind, one at its end. Raises ValueError if it is not valid."""
    whole = (
        # The version is a digest of the text, which the kind of line end must not change.
        text.replace("\r\n", "\n")
        .replace("\r", "\n")
        .replace("\0", "")
        .strip("\n")
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
    folded = []
    for part in parts:
        title, _, body = part.partition("\n")
        folded.append(Section(title.strip(), body.strip()))
    return head, tuple(folded)


def difference(older: str, newer: str) -> list[str]:
    """The changed lines in the form of `diff -u`, without its head."""
    return list(
        unified_diff(
            older.splitlines(), newer.splitlines(), lineterm="", n=CONTEXT
        )
    )[2:]


def version_known(
    versions: Sequence[GuidelineVersion], version: object
) -> GuidelineVersion | None:
    """The last of a campaign's versions with this name."""
    return next(
        (entry for entry in reversed(versions) if entry.version == version),
        None,
    )


def first_guideline(labels: label_set.LabelSet) -> str:
    """Markdown. Of own labels it says what the file says, and asks the lead for the rest."""
    if label_set.means_the_study(labels):
        return guideline()
    order = (
        "They stand from best to worst."
        if labels.is_ordinal
        else "They have no order."
    )
    listed = "\n".join(_line(label, labels) for label in labels.labels)
    return (
        "Each item is a diagnosis of a crash that happens. Give it one label.\n\n"
        f"{listed}\n\n{order}\n\n"
        "This list was made from the labels of the campaign. Its lead adds rules and examples on the Campaigns page.\n"
    )


def listed_for_judge(labels: label_set.LabelSet) -> str:
    """A line per label for a model: the code that it replies with, the word, the meaning, and the order of the set."""
    lines = [
        # A model replies with the code, because words and signs are for people and may change.
        f'- "{label.code}": {label.word}. {label.means}'.rstrip()
        for label in labels.labels
    ]
    return "\n".join(
        [
            *lines,
            "They stand from best to worst."
            if labels.is_ordinal
            else "They have no order.",
        ]
    )


def _line(label: label_set.LabelEntry, labels: label_set.LabelSet) -> str:
    line = f"- **{_plain(label.words)}** (key {label.key})"
    if label.means:
        line += f": {_plain(label.means)}"
    if label.reasons:
        words = labels.reason_words
        reasons = [f"{_plain(words[code])} ({code})" for code in label.reasons]
        line += f" Reasons: {', '.join(reasons)}."
    return line


def _plain(text: str) -> str:
    """The text with every sign of Markdown and HTML escaped."""
    return "".join(
        f"\\{sign}" if sign in r"\`*_{}[]()<>#+-.!|~:$^=" else sign
        for sign in text
    )
