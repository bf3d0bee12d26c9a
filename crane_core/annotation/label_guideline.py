"""The guideline that a campaign begins with: the one for the study's labels, or a list of the campaign's own."""

from __future__ import annotations

from crane_core.annotation.guideline import guideline
from crane_core.annotation.label_set import LabelEntry, LabelSet, means_the_study


def first_guideline(labels: LabelSet) -> str:
    """Markdown. Of own labels it says what the file says, and asks the lead for the rest."""
    if means_the_study(labels):
        return guideline()
    order = (
        "They stand from best to worst." if labels.is_ordinal else "They have no order."
    )
    listed = "\n".join(_line(label, labels) for label in labels.labels)
    return (
        "Each item is a diagnosis of a crash that happens. Give it one label.\n\n"
        f"{listed}\n\n{order}\n\n"
        "This list was made from the labels of the campaign. Its lead adds rules and examples on the Campaigns page.\n"
    )


def listed_for_judge(labels: LabelSet) -> str:
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


def _line(label: LabelEntry, labels: LabelSet) -> str:
    means = f": {_plain(label.means)}" if label.means else ""
    reasons = [
        f"{_plain(labels.reason_words[code])} ({code})" for code in label.reasons
    ]
    return f"- **{_plain(label.words)}** (key {label.key}){means}" + (
        f" Reasons: {', '.join(reasons)}." if reasons else ""
    )


def _plain(text: str) -> str:
    """The text with every sign of Markdown and HTML escaped."""
    return "".join(
        f"\\{sign}" if sign in r"\`*_{}[]()<>#+-.!|~:$^=" else sign for sign in text
    )
