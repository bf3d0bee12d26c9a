"""Deciding between annotators: one item with all evidence, what each said, and a label with a reason.

Keys are taken in the browser, see decide.js: a key that went through a run of the page would be lost or late. The
screen is a Streamlit component; it sends one state, `sent`: {client, n, decisions, have, late, evidence, by, keys},
the whole outbox each time, and receives what waits, cards and evidence of the next items. Plain JSON.
"""

from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import streamlit as st

from crane_core.annotation.label_set import LabelSet
from crane_core.annotation.outcome import ADJUDICATION_REASONS
from crane_core.annotation.plan import Plan
from crane_core.errors import CampaignError, CraneError, IdentityError
from crane_core.identity.visitor import Role
from crane_core.pipeline.campaigns.campaigns import kept_campaign
from crane_core.pipeline.campaigns.cards import card, evidence
from crane_core.pipeline.campaigns.disputes import (
    Dispute,
    GivenLabel,
    disputes,
    undecided,
)
from crane_core.pipeline.campaigns.labelling import adjudicate
from crane_core.ui import data, keys
from crane_core.ui.access import is_leading
from crane_core.ui.annotate.card_html import card_html, evidence_html
from crane_core.ui.annotate.component import keys_told, take_keys, what_was_sent
from crane_core.ui.campaigns import campaign_words
from crane_core.ui.headline import draw_headline
from crane_core.ui.label_view import label_html, label_style, label_words
from crane_core.ui.navigation import show_here, turn
from crane_core.ui.refusal import refusals_shown
from crane_core.ui.visit import require, visitor
from crane_core.ui.words import literal

_HERE = Path(__file__).parent
_DESK = _HERE.parent / "annotate"
_SCRIPTS = (_DESK / "outbox.js", _DESK / "keymap.js", _HERE / "decide.js")
_component = st.components.v2.component(
    "crane_decide",
    html=(_HERE / "decide.html").read_text("utf-8"),
    css=(_DESK / "desk.css").read_text("utf-8"),
    js="\n".join(path.read_text("utf-8") for path in _SCRIPTS),
    isolate_styles=False,
)
AHEAD = 24
"""Items whose cards the browser loads in advance."""
KEYS = "123456789abfghijklmnopqtuvwxyz"
"""Keys that reasons may have; the screen and Streamlit have the other letters."""
EVIDENCE_AHEAD = 2
"""Items whose evidence, which is large, comes in advance."""


class DecisionOutcome(NamedTuple):
    """The outcome of the decisions that a browser sent last; `trouble` says why some may be sent again."""

    saved: Sequence[str] = ()
    refused: Mapping[str, str] | None = None
    trouble: str | None = None


def draw_deciding(
    data: dict[str, Any], *, key: str, on_sent: Callable[[], None]
) -> None:
    """Mount the screen with a snapshot; `on_sent` runs before the page does, when the browser has sent something."""
    _component(
        data=data, key=key, default={"sent": None}, on_sent_change=on_sent
    )


MAX_NOTE = 4_000


def said_html(said: Sequence[GivenLabel], labels: LabelSet) -> str:
    """A column per annotator: label, reason, note, flag."""
    return f'<div class="cw-said">{"".join(_one(entry, labels) for entry in said)}</div>'


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


MAX_BATCH = 100
"""Decisions that one message may hold; a browser that sends more sends the rest again."""
SAID = ("item", "by", "label", "reason", "note")
"""What a decision consists of, all of it text."""
ANY = "next"
"""What the address asks for when it names no item."""


