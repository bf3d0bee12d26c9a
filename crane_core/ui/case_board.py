"""The picture and the list of cases as a Streamlit component: it reports clicks on cases and headings."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from crane_core.ui import keys

_component = st.components.v2.component(
    "crane_cases",
    html='<div class="cw-board"></div>',
    js=Path(__file__).with_suffix(".js").read_text("utf-8"),
    isolate_styles=False,
)


def draw_board(html: str, columns: list[str]) -> None:
    """html: the finished picture and list; columns: what each mark of a version is, in words."""
    _component(
        data={"html": html, "columns": columns}, key=keys.BOARD, on_asked_change=_follow
    )


def _follow() -> None:
    """Move the address to the case, or the order, that was clicked; the page follows."""
    asked = (st.session_state.get(keys.BOARD) or {}).get("asked")
    if not isinstance(asked, dict):
        return
    if isinstance(asked.get("case"), str):
        st.query_params[keys.CASE] = asked["case"]
    elif isinstance(asked.get("sort"), str):
        st.query_params[keys.SORT] = asked["sort"]
