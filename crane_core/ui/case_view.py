"""The page of all cases: filters, what they leave in a sentence, and the picture with its list.

Picture and list are one Streamlit component, which reports clicks on cases and headings.
"""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from crane_core.pipeline.cases.picture import PictureColumn
from crane_core.ui import data, keys
from crane_core.ui.case_filters import (
    answers_words,
    asked_sort,
    counted_answers,
    draw_filters,
    drawn_picture,
    filtered_cases,
    joined_series,
)
from crane_core.ui.case_finding import finding
from crane_core.ui.case_list import MOST_ROWS, available_words, board_html
from crane_core.ui.words import count, experiment_words, literal, setting_short

_component = st.components.v2.component(
    "crane_cases",
    html='<div class="cw-board"></div>',
    js=Path(__file__).with_suffix(".js").read_text("utf-8"),
    isolate_styles=False,
)


def draw_cases() -> None:
    """The whole page; the filters may change what its title says."""
    title = st.container()  # an empty one would let the list jump below the pointer while the page runs
    benchmark = draw_filters()
    table = filtered_cases(benchmark)
    title.title(
        literal(finding(table, counted_answers(benchmark))), anchor=False
    )
    n_all = len(data.case_list(benchmark))
    cut = (
        f" The first {count(MOST_ROWS)} are drawn; the filters narrow them."
        if len(table) > MOST_ROWS
        else ""
    )
    words = f"{count(len(table))} of {count(n_all)} cases. Click a row to open the pair. {available_words(table)}{cut}"
    st.caption(literal(f"{words} {answers_words(benchmark)}"))
    if table.empty:
        st.info("No cases match these filters. Clear one of them to see more.")
        st.button("Clear all filters", on_click=st.query_params.clear)
        return
    picture = drawn_picture(benchmark, table["case_id"].head(MOST_ROWS))
    html = board_html(
        table,
        picture,
        joined_series(benchmark),
        benchmark=benchmark,
        sort=asked_sort(),
    )
    _draw_board(html, [_column_words(column) for column in picture.columns])


def _column_words(column: PictureColumn) -> str:
    return f"{column.title} {setting_short(column.setting)} ({experiment_words(column.experiment)})"


def _draw_board(html: str, columns: list[str]) -> None:
    """html: the finished picture and list; columns: what each mark of a version is, in words."""
    _component(
        data={"html": html, "columns": columns},
        key=keys.BOARD,
        on_asked_change=_follow,
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
