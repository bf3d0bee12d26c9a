"""The practice round at the same desk: ten example items, each with the guideline's answer at once. Nothing is kept."""

from __future__ import annotations

from typing import Any

import streamlit as st

from crane_core.annotation.guideline import guideline
from crane_core.annotation.label_set import study_labels
from crane_core.annotation.practice import practice_items
from crane_core.pipeline.campaigns.cards import MINIBENCH, evidence, practice_card
from crane_core.ui import data, keys
from crane_core.ui.annotate.card_html import card_html
from crane_core.ui.annotate.component import draw_component, what_was_sent
from crane_core.ui.code_html import prose_html
from crane_core.ui.guideline_view import draw_guideline
from crane_core.ui.label_view import for_desk
from crane_core.ui.navigation import show_here
from crane_core.ui.pair_code import code_and_state_html


def draw_practice() -> None:
    """The practice screen."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.title("Practice", anchor=False, width="content")
        st.caption("ten diagnoses of the example notebooks", width="stretch")
        with st.popover("Guideline", width="content"):
            draw_guideline(guideline())
        st.button("All campaigns", icon=":material/arrow_back:", on_click=show_here)
    _desk()


@st.fragment
def _desk() -> None:
    wanted = what_was_sent(keys.PRACTICE_DESK).get("evidence")
    draw_component(_round(wanted), key=keys.PRACTICE_DESK, on_sent=lambda: None)


def _round(wanted: object) -> dict[str, Any]:
    items = practice_items()
    names = [f"practice-{place}" for place in range(1, len(items) + 1)]
    cards = {
        name: card_html(practice_card(data.store(), item))
        for name, item in zip(names, items, strict=True)
    }
    answers = {
        name: {"label": str(item.label), "why": prose_html(item.why)}
        for name, item in zip(names, items, strict=True)
    }
    shown = dict(zip(names, items, strict=True)).get(str(wanted))
    return {
        "queue": names,
        "undo": [],
        "labels": {},
        "reasons": {},
        "flags": [],
        "notes": {},
        "cards": cards,
        "practice": answers,
        "done": 0,
        "total": len(items),
        "saved": [],
        "refused": {},
        "label_set": for_desk(study_labels()),
        "evidence": {"id": wanted, "html": _evidence(shown.case_id)} if shown else None,
    }


def _evidence(case_id: str) -> str:
    found = evidence(data.store(), MINIBENCH, case_id)
    return code_and_state_html(
        found.cells, found.states, found.traceback, found.diagnosis
    )
