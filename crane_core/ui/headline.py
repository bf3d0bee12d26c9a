"""The heading of a page: a sentence that answers its question, and the short form for the browser's tab."""

from collections.abc import Sequence
from typing import Literal

import streamlit as st

from crane_core.ui.words import literal

APP = "Crane Workbench"


def draw_headline(
    sentence: str,
    *,
    tab: str,
    width: Literal["stretch", "content"] = "stretch",
) -> None:
    """Draw the sentence as the page's only h1.

    sentence: plain text; it is escaped here. tab: a few words that tell this view from others in tabs, history and
    bookmarks; "torch_13" is shown as "torch_13 · Crane Workbench".
    """
    name_tab(tab)
    st.title(literal(sentence), anchor=False, width=width)


def name_part(part: str, parts: Sequence[str], words: str) -> None:
    """Name the tab after the part of a view that is open; its first part has the name of the view."""
    name_tab(words if part == parts[0] else f"{part} · {words}")


def name_tab(words: str) -> None:
    """Name the browser's tab; the last call of a run counts."""
    # Streamlit would name it after the menu's entry, which is the same for every case, run and campaign.
    st.set_page_config(page_title=f"{words} · {APP}")
