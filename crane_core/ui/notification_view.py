"""Notifications on Data and Annotate: which events the visitor wants on each of their channels, without addresses.

The operator of the server makes channels: a visitor who could name an address would make the server call it.
"""

import streamlit as st

from crane_core.pipeline.notifications import channels
from crane_core.replica import writer
from crane_core.ui import data
from crane_core.ui.refusal import refusals_shown
from crane_core.ui.visit import visitor
from crane_core.ui.words import literal

WORDS = {
    channels.EventKind.JOB_ENDED: "a run ended",
    channels.EventKind.BUDGET_REACHED: "a run reached its budget",
    channels.EventKind.FLAG_ANSWERED: "a lead answered a flag",
    channels.EventKind.CAMPAIGN_DONE: "a campaign is labelled",
}
"""What happened, as the choice on the page says it."""


def draw_notifications() -> None:
    """A line per channel of the visitor, with its events to choose; nothing without a channel, and on a replica."""
    if not channels.has_channels(data.folder()) or writer():
        return
    with refusals_shown():
        mine = channels.channels_of(data.folder(), _person())
        if not mine:
            return
        st.header("Notifications", anchor="notifications")
        st.caption(
            "Choose what each channel sends you. The operator of the server adds and removes channels."
        )
        for channel in mine:
            _draw_channel(channel)


def _person() -> str | None:
    """Whose channels are shown: the visitor's; all of them where the app serves one person without a login."""
    person = visitor()
    return person.name if person.is_known else None


def _draw_channel(channel: channels.Channel) -> None:
    # Named by what is stored, so that a choice made elsewhere is drawn at the next run instead of being overwritten.
    state = ",".join(channel.listed_kinds)
    chosen = st.pills(
        literal(f"{channel.name}: {channel.service}"),
        list(channels.EventKind),
        selection_mode="multi",
        default=channel.listed_kinds,
        format_func=lambda kind: WORDS[kind],
        key=f"notify_{channel.name}_{state}",
    )
    if set(chosen) != channel.kinds:
        channels.choose_events(
            data.folder(), channel.name, chosen, person=_person()
        )
        st.rerun()
