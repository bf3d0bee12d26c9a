"""Deciding between annotators: one item with all evidence, what each said, and a label with a reason."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from crane_core.annotation.journal import DIAGNOSIS_LABELS
from crane_core.annotation.plan import Plan
from crane_core.annotation.reasons import ADJUDICATION_REASONS
from crane_core.domain import Label
from crane_core.identity.visitor import Role
from crane_core.pipeline.campaigns import kept_campaign
from crane_core.pipeline.cards import card, evidence
from crane_core.pipeline.disputes import Dispute, disputes, undecided
from crane_core.pipeline.labelling import adjudicate
from crane_core.ui import annotate, data, keys
from crane_core.ui.annotate.card_html import card_html
from crane_core.ui.campaigns.said_html import said_html
from crane_core.ui.frame import told
from crane_core.ui.navigation import show_here, turn
from crane_core.ui.pair_code import code_and_state_html
from crane_core.ui.visit import require, visitor
from crane_core.ui.words import LABEL_WORDS, count, literal

_CARD_STYLE = Path(annotate.__file__).with_name("desk.css")
REASON_KEYS = "45678"
"""As on the Annotate page: 1 to 3 are labels, the others reasons."""


def draw_adjudication(campaign: str, asked: str) -> None:
    """The screen of one item; `asked` is its name, else the first that waits."""
    plan, lock = kept_campaign(data.folder(), campaign)
    found = disputes(data.folder(), plan)
    waiting = undecided(found)
    dispute = next((entry for entry in found if entry.item == asked), waiting[0] if waiting else None)
    st.title("Decide", anchor=False)
    with st.container(horizontal=True, gap="medium"):
        turn(literal(f"Back to {campaign}"), campaign=campaign)
        st.caption(f"{count(len(waiting))} of {count(len(found))} wait for a decision", width="stretch")
    if dispute is None:
        st.success("No disagreements to resolve.")
        return
    _draw_item(plan, dispute)
    if lock is None:
        _draw_decision(plan, dispute, waiting)
    else:
        st.info("The campaign is locked: its outcomes can no longer change.")
    st.subheader("Evidence", anchor="evidence")
    verdict = plan.item(dispute.item).verdict
    known = evidence(data.store(), verdict.benchmark, verdict.case_id)
    if known.cells.empty:
        st.caption("The code of this case is not loaded; load it on the Data page.")
    else:
        st.html(code_and_state_html(known.cells, known.states, known.traceback))


def _draw_item(plan: Plan, dispute: Dispute) -> None:
    st.html(f"<style>{_CARD_STYLE.read_text('utf-8')}</style>")
    shown = card_html(card(data.store(), plan, dispute.item))
    st.html(f'<div class="cw-desk cw-adjudicate">{shown}{said_html(dispute.said)}</div>')


def _draw_decision(plan: Plan, dispute: Dispute, waiting: list[Dispute]) -> None:
    label_key, reason_key = f"label_{dispute.item}", f"reason_{dispute.item}"
    if dispute.decision is not None and dispute.decision.label is not None:
        st.caption(
            f"Decided by {literal(dispute.decision.annotator)}: {dispute.decision.label}. A new decision replaces it."
        )
    _draw_choice("Label", {str(label): LABEL_WORDS[label] for label in DIAGNOSIS_LABELS}, "123", label_key)
    _draw_choice("Reason", ADJUDICATION_REASONS, REASON_KEYS, reason_key)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        person = visitor()
        by = person.name or st.text_input("Who decides", value=st.session_state.get(keys.DECIDES, ""), width=180)
        note = st.text_input("Note", key=f"note_{dispute.item}", placeholder="optional", width=420)
        saved = st.button("Save and next", type="primary", shortcut="Enter")
        if after := _after(dispute, waiting):
            to = {keys.CAMPAIGN: plan.campaign, keys.DECIDE: after}
            st.button("Later", help="the next one first", on_click=show_here, kwargs=to)
    if saved:
        st.session_state[keys.DECIDES] = by
        _save(
            plan, dispute, st.session_state.get(label_key), st.session_state.get(reason_key), by.strip(), note.strip()
        )


def _draw_choice(title: str, options: dict[str, str], shortcuts: str, key: str) -> None:
    """One button per option, with its key; the chosen one stands out and is kept in the session under `key`."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**{title}**", width=60)
        for option, shortcut in zip(options, shortcuts, strict=False):
            st.button(
                literal(options[option]),
                key=f"{key}_{option}",
                shortcut=shortcut,
                type="primary" if st.session_state.get(key) == option else "secondary",
                on_click=st.session_state.__setitem__,
                args=(key, option),
            )


def _after(dispute: Dispute, waiting: list[Dispute]) -> str | None:
    """The item that waits behind this one, from the beginning again after the last."""
    others = [entry.item for entry in waiting if entry.item != dispute.item]
    names = [entry.item for entry in waiting]
    place = names.index(dispute.item) if dispute.item in names else -1
    return (names[place + 1 :] + others)[0] if others else None


def _save(plan: Plan, dispute: Dispute, label: str | None, reason: str | None, by: str, note: str) -> None:
    if not label or not reason or not by:
        st.error("A decision needs a label, a reason, and who decides.")
        return
    with told():
        require(Role.LEAD)
        adjudicate(data.folder(), plan, dispute.item, by=by, label=Label(label), reason=reason, note=note)
        show_here(campaign=plan.campaign, decide="next")
        st.rerun()
