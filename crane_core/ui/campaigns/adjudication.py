"""Deciding between annotators: one item with all evidence, what each said, and a label with a reason.

Keys are taken in the browser, see decide.js: a key that went through a run of the page would be lost or late.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from crane_core.annotation.plan import Plan
from crane_core.errors import CampaignError, CraneError, IdentityError
from crane_core.identity.visitor import Role
from crane_core.pipeline.campaigns.campaigns import kept_campaign
from crane_core.pipeline.campaigns.cards import card, evidence
from crane_core.pipeline.campaigns.disputes import Dispute, disputes
from crane_core.pipeline.campaigns.labelling import adjudicate
from crane_core.ui import data, keys
from crane_core.ui.annotate.card_html import card_html
from crane_core.ui.annotate.component import what_was_sent
from crane_core.ui.annotate.keys_sent import keys_told, take_keys
from crane_core.ui.campaign_lead import is_leading
from crane_core.ui.campaigns.decide_component import draw_deciding
from crane_core.ui.campaigns.decide_snapshot import DecisionOutcome, deciding
from crane_core.ui.campaigns.said_html import said_html
from crane_core.ui.navigation import show_here, turn
from crane_core.ui.pair_code import code_and_state_html
from crane_core.ui.refusal import refusals_shown
from crane_core.ui.visit import require, visitor
from crane_core.ui.words import literal

MAX_BATCH = 100
"""Decisions that one message may hold; a browser that sends more sends the rest again."""
SAID = ("item", "by", "label", "reason", "note")
"""What a decision consists of, all of it text."""
ANY = "next"
"""What the address asks for when it names no item."""


def draw_adjudication(campaign: str) -> None:
    """The screen of what is to be decided; it begins with the item in the address, else the first undecided one."""
    st.title("Decide", anchor=False)
    turn(literal(f"Back to {campaign}"), campaign=campaign)
    st.button(
        "Continue", key=keys.DECIDE_RESUME
    )  # out of sight: the screen presses it, see decide.js
    _deciding(campaign)


@st.fragment
def _deciding(campaign: str) -> None:
    key = keys.deciding(campaign)
    with refusals_shown():
        _require_lead()
        plan, lock = kept_campaign(data.folder(), campaign)
        outcome = st.session_state.get(keys.taken(key)) or DecisionOutcome()
        now = deciding(
            disputes(data.folder(), plan),
            plan.labels,
            st.query_params.get(keys.DECIDE, ANY),
            what_was_sent(key),
            outcome,
            card_of=lambda dispute: _card(plan, dispute),
            evidence_of=lambda item: _evidence(plan, item),
        )
        now |= {
            "desk": {
                "campaign": campaign,
                "annotator": "(decides)",
                "made": plan.created_at,
            },
            "by": visitor().name,
            "typed_by": st.session_state.get(keys.DECIDES, ""),
            "keys": keys_told(
                visitor().name or st.session_state.get(keys.DECIDES, ""),
                what_was_sent(key),
            ),
            "locked": "The campaign is locked: its outcomes can no longer change."
            if lock
            else None,
        }
        draw_deciding(now, key=key, on_sent=lambda: _save(plan, key))


def _card(plan: Plan, dispute: Dispute) -> str:
    return said_html(dispute.said, plan.labels) + card_html(
        card(data.store(), plan, dispute.item)
    )


def _evidence(plan: Plan, item: str) -> str:
    verdict = plan.item(item).verdict
    known = evidence(data.store(), verdict.benchmark, verdict.case_id)
    if known.cells.empty:
        return '<p class="cw-dim">The code of this case is not loaded; load it on the Data page.</p>'
    return code_and_state_html(
        known.cells, known.states, known.traceback, known.diagnosis
    )


def _require_lead() -> None:
    """Raises IdentityError; used in a fragment and a callback too, which run without the page around them."""
    require(Role.LEAD)
    if not is_leading():
        raise IdentityError(
            "This needs the password of the Campaigns page.",
            remedy="Load the page again.",
        )


def _save(plan: Plan, key: str) -> None:
    """Take what the browser sent, before anything is drawn. What is neither saved nor refused is sent again."""
    sent = what_was_sent(key)
    decisions = sent.get("decisions")
    acts = (
        [act for act in decisions if isinstance(act, Mapping)][:MAX_BATCH]
        if isinstance(decisions, list)
        else []
    )
    st.session_state[keys.DECIDES] = str(sent.get("by") or "")[:60]
    saved: list[str] = []
    refused: dict[str, str] = {}
    trouble = None
    try:
        _require_lead()
        take_keys(visitor().name or st.session_state[keys.DECIDES], sent)
        for act in acts:
            event = str(act.get("event"))[:64]
            try:
                _decide(plan, act)
                saved.append(event)
            except CampaignError as error:
                refused[event] = f"{error}"
            if act.get("item") == st.query_params.get(keys.DECIDE):
                show_here(**{keys.CAMPAIGN: plan.campaign, keys.DECIDE: ANY})
    except CraneError as error:
        trouble = str(error)
    st.session_state[keys.taken(key)] = DecisionOutcome(saved, refused, trouble)


def _decide(plan: Plan, act: Mapping[str, Any]) -> None:
    """Put one decision on the disk. Raises CampaignError if it is invalid, LedgerError if the disk refuses."""
    said = {
        name: value if isinstance(value := act.get(name), str) else ""
        for name in ("item", "by", "label", "reason", "note")
    }
    by = visitor().name or said["by"].strip()
    adjudicate(
        data.folder(),
        plan,
        said["item"],
        by=by,
        label=said["label"],
        reason=said["reason"],
        note=said["note"].strip(),
        event=str(act.get("event")),
    )
