"""The line above every page of a replica: it is a read-only copy, of this age; things are changed elsewhere."""

from __future__ import annotations

from datetime import UTC, datetime
from urllib.parse import urlencode

import streamlit as st

from crane_core.ui import data, keys

OLD_S = 120
"""Much more than a writer lets pass between two looks for changes (`pipeline.maintenance.publishing.LONGEST_S`)."""


def draw_replica(writer: str) -> None:
    """One line; a warning where the writer has not been heard of for a while."""
    as_of, now = data.as_of(), datetime.now(UTC)
    words = replica_words(as_of, now)
    query = urlencode(
        [
            (name, value)
            for name in st.query_params
            for value in st.query_params.get_all(name)
        ]
    )
    there = f"{writer}/{st.session_state[keys.PAGE]}" + (f"?{query}" if query else "")
    link = f"To label, import or run, open [this page at the app that writes]({there})."
    if is_old(as_of, now):
        st.warning(f"{words} The app that writes may have stopped. {link}")
    else:
        st.caption(f"{words} {link}")


def replica_words(as_of: datetime, now: datetime) -> str:
    """How fresh the copy is, in words."""
    return f"Read-only copy as of {as_of:%H:%M} UTC{_day(as_of, now)}, {_age((now - as_of).total_seconds())} old."


def is_old(as_of: datetime, now: datetime) -> bool:
    return (now - as_of).total_seconds() > OLD_S


def _day(as_of: datetime, now: datetime) -> str:
    return "" if as_of.date() == now.date() else f" on {as_of:%Y-%m-%d}"


def _age(seconds: float) -> str:
    for size, unit in ((86_400, "days"), (3_600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds // size:.0f} {unit}"
    return f"{max(seconds, 0):.0f} s"
