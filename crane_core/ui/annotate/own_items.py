"""What one annotator has labelled: a list with filters, and any item of it to look at again and change in place."""

from collections.abc import Mapping
from typing import Any
from uuid import uuid4

import pandas as pd
import streamlit as st

from crane_core.annotation.act import MAX_NOTE
from crane_core.annotation.journal import Journal
from crane_core.annotation.label_set import LabelSet
from crane_core.annotation.order import Showing
from crane_core.annotation.plan import Plan, Texts
from crane_core.annotation.thread import Thread, ThreadState
from crane_core.domain import AnnotationAction, Side
from crane_core.pipeline.campaigns.cards import card
from crane_core.pipeline.campaigns.desk_names import DeskNames
from crane_core.pipeline.campaigns.labelling import LabelStore
from crane_core.pipeline.campaigns.near_texts import unlike_labels
from crane_core.pipeline.campaigns.threads import (
    MAX_MESSAGE,
    About,
    resolve,
    write_message,
)
from crane_core.pipeline.campaigns.unlike_reasons import unlike_by_reason
from crane_core.storage import state
from crane_core.storage.store import Store
from crane_core.ui import data, keys
from crane_core.ui.annotate import card_html
from crane_core.ui.annotate.desk import opened_label_store
from crane_core.ui.grid import clicked_row
from crane_core.ui.headline import draw_headline
from crane_core.ui.label_view import label_words
from crane_core.ui.navigation import show_here
from crane_core.ui.refusal import refusals_shown
from crane_core.ui.visit import require_seat
from crane_core.ui.words import count, exception_name, literal, moment

HEIGHT = 560
MOST_OF_A_TEXT = 160
NO_REASON = "no reason"
UNLABELLED = "not labelled"
UNLIKE_HELP = "items of one case with nearly the same text, which you labelled differently"

MIXED_HELP = "items with a reason that you gave with unlike labels"


def draw_own_items(campaign: str, annotator: str, asked: str) -> None:
    """The list, or the item that `asked` names. Raises IdentityError if another person is logged in."""
    require_seat(annotator)
    label_store = opened_label_store(str(data.folder().path), campaign)
    journal = label_store.journal(annotator)
    names = label_store.names(annotator)
    showing = names.showing(asked)
    here = {keys.CAMPAIGN: campaign, keys.ANNOTATOR: annotator}
    with st.container(
        horizontal=True, vertical_alignment="center", gap="small"
    ):
        said = "My items" if showing is None else "My item"
        draw_headline(said, tab=f"{said} · Annotate", width="content")
        st.caption(
            literal(f"{annotator} in {label_store.plan.title}"), width="stretch"
        )
        if showing is not None:
            st.button(
                "All my items",
                on_click=show_here,
                kwargs=here | {keys.OWN: keys.OWN_ALL},
            )
        st.button(
            "Continue labelling",
            type="primary",
            on_click=show_here,
            kwargs=here,
        )
    if showing is None:
        _draw_list(label_store, annotator, names, here)
    else:
        _draw_item(label_store, journal, annotator, showing)
        _draw_thread(label_store, annotator, showing)


def _draw_list(
    label_store: LabelStore,
    annotator: str,
    names: DeskNames,
    here: Mapping[str, str],
) -> None:
    plan, journal = label_store.plan, label_store.journal(annotator)
    threads = label_store.threads(annotator)
    talked = {
        showing: thread
        for showing, thread in threads.items()
        if thread.messages
    }
    mine = _listed(journal, talked)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        labels = st.multiselect(
            "Label",
            plan.labels.codes,
            format_func=lambda code: label_words(code, plan.labels),
            placeholder="any",
            width=260,
        )
        is_flagged = st.checkbox("Flagged")
        has_note = st.checkbox("With a note")
        has_messages = st.checkbox("With messages")
        # Many texts of an item have no single one to compare.
        is_unlike = plan.design.texts is Texts.ONE and st.checkbox(
            "Near text, unlike label", help=UNLIKE_HELP
        )
        # Labels without reasons leave nothing to compare.
        is_mixed = bool(plan.labels.reasons) and st.checkbox(
            "Same reason, unlike label", help=MIXED_HELP
        )
    mixed = unlike_by_reason(journal) if is_mixed else frozenset()
    unlike = _unlike(plan, journal) if is_unlike else frozenset()
    shown = [
        one
        for one in mine
        if (
            not labels
            or (one in journal.given and journal.given[one].label in labels)
        )
        and (not is_flagged or one in journal.flags)
        and (not has_note or journal.notes.get(one))
        and (not has_messages or one in talked)
        and (not is_unlike or (one.item in unlike and one.showing == 1))
        and (not is_mixed or (one.item in mixed and one.showing == 1))
    ]
    if not shown:
        st.info(
            "No items match these filters."
            if mine
            else "You have not labelled any item yet."
        )
        return
    st.caption(
        f"{count(len(shown))} of {count(len(mine))} items, the last labelled first. Click a row to open it."
    )
    if n := sum(
        thread.state is ThreadState.ANSWERED for thread in talked.values()
    ):
        st.info(
            f"The lead answered {count(n)} of your items; see the column Messages."
        )
    # another list, nothing clicked yet
    view = (
        *map(str, labels),
        str(is_flagged),
        str(has_note),
        str(has_messages),
        str(is_unlike),
        str(is_mixed),
        str(journal.n_acts),
    )
    row = clicked_row(
        _table(plan, journal, shown, talked),
        key=f"{keys.OWN_LIST}_{'_'.join(view)}",
        most_height=HEIGHT,
    )
    if row is not None:
        show_here(**here, **{keys.OWN: names.of(shown[row])})
        st.rerun()


