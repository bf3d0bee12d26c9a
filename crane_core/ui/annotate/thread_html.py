"""A thread between an annotator and the lead, as HTML. Every word of it is escaped."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from html import escape
from typing import Any

from crane_core.annotation.showing import Showing
from crane_core.annotation.thread import Thread, ThreadState
from crane_core.domain import CampaignMessage, MessageAction
from crane_core.pipeline.campaigns.desk_names import DeskNames
from crane_core.ui.guideline_view import moment

STATE_WORDS = {
    ThreadState.OPEN: "waits for the lead",
    ThreadState.ANSWERED: "answered by the lead",
    ThreadState.RESOLVED: "resolved",
}


def threads_shown(
    threads: Mapping[Showing, Thread], near: Collection[str], names: DeskNames
) -> dict[str, Any]:
    """For the desk: the threads of items that are near, by token, and a line where the lead's answers wait."""
    named = {names.of(showing): one for showing, one in threads.items()}
    written = {
        name: thread_html(one)
        for name, one in named.items()
        if one.messages and name in near
    }
    n = sum(one.state is ThreadState.ANSWERED for one in threads.values())
    items = "one of your items" if n == 1 else f"{n} of your items"
    return {
        "threads": written,
        "answers": f"The lead answered {items}: see My items." if n else "",
    }


def thread_html(thread: Thread) -> str:
    """The messages, oldest first, and the state."""
    head = f'<h2>Messages <span class="cw-dim">{STATE_WORDS[thread.state]}</span></h2>'
    return f'<section class="cw-thread">{head}{"".join(map(_message, thread.messages))}</section>'


def _message(message: CampaignMessage) -> str:
    when = escape(moment(message.written_at))
    head = f'<b>{escape(message.written_by)}</b> <span class="cw-dim">{message.side}, {when}</span>'
    if message.action is MessageAction.RESOLVE:
        return f'<div class="cw-message">{head} <span class="cw-dim">resolved it</span></div>'
    return f'<div class="cw-message">{head}<p>{escape(message.text or "")}</p></div>'
