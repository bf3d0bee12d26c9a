"""Flagged items for the lead: who flagged what and why, and the thread with the annotator. No label is shown."""

import pandas as pd
import streamlit as st

from crane_core.annotation.plan import Plan
from crane_core.annotation.thread import Thread, ThreadState
from crane_core.domain import Side
from crane_core.identity.visitor import Role
from crane_core.pipeline.campaigns import threads
from crane_core.pipeline.campaigns.campaigns import kept_campaign
from crane_core.pipeline.campaigns.cards import card
from crane_core.pipeline.campaigns.desk_names import desk_names
from crane_core.pipeline.campaigns.status import CampaignStatus
from crane_core.ui import data, keys
from crane_core.ui.annotate.card_html import card_html, card_style, thread_html
from crane_core.ui.campaigns.campaign_words import short_title
from crane_core.ui.headline import draw_headline
from crane_core.ui.linked_html import address, draw_linked
from crane_core.ui.navigation import turn
from crane_core.ui.refusal import refusals_shown
from crane_core.ui.rows_html import rows_html
from crane_core.ui.visit import require, visitor
from crane_core.ui.words import count, literal, moment

MOST_THREADS = 100
MOST_OF_A_TEXT = 160
WAITS = {
    ThreadState.OPEN: "waits for an answer",
    ThreadState.ANSWERED: "has an answer",
    ThreadState.RESOLVED: "is resolved",
}
FOR_THE_LEAD = {
    ThreadState.OPEN: "open",
    ThreadState.ANSWERED: "answered",
    ThreadState.RESOLVED: "resolved",
}


def draw_flagged(status: CampaignStatus) -> None:
    """The list, those first that wait for the lead; a click opens one."""
    queue = threads.all_threads(
        data.folder(), status.plan, reader=visitor().name
    )
    if queue.n_withheld:
        st.caption(
            f"{count(queue.n_withheld)} more are shown when you have labelled these items yourself."
        )
    if not queue.threads:
        st.caption(
            "No item is flagged."
            if not queue.n_withheld
            else "No other item is flagged."
        )
        return
    n = {
        state: sum(thread.state is state for thread in queue.threads)
        for state in ThreadState
    }
    st.caption(
        ", ".join(
            f"{count(n[state])} {words}"
            for state, words in FOR_THE_LEAD.items()
        )
        + "."
    )
    if n_later := _n_later(status):
        items = "item comes" if n_later == 1 else "items come"
        st.caption(
            f"{count(n_later)} flagged {items} up for a decision once labelled by all."
        )
    shown = queue.threads[:MOST_THREADS]
    table = pd.DataFrame([_row(thread) for thread in shown])
    links = [
        address(
            {
                keys.CAMPAIGN: status.plan.campaign,
                keys.THREAD: name_of(status.plan, thread),
            }
        )
        for thread in shown
    ]
    # Without a note or a message its column says nothing.
    table = table.loc[:, (table != "").any()]
    draw_linked(rows_html(table, links=links), key=keys.THREAD_LIST)
    if len(queue.threads) > MOST_THREADS:
        st.caption(
            f"The first {count(MOST_THREADS)} of {count(len(queue.threads))}; those that are resolved make room."
        )


def _n_later(status: CampaignStatus) -> int:
    """Flagged items that do not wait for a decision yet; gold items never do."""
    known = {one.item for one in status.disputes} | status.plan.gold_items
    return len(status.flagged.keys() - known) if status.lock is None else 0


def name_of(plan: Plan, thread: Thread) -> str:
    """How the address names a thread."""
    names = desk_names(data.folder(), plan, thread.annotator)
    return f"{names.of(thread.showing)}.{thread.annotator}"


def _row(thread: Thread) -> dict[str, str]:
    written = [message.text for message in thread.messages if message.text]
    return {
        "Item": thread.showing.item,
        "State": FOR_THE_LEAD[thread.state],
        "Annotator": thread.annotator,
        "Flagged": moment(thread.flagged_at)
        if thread.flagged_at
        else "not any more",
        "Note": thread.note[:MOST_OF_A_TEXT],
        "Last message": (written[-1] if written else "")[:MOST_OF_A_TEXT],
    }


def draw_thread(campaign: str, asked: str) -> None:
    """One flagged item: its card, the annotator's note, the messages, and what the lead writes."""
    plan, lock = kept_campaign(data.folder(), campaign)
    queue = threads.all_threads(data.folder(), plan, reader=visitor().name)
    thread = next(
        (one for one in queue.threads if name_of(plan, one) == asked), None
    )
    title = short_title(plan.title)
    sentence = (
        f"The item that {thread.annotator} flagged {WAITS[thread.state]}"
        if thread
        else "No flagged item has this address"
    )
    draw_headline(sentence, tab=f"Flagged item: {title}")
    turn(literal(f"Back to {title}"), campaign=campaign)
    if thread is None:
        st.info("Nobody flagged this item, or you have not labelled it yet.")
        return
    st.markdown(_about(thread))
    if thread.note:
        st.markdown(f"**Note:** {literal(thread.note)}")
    st.html(card_style())
    talk = thread_html(thread) if thread.messages else ""
    st.html(
        f'<div class="cw-desk">{talk}{card_html(card(data.store(), plan, thread.showing.item))}</div>'
    )
    if lock is None:
        _draw_answer(plan, thread)
    else:
        st.info("The campaign is locked: it takes no more messages.")


def _about(thread: Thread) -> str:
    when = (
        f"flagged this item on {moment(thread.flagged_at)}"
        if thread.flagged_at
        else "flagged this item before"
    )
    return literal(
        f"{thread.annotator} {when}. Of the annotators, only {thread.annotator} sees what you write."
    )


def _draw_answer(plan: Plan, thread: Thread) -> None:
    with st.form(
        "answer", border=False, clear_on_submit=True, enter_to_submit=False
    ):
        text = st.text_area(
            "Message", max_chars=threads.MAX_MESSAGE, height=96, width=640
        )
        by = visitor().name or st.text_input(
            "Your name", value=st.session_state.get(keys.DECIDES, ""), width=180
        )
        with st.container(horizontal=True):
            sent = st.form_submit_button("Send", type="primary")
            ended = st.form_submit_button("Resolve")
    if sent or ended:
        st.session_state[keys.DECIDES] = by
        about = threads.About(thread.annotator, thread.showing)
        with refusals_shown():
            require(Role.LEAD)
            if sent:
                threads.write_message(
                    data.folder(),
                    plan.campaign,
                    about,
                    text,
                    by=by,
                    side=Side.LEAD,
                )
            else:
                threads.resolve(
                    data.folder(), plan.campaign, about, by=by, side=Side.LEAD
                )
            st.rerun()
