"""Labelling: one campaign, one annotator, one fragment. Acts are saved in the callback, before anything is drawn."""

from collections import Counter
from collections.abc import Mapping
from functools import partial
from html import escape
from typing import Any

import streamlit as st

from crane_core.annotation.guideline import version_known
from crane_core.annotation.journal import Journal
from crane_core.annotation.plan import Plan
from crane_core.annotation.redeal import is_main_open
from crane_core.errors import CraneError
from crane_core.pipeline.campaigns import near_texts
from crane_core.pipeline.campaigns.cards import card, evidence
from crane_core.pipeline.campaigns.desk_names import DeskNames
from crane_core.pipeline.campaigns.labelling import LabelStore, Taken
from crane_core.storage import state
from crane_core.storage.store import Store
from crane_core.ui import data, guideline_view, keys
from crane_core.ui.annotate import card_html, component
from crane_core.ui.annotate.snapshot import Held, snapshot
from crane_core.ui.code_html import differing_prose_html
from crane_core.ui.headline import draw_headline
from crane_core.ui.label_view import for_desk
from crane_core.ui.navigation import show_here
from crane_core.ui.refusal import refusals_shown
from crane_core.ui.visit import require_seat
from crane_core.ui.words import literal, moment

MAX_BATCH = 200
"""Acts that one message may hold; a browser that sends more sends the rest again."""


@st.cache_resource(max_entries=64, show_spinner=False)
def opened_label_store(path: str, campaign: str) -> LabelStore:
    """The desk of a campaign, shared by all sessions of this process."""
    return LabelStore(data.folder(), campaign)


@st.cache_resource(max_entries=4_000, show_spinner=False)
def _card(
    _store: Store, content: str, _plan: Plan, campaign: str, item: str
) -> str:
    return card_html.card_html(card(_store, _plan, item))


@st.cache_resource(max_entries=400, show_spinner=False)
def _case_texts(
    _store: Store, content: str, _plan: Plan, campaign: str, case: str
) -> near_texts.CaseTexts:
    return near_texts.case_texts(_store, _plan, case)


def _difference(plan: Plan, content: str, before: str, item: str) -> str | None:
    """The marked difference of the text of an item to the one before it, None where they are unlike."""
    cases = [plan.item(name).verdict.case for name in (before, item)]
    if cases[0] != cases[1]:
        return None
    found = _case_texts(data.store(), content, plan, plan.campaign, cases[1])
    if not found.are_near(before, item):
        return None
    texts = [
        found.text_of[name][: card_html.MAX_TEXT] for name in (before, item)
    ]
    return differing_prose_html(*texts)


@st.cache_resource(max_entries=200, show_spinner=False)
def _evidence(_store: Store, content: str, benchmark: str, case_id: str) -> str:
    return card_html.evidence_html(evidence(_store, benchmark, case_id))


def draw_desk(campaign: str, annotator: str) -> None:
    """The labelling screen of one annotator. Raises IdentityError if another person is logged in."""
    require_seat(annotator)
    try:
        label_store = opened_label_store(str(data.folder().path), campaign)
        label_store.journal(annotator)
    except CraneError:
        # An open desk must stay on the screen: its browser may hold labels that are not saved yet.
        component.draw_closed(campaign, annotator, why="gone")
        raise
    _head(label_store, annotator)
    st.button(
        "Continue", key=keys.RESUME
    )  # out of sight: the desk presses it, see desk.js
    _labelling(campaign, annotator, state.sources_token(data.store().cursor()))