def _unlike(plan: Plan, journal: Journal) -> frozenset[str]:
    """Items to look at again; a repeat is left out, because its label beside the first would tell that it is one."""
    labels = {
        showing.item: str(given.label)
        for showing, given in journal.given.items()
        if showing.showing == 1
    }
    content = state.sources_token(data.store().cursor())
    return _compared(
        data.store(), content, plan, plan.campaign, tuple(labels.items())
    )


@st.cache_resource(max_entries=64, show_spinner="Comparing texts …")
def _compared(
    _store: Store,
    content: str,
    _plan: Plan,
    campaign: str,
    labels: tuple[tuple[str, str], ...],
) -> frozenset[str]:
    return unlike_labels(_store, _plan, dict(labels))


def _listed(
    journal: Journal, talked: Mapping[Showing, Thread]
) -> list[Showing]:
    """Labelled items, the last first; then those that have only a flag, a note or messages."""
    marked = (
        journal.flags.keys()
        | talked.keys()
        | {showing for showing, note in journal.notes.items() if note}
    )
    return [
        *reversed(journal.labelled),
        *(
            one
            for one in journal.order
            if one in marked and one not in journal.given
        ),
    ]


def _table(
    plan: Plan,
    journal: Journal,
    shown: list[Showing],
    talked: Mapping[Showing, Thread],
) -> pd.DataFrame:
    content = state.sources_token(data.store().cursor())
    rows = [
        _row(plan, journal, one, _words(data.store(), content, plan, one.item))
        for one in shown
    ]
    table = pd.DataFrame(rows)
    if talked:
        said = [
            card_html.STATE_WORDS[talked[one].state] if one in talked else ""
            for one in shown
        ]
        table.insert(2, "Messages", said)
    # Without a flag or a note its column says nothing.
    return table.loc[:, (table != "").any()]


def _row(
    plan: Plan, journal: Journal, showing: Showing, words: tuple[str, str]
) -> dict[str, str]:
    given = journal.given.get(showing)
    error, text = words
    return {
        "Label": label_words(given.label, plan.labels) if given else UNLABELLED,
        "Reason": plan.labels.reason_words.get(given.reason or "", "")
        if given
        else "",
        "Flag": "flagged" if showing in journal.flags else "",
        "Note": journal.notes.get(showing, "")[:MOST_OF_A_TEXT],
        "Error": error,
        "Diagnosis": text,
        "Labelled": moment(given.submitted_at) if given else "",
    }


@st.cache_resource(max_entries=4_000, show_spinner="Reading your items …")
def _words(
    _store: Store, content: str, _plan: Plan, item: str
) -> tuple[str, str]:
    """By what one knows an item again: its error, and how its diagnosis begins."""
    found = card(_store, _plan, item)
    return exception_name(found.exception) or "", found.texts[0].text[
        :MOST_OF_A_TEXT
    ] if found.texts else ""


