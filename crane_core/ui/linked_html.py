"""Finished HTML whose links to views of the same page are followed without loading the app again.

A link is a real one ("?experiment=..."), so another tab, a copied address and the keyboard work as everywhere. Knows
addresses as text. Refuses to know what they mean: the page reads its address as if it had been typed.
"""

from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode

import streamlit as st

from crane_core.ui.navigation import show_here

LONGEST = 4_000
"""Characters of an address that is followed."""

_component = st.components.v2.component(
    "crane_linked",
    html='<div class="cw-linked"></div>',
    js=Path(__file__).with_suffix(".js").read_text("utf-8"),
    isolate_styles=False,
)


def address(query: Mapping[str, str | list[str]]) -> str:
    """These parameters as the attribute of a link to another view of the same page."""
    return escape(f"?{urlencode(query, doseq=True)}")


def draw_linked(html: str, *, key: str) -> None:
    """Draw the HTML, whose texts are escaped; a click on a link moves the page to its address."""

    _component(
        data={"html": html},
        key=key,
        on_asked_change=lambda: follow_link(
            (st.session_state.get(key) or {}).get("asked")
        ),
    )


def follow_link(asked: object) -> None:
    """Move the page to the address of the link that a component says was clicked; anything else moves nothing."""
    if isinstance(asked, str) and len(asked) <= LONGEST:
        query: Any = parse_qs(asked.removeprefix("?"))
        show_here(**query)