def _head(label_store: LabelStore, annotator: str) -> None:
    plan = label_store.plan
    with st.container(
        horizontal=True,
        vertical_alignment="center",
        gap="small",
        key="desk_head",
    ):
        draw_headline(
            plan.title, tab=f"{plan.title[:60]} · Annotate", width="content"
        )
        st.caption(
            f"{literal(annotator)} · blind"
            if plan.blind
            else literal(annotator),
            width="stretch",
        )
        with st.popover("Guideline", width="content"):
            _draw_guideline(label_store, annotator)
        here = {
            keys.CAMPAIGN: plan.campaign,
            keys.ANNOTATOR: annotator,
            keys.OWN: keys.OWN_ALL,
        }
        st.button(
            "My items",
            on_click=show_here,
            kwargs=here,
            help="what you have labelled, to look at or change",
        )
        st.button(
            "All campaigns", icon=":material/arrow_back:", on_click=show_here
        )


def _draw_guideline(label_store: LabelStore, annotator: str) -> None:
    """The version in force, and every one before with how many labels one gave under it."""
    versions = label_store.guidelines()
    now = versions[-1]
    if label_store.plan.guideline != versions[0].version:
        st.warning(
            f"This campaign started with version {label_store.plan.guideline}, whose text was not stored. "
            f"You are reading version {now.version}."
        )
    guideline_view.draw_guideline(now.text)
    st.caption(f"version {now.version}, stored with every label")
    guideline_view.draw_earlier(
        versions,
        Counter(
            given.guideline
            for given in label_store.journal(annotator).given.values()
        ),
    )


@st.fragment
def _labelling(campaign: str, annotator: str, content: str) -> None:
    key = keys.desk(campaign, annotator)
    with refusals_shown():
        # Checked at each run: a fragment runs without the frame of the page, and the login may have ended.
        require_seat(annotator)
        label_store = opened_label_store(str(data.folder().path), campaign)
        try:
            now = _now(
                label_store,
                annotator,
                content,
                taken=st.session_state.get(keys.taken(key)),
                sent=component.what_was_sent(key),
            )
        except CraneError:
            component.draw_closed(campaign, annotator, why="gone")
            raise
        component.draw_component(
            now, key=key, on_sent=lambda: _save(label_store, annotator, key)
        )


def _now(
    label_store: LabelStore,
    annotator: str,
    content: str,
    *,
    taken: Taken | None,
    sent: Mapping[str, Any],
) -> dict[str, Any]:
    """What the desk in the browser receives."""
    lock = label_store.lock()
    plan = label_store.plan
    campaign = plan.campaign
    journal = label_store.journal(annotator)
    names = label_store.names(annotator)
    store = data.store()
    now = snapshot(
        journal,
        taken,
        names=names,
        held=Held(_texts(sent.get("have")), sent.get("card")),
        card_of=lambda item: _card(store, content, plan, campaign, item),
        difference_of=partial(_difference, plan, content)
        if near_texts.offers_last_label(plan)
        else None,
        locked=f"Locked by {lock.locked_by}; labels can no longer change."
        if lock
        else _left(label_store.plan, annotator),
    )
    return now | {
        "desk": {
            "campaign": campaign,
            "annotator": annotator,
            "made": label_store.plan.created_at,
        },
        "n": sent.get("n"),
        "guideline": label_store.guidelines()[-1].version,
        "guideline_change": _change(
            label_store, journal, sent.get("guideline")
        ),
        "label_set": for_desk(label_store.plan.labels),
        "evidence": _wanted_evidence(
            label_store.plan, names, sent.get("evidence"), content
        ),
        "gold": told_of_gold(plan, journal, names)
        or told_of_another(plan, journal, names),
        "number": journal.last_number(sent.get("device")),
        "is_calibration": not is_main_open(label_store.plan),
        "keys": component.keys_told(annotator, sent),
        **card_html.threads_shown(
            label_store.threads(annotator), (*now["queue"], *now["undo"]), names
        ),
    }


def _change(
    label_store: LabelStore, journal: Journal, shown: object
) -> dict[str, str] | None:
    """What is new since the version that the browser shows, or, where it shows none yet, that of the last act."""
    versions = label_store.guidelines()
    last = journal.last.guideline if journal.last else None
    before, now = (
        version_known(versions, shown) or version_known(versions, last),
        versions[-1],
    )
    if before is None or before.version == now.version:
        return None
    return {
        "words": f"{now.by}, {moment(now.since)}",
        "html": guideline_view.change_html(before.text, now.text),
    }