def _draw_item(
    label_store: LabelStore, journal: Journal, annotator: str, showing: Showing
) -> None:
    st.html(card_html.card_style())
    st.html(
        f'<div class="cw-desk">{card_html.card_html(card(data.store(), label_store.plan, showing.item))}</div>'
    )
    given, labels = journal.given.get(showing), label_store.plan.labels
    flagged, note = showing in journal.flags, journal.notes.get(showing, "")
    if (
        label_store.lock() is not None
        or annotator not in label_store.plan.present
    ):
        said = label_words(given.label, labels) if given else UNLABELLED
        st.info(literal(f"Your label: {said}. It can no longer change."))
        return
    if given is not None:
        st.caption(f"Labelled {moment(given.submitted_at)}.")
    event = given.event if given else None
    place = keys.own_label_shown(
        label_store.plan.campaign, annotator, showing.item, showing.showing
    )
    drawn_with = st.session_state.get(place, event)
    st.session_state[place] = event
    with st.form("own", border=False, enter_to_submit=False):
        label = st.radio(
            "Label",
            labels.codes,
            index=labels.codes.index(given.label) if given else None,
            format_func=lambda code: label_words(code, labels),
            horizontal=True,
        )
        reason = _draw_reason(labels, given.reason if given else None)
        is_flagged = st.checkbox("Flagged", value=flagged)
        words = st.text_area("Note", value=note, max_chars=MAX_NOTE, width=640)
        pressed = st.form_submit_button("Save", type="primary")
    # The form shows what was in force when it was drawn; another device may have labelled the item since.
    if pressed and drawn_with != event:
        other = label_words(given.label, labels) if given else UNLABELLED
        st.warning(
            f"On another device or in another window this item was changed meanwhile: {literal(other)}. Nothing was "
            "stored. Choose again and press Save to replace it."
        )
        return
    if pressed:
        acts = []
        code = (
            reason
            if label is not None and reason in labels.of(label).reasons
            else None
        )
        if label is not None and (
            given is None or (label, code) != (given.label, given.reason)
        ):
            acts.append(
                {
                    "action": str(AnnotationAction.LABEL),
                    "label": str(label),
                    "reason": code,
                    "over": event,
                }
            )
        if is_flagged != flagged:
            acts.append(
                {
                    "action": str(
                        AnnotationAction.FLAG
                        if is_flagged
                        else AnnotationAction.UNFLAG
                    )
                }
            )
        if words.strip() != note:
            acts.append(
                {"action": str(AnnotationAction.NOTE), "note": words.strip()}
            )
        _save(label_store, annotator, showing, acts)


def _draw_reason(labels: LabelSet, given: str | None) -> str | None:
    """The chosen reason; None if the set has none, or none was chosen."""
    if not labels.reasons:
        return None
    codes = [NO_REASON, *labels.reason_words]
    return st.selectbox(
        "Reason",
        codes,
        index=codes.index(given) if given in codes else 0,
        format_func=lambda code: labels.reason_words.get(code, code),
        width=320,
        help=f"for {' and '.join(label.word for label in labels.with_reasons)}",
    )


def _save(
    label_store: LabelStore,
    annotator: str,
    showing: Showing,
    acts: list[dict[str, Any]],
) -> None:
    """Put the changes on the disk; then the list is shown again."""
    version = label_store.guidelines()[-1].version
    about = {
        "item": showing.item,
        "showing": showing.showing,
        "guideline": version,
    }
    with refusals_shown():
        require_seat(annotator)
        taken = label_store.take(
            annotator, [about | act | {"event": uuid4().hex} for act in acts]
        )
        if taken.refused:
            st.error(literal("; ".join(taken.refused.values())))
            return
        if taken.overtaken:
            st.warning(
                "On another device this item was changed at the same moment. Look at it again, then save."
            )
            return
        show_here(
            **{
                keys.CAMPAIGN: label_store.plan.campaign,
                keys.ANNOTATOR: annotator,
                keys.OWN: keys.OWN_ALL,
            }
        )
        st.rerun()


def _draw_thread(
    label_store: LabelStore, annotator: str, showing: Showing
) -> None:
    """What the lead wrote about this item, and the answer; a flagged item can begin a thread."""
    thread = label_store.threads(annotator).get(showing)
    if thread is None:
        return
    if thread.messages:
        st.html(f'<div class="cw-desk">{card_html.thread_html(thread)}</div>')
    if label_store.lock() is not None:
        return
    about = About(annotator, showing)
    with st.form(
        "message", border=False, clear_on_submit=True, enter_to_submit=False
    ):
        text = st.text_area(
            "Message to the lead", max_chars=MAX_MESSAGE, height=96, width=640
        )
        with st.container(horizontal=True):
            sent = st.form_submit_button("Send")
            ended = bool(thread.messages) and st.form_submit_button("Resolve")
    if sent or ended:
        with refusals_shown():
            require_seat(annotator)
            if sent:
                write_message(
                    data.folder(),
                    label_store.plan.campaign,
                    about,
                    text,
                    by=annotator,
                    side=Side.ANNOTATOR,
                )
            else:
                resolve(
                    data.folder(),
                    label_store.plan.campaign,
                    about,
                    by=annotator,
                    side=Side.ANNOTATOR,
                )
            st.rerun()