def draw_adjudication(campaign: str) -> None:
    """The screen of what is to be decided; it begins with the item in the address, else the first undecided one."""
    plan = kept_campaign(data.folder(), campaign).plan
    title = campaign_words.short_title(plan.title)
    said = campaign_words.disputes_words(disputes(data.folder(), plan))
    draw_headline(said, tab=f"Decide: {title}")
    turn(literal(f"Back to {title}"), campaign=campaign)
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
    return evidence_html(
        evidence(data.store(), verdict.benchmark, verdict.case_id)
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
    # Bounded, because a browser can send anything.
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
            # One invalid decision must not hold up the others; any other error concerns the whole outbox.
            except CampaignError as error:
                refused[event] = f"{error}"
            # The decided item leaves the address, so that the next undecided one is shown.
            if act.get("item") == st.query_params.get(keys.DECIDE):
                show_here(**{keys.CAMPAIGN: plan.campaign, keys.DECIDE: ANY})
    except CraneError as error:
        trouble = str(error)
    st.session_state[keys.taken(key)] = DecisionOutcome(saved, refused, trouble)


def _decide(plan: Plan, act: Mapping[str, Any]) -> None:
    """Put one decision on the disk. Raises CampaignError if it is invalid, LedgerError if the disk refuses."""
    said = {
        name: value if isinstance(value := act.get(name), str) else ""
        for name in SAID
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


def queue(
    found: Sequence[Dispute], asked: str, late: Sequence[str]
) -> list[str]:
    """The requested item, also a decided one, then those that wait; `late` ones, which were put off, come last."""
    waiting = [entry.item for entry in undecided(list(found))]
    first = [entry.item for entry in found if entry.item == asked]
    behind = [item for item in late if item in waiting and item not in first]
    after = waiting.index(asked) + 1 if asked in waiting else 0
    return [
        *first,
        *(
            item
            for item in waiting[after:] + waiting[:after]
            if item not in {*first, *behind}
        ),
        *behind,
    ]


def deciding(
    found: Sequence[Dispute],
    labels: LabelSet,
    asked: str,
    sent: Mapping[str, Any],
    outcome: DecisionOutcome,
    *,
    card_of: Callable[[Dispute], str],
    evidence_of: Callable[[str], str],
) -> dict[str, Any]:
    """The state after a save. sent: what the browser sent last, which is not trusted."""
    waiting = [entry.item for entry in undecided(list(found))]
    coming = queue(found, asked, texts(sent.get("late")))[:AHEAD]
    of = {entry.item: entry for entry in found}
    have, read = texts(sent.get("have")), texts(sent.get("evidence"))
    return {
        "queue": coming,
        "waiting": waiting,
        "n_waiting": len(waiting),
        "n_all": len(found),
        "cards": {
            item: card_of(of[item]) for item in coming if item not in have
        },
        "evidence": {
            item: evidence_of(item)
            for item in coming[:EVIDENCE_AHEAD]
            if item not in read
        },
        "decided": {
            item: words
            for item in coming
            if (words := _decided(of[item], labels))
        },
        "labels": [
            {
                "code": label.code,
                "word": label.words,
                "key": label.key,
                "style": label_style(label),
            }
            for label in labels.labels
        ],
        "reasons": _reasons(labels),
        "saved": list(outcome.saved),
        "refused": dict(outcome.refused or {}),
        "trouble": outcome.trouble,
    }


def texts(value: object) -> list[str]:
    """The texts in a list from a browser; anything else is nothing."""
    return (
        [entry for entry in value if isinstance(entry, str)]
        if isinstance(value, list)
        else []
    )


def _reasons(labels: LabelSet) -> list[dict[str, str]]:
    """Reasons have the first keys that the labels and the screen leave."""
    left = [
        key for key in KEYS if key not in {label.key for label in labels.labels}
    ]
    return [
        {"code": code, "word": word, "key": key}
        for (code, word), key in zip(
            ADJUDICATION_REASONS.items(), left, strict=False
        )
    ]


def _decided(dispute: Dispute, labels: LabelSet) -> str | None:
    decision = dispute.decision
    if decision is None or decision.label is None:
        return None
    return f"Decided by {decision.annotator}: {label_words(decision.label, labels)}. A new decision replaces it."