def _left(plan: Plan, annotator: str) -> str | None:
    return (
        None
        if annotator in plan.present
        else "You no longer label in this campaign. Its lead can add you again."
    )


def _save(label_store: LabelStore, annotator: str, key: str) -> None:
    """Take what the browser sent. If the desk refuses all of it, acts that are on disk already count as saved."""
    events = component.what_was_sent(key).get("events")
    acts = (
        [act for act in events if isinstance(act, Mapping)][:MAX_BATCH]
        if isinstance(events, list)
        else []
    )
    try:
        require_seat(annotator)
        component.take_keys(annotator, component.what_was_sent(key))
        names = label_store.names(annotator)
        taken = label_store.take(
            annotator, [_named(act, names) for act in acts]
        )
    # Nothing is lost: the browser keeps what is not confirmed and sends it again.
    except CraneError as error:
        on_disk = label_store.journal(annotator).events
        taken = Taken(
            [event for act in acts if (event := act.get("event")) in on_disk],
            {},
            0.0,
            str(error),
        )
    st.session_state[keys.taken(key)] = taken


def _named(act: Mapping[str, Any], names: DeskNames) -> dict[str, Any]:
    """The act with the ledger's name of its item; without one, if the desk has no item of this name."""
    showing = names.of_an_act(act.get("id"))
    named = {
        name: value
        for name, value in act.items()
        # Items go by the desk's own names, from which no browser can tell a hidden repeat.
        if name not in ("id", "item", "showing")
    }
    return named | (
        {"item": showing.item, "showing": showing.showing} if showing else {}
    )


def _texts(value: object) -> set[str]:
    return (
        {entry for entry in value if isinstance(entry, str)}
        if isinstance(value, list)
        else set()
    )


def _wanted_evidence(
    plan: Plan, names: DeskNames, wanted: object, content: str
) -> dict[str, str] | None:
    showing = names.showing(wanted) if isinstance(wanted, str) else None
    if showing is None:
        return None
    verdict = plan.item(showing.item).verdict
    return {
        "id": str(wanted),
        "html": _evidence(
            data.store(), content, verdict.benchmark, verdict.case_id
        ),
    }


def told_of_gold(
    plan: Plan, journal: Journal, names: DeskNames
) -> dict[str, Any] | None:
    """About the last label, if it is of a gold item; nothing in a plan without feedback."""
    last = journal.undoable()[:1] if plan.gold_feedback else []
    entry = next(
        (one for one in plan.gold if last and one.item == last[0].item), None
    )
    if entry is None:
        return None
    return _compared(
        plan,
        journal,
        names,
        label=entry.label,
        head="The previous item had a known label",
        why=entry.why,
    )


def told_of_another(
    plan: Plan, journal: Journal, names: DeskNames
) -> dict[str, Any] | None:
    """The plan's other label of the item that was labelled last, once the ledger has that it is shown."""
    told, last = plan.shown_after, journal.undoable()[:1]
    if told is None or not last or last[0] not in journal.shown:
        return None
    return _compared(
        plan,
        journal,
        names,
        label=told.labels[last[0].item],
        head=f"The label of {told.origin} for the previous item",
        why="",
    )


def _compared(
    plan: Plan,
    journal: Journal,
    names: DeskNames,
    *,
    label: str,
    head: str,
    why: str,
) -> dict[str, Any]:
    """Another label of the item that was labelled last, beside the annotator's own."""
    last = journal.undoable()[0]
    said = str(journal.given[last].label)
    is_same = said == label
    yours = (
        "You said the same."
        if is_same
        else f"You said {escape(plan.labels.of(said).words)}."
    )
    words = escape(plan.labels.of(label).words)
    return {
        "id": names.of(last),
        "right": is_same,
        "html": f"<b>{escape(head)}: {words}.</b> {yours} {escape(why)}",
    }
