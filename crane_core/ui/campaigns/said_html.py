"""What annotators said of one item, side by side, as HTML. Names and notes are escaped."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from crane_core.annotation.reasons import REASONS
from crane_core.pipeline.disputes import Said
from crane_core.ui.words import LABEL_CSS, LABEL_WORDS

MAX_NOTE = 4_000


def said_html(said: Sequence[Said]) -> str:
    """A column per annotator: label, reason, note, flag."""
    return f'<div class="cw-said">{"".join(_one(entry) for entry in said)}</div>'


def _one(entry: Said) -> str:
    label = '<span class="cw-dim">not labelled yet</span>'
    if entry.label is not None:
        label = f'<b class="{LABEL_CSS[entry.label]}">{escape(LABEL_WORDS[entry.label])}</b>'
    reason = f" {escape(REASONS.get(entry.reason, entry.reason))}" if entry.reason else ""
    flag = '<span class="cw-tag">flagged</span>' if entry.flagged else ""
    note = f"<p>{escape(entry.note[:MAX_NOTE])}</p>" if entry.note else ""
    return f"<section><h4>{escape(entry.annotator)} {flag}</h4><div>{label}{reason}</div>{note}</section>"
