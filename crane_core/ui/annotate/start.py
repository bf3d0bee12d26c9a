"""Where an annotator begins: the campaigns and who labels in them, and practice. Progress is not shown here."""

from __future__ import annotations

import streamlit as st

from crane_core.annotation.guideline import guideline
from crane_core.identity.visitor import Role, Visitor
from crane_core.pipeline.campaigns.campaigns import Kept, campaign_names, kept_campaign
from crane_core.ui import data
from crane_core.ui.guideline_view import draw_guideline
from crane_core.ui.navigation import link, turn
from crane_core.ui.refusal import refusals_shown
from crane_core.ui.visit import may, visitor
from crane_core.ui.words import count, literal


def draw_start() -> None:
    """The campaigns one can label in, and what comes before the first label."""
    st.title("Annotate")
    st.markdown(
        "A detector predicted a crash, and the cell does crash. Is the **reason** that it gave correct? Labels are "
        "*correct*, *partial* and *wrong*, one key each. You do not see which model wrote a text or what input it had."
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        turn("Practice first: ten items with feedback", practice="1")
        with st.popover("Guideline", width="content"):
            draw_guideline(guideline())
    names = campaign_names(data.folder())
    if not names:
        st.info("There is no campaign yet. Ask your lead to create a campaign.")
        if may(Role.LEAD):
            link("campaigns", "Create a campaign")
        return
    person = visitor()
    n_shown = 0
    for name in names:
        with refusals_shown():
            kept = kept_campaign(data.folder(), name)
            if not person.is_known or person.name in kept.plan.present:
                n_shown += 1
                _campaign(kept, person)
    if person.is_known and not n_shown:
        st.info(
            literal(f"No campaign has {person.name} as an annotator. Ask your lead.")
        )


def _campaign(kept: Kept, person: Visitor) -> None:
    plan = kept.plan
    with st.container(border=True):
        state = f" · locked {kept.lock.locked_at[:10]}" if kept.lock else ""
        st.markdown(f"**{literal(plan.title)}**{literal(state)}")
        diagnoses = f"{count(len(plan.items))} diagnoses."
        if person.is_known:
            st.caption(diagnoses)
            turn(
                "Continue where you stopped",
                campaign=plan.campaign,
                annotator=person.name,
            )
            return
        st.caption(f"{diagnoses} Choose your name to continue where you stopped.")
        with st.container(horizontal=True, gap="medium"):
            for annotator in plan.present:
                turn(literal(annotator), campaign=plan.campaign, annotator=annotator)
