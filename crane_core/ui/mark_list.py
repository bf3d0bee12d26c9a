"""The marks of a chart as a list, so that a keyboard and a screen reader open what a click on a mark opens.

A chart is a picture: its marks take no focus, and Vega hears no key on them. Knows names of marks and what each one
selects. Refuses to know charts.
"""

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

LABEL = "Open the cases of"
WIDTH = 400
"""Pixels; a phone makes it narrower."""


def draw_mark_list(
    marks: Mapping[str, dict[str, Any]],
    open_mark: Callable[[dict[str, Any]], None],
    *,
    name: str,
    what: str = "a mark of the chart",
) -> None:
    """A box with one entry for each mark, in reading order; the chosen one is opened as a click opens it.

    marks: what a click on the mark selects, by the mark's words. name: of the chart, as its downloads have it.
    what: to choose, in the words of the empty box.
    """
    picked = st.selectbox(
        LABEL,
        list(marks),
        index=None,
        placeholder=f"choose {what}",
        key=f"marks_{name}",
        width=WIDTH,
    )
    if picked is not None:
        open_mark(marks[picked])
