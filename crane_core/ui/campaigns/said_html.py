"""The annotators' labels of one item side by side, as HTML. Names and notes are escaped."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from crane_core.annotation.label_set import LabelSet
from crane_core.pipeline.campaigns.disputes import GivenLabel
from crane_core.ui.label_view import label_html

MAX_NOTE = 4_000


def said_html(said: Sequence[GivenLabel], labels: LabelSet) -> str:
    """A column per annotator: label, reason, note, flag."""
    return (
        f'<div class="cw-said">{"".join(_one(entry, labels) for entry in said)}</div>'
    )


def _one(entry: GivenLabel, labels: LabelSet) -> str:
    label = '<span class="cw-dim">not labelled yet</span>'
    if entry.label is not None:
        label = label_html(entry.label, labels)
    reason = (
        f" {escape(labels.reason_words.get(entry.reason, entry.reason))}"
        if entry.reason
        else ""
    )
    flag = '<span class="cw-tag">flagged</span>' if entry.flagged else ""
    note = f"<p>{escape(entry.note[:MAX_NOTE])}</p>" if entry.note else ""
    return f"<section><h2>{escape(entry.annotator)} {flag}</h2><div>{label}{reason}</div>{note}</section>"
