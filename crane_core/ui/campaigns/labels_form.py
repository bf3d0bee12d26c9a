"""The labels of a new campaign: the study's, or a pasted file, checked at once and shown in their colours."""

from __future__ import annotations

from html import escape

import streamlit as st

from crane_core.annotation.label_check import MOST_BYTES, labels_from_toml
from crane_core.annotation.label_set import LabelSet, study_labels
from crane_core.pipeline.campaigns.label_sets import standing_words
from crane_core.ui.label_view import label_html
from crane_core.ui.words import literal

HELP = "TOML with two to seven labels; docs/lead/campaign.md explains it and has an example"


def draw_labels() -> LabelSet | None:
    """The set; None, after saying what is wrong with it, while the pasted file is not one."""
    with st.expander("Labels other than correct, partial, wrong"):
        text = st.text_area(
            "Label file",
            placeholder="empty: the study's labels",
            max_chars=MOST_BYTES,
            help=HELP,
        )
        if not text.strip():
            return study_labels()
        try:
            labels = labels_from_toml(text)
        except ValueError as error:
            st.error(literal(f"The label file cannot be used: {error}."))
            return None
        st.html(_preview(labels))
        if told := standing_words(labels):
            st.caption(literal(told))
    return labels


def _preview(labels: LabelSet) -> str:
    """Each label in its colour, with its key and reasons."""
    words = labels.reason_words
    rows = "".join(
        f"<tr><td><kbd>{escape(label.key)}</kbd></td><td>{label_html(label.code, labels)}</td>"
        f'<td class="cw-dim">{escape(", ".join(words[code] for code in label.reasons))}</td></tr>'
        for label in labels.labels
    )
    return f'<div class="cw-scroll"><table class="cw-labels">{rows}</table></div>'
