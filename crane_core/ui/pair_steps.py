"""Back to the list, and on to the previous or next pair of the filtered list, by button or key."""

from __future__ import annotations

import streamlit as st

from crane_core.ui import keys
from crane_core.ui.words import literal

PREVIOUS_KEY = "k"
NEXT_KEY = "j"


def draw_steps(case_id: str, listed: list[str], raised: str) -> None:
    """The case's name, what it raises (HTML), its way back and its neighbours in the filtered list; stays in sight."""
    place = listed.index(case_id) if case_id in listed else None
    before = listed[place - 1] if place else None
    after = listed[place + 1] if place is not None and place + 1 < len(listed) else None
    with st.container(
        horizontal=True, vertical_alignment="center", gap="small", key="steps"
    ):
        st.title(literal(case_id), anchor=False, width="content")
        where = (
            f"{place + 1} of {len(listed)} in this list"
            if place is not None
            else "not in the filtered list"
        )
        st.caption(where, width="content")
        st.html(raised or "<span></span>", width="stretch")
        st.button(
            "All cases",
            on_click=_show,
            args=[None],
            icon=":material/arrow_back:",
            shortcut="escape",
        )
        st.button(
            "Previous",
            on_click=_show,
            args=[before],
            disabled=before is None,
            shortcut=PREVIOUS_KEY,
        )
        st.button(
            "Next",
            on_click=_show,
            args=[after],
            disabled=after is None,
            shortcut=NEXT_KEY,
        )


def _show(case_id: str | None) -> None:
    """Move the URL to another case; the page follows."""
    if case_id is None:
        st.query_params.pop(keys.CASE, None)
    else:
        st.query_params[keys.CASE] = case_id
