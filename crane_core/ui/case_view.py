"""The page of all cases: filters, what they leave in a sentence, and the picture with its list.

Picture and list are one Streamlit component, which reports clicks on cases and headings.
"""

import re
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import streamlit as st

from crane_core.pipeline.cases.pairs import Pattern
from crane_core.pipeline.cases.picture import PictureColumn
from crane_core.ui import (
    case_filters,
    case_finding,
    case_list,
    data,
    keys,
    url_state,
)
from crane_core.ui.documentation import help_address
from crane_core.ui.headline import draw_headline
from crane_core.ui.navigation import here, turn
from crane_core.ui.notes import pair_notes
from crane_core.ui.words import count, experiment_words, literal, setting_short

MOST_IN_TAB = 3
"""Filters that the browser's tab names."""
MOST_OF_CHIP = 60
"""Characters of a filter that are repeated."""
_SHARE = re.compile(r"(\d) of (?=\d)")
"""What a title does not break: "94 of 111"."""
_component = st.components.v2.component(
    "crane_cases",
    html='<div class="cw-board"></div>',
    js=Path(__file__).with_suffix(".js").read_text("utf-8"),
    isolate_styles=False,
)


def draw_cases() -> None:
    """The whole page; the filters may change what its title says."""
    title = st.container()  # an empty one would let the list jump below the pointer while the page runs
    benchmark = case_filters.draw_filters()
    case_filters.note_unknown_parameters()
    table = case_filters.filtered_cases(benchmark)
    active = case_filters.active_filters(benchmark)
    counted = case_filters.counted_answers(benchmark)
    told = case_finding.finding(table, counted)
    search = case_filters.asked_search(benchmark, table)
    with title:
        draw_headline(
            case_finding.search_finding(search, counted.library)
            if search
            else _SHARE.sub("\\1\xa0of\xa0", told),
            tab=_tab(active),
        )
    _draw_chips(active)
    if not table.empty:
        with st.container(
            horizontal=True, vertical_alignment="center", key="case_counts"
        ):
            if not any(one.key == keys.AGREEMENT for one in active):
                _draw_counted(table, is_of_all=not counted.detectors)
            _draw_counts(benchmark, table, f"{told}. " if search else "")
    pair_notes.draw_mentions()
    if table.empty:
        st.info("No cases match these filters. Remove one of them to see more.")
        st.button("Clear all filters", on_click=st.query_params.clear)
        return
    cases = table["case_id"].head(case_list.MOST_ROWS)
    picture = case_filters.drawn_picture(benchmark, cases)
    html = case_list.board_html(
        table,
        picture,
        case_filters.joined_series(benchmark),
        benchmark=benchmark,
        sort=case_filters.asked_sort(),
        find=search.text if search else "",
        found=case_filters.lines_found(benchmark, search.text, cases)
        if search
        else None,
        is_of_all=not counted.detectors,
        tags=pair_notes.tags_by_case(pair_notes.tag_cases(benchmark)),
    )
    _draw_board(html, [_column_words(column) for column in picture.columns])


def _tab(active: Sequence[case_filters.ActiveFilter]) -> str:
    """What tells this list from others in tabs and history."""
    words = [
        f"“{one.words}”" if one.key == keys.SEARCH else one.words
        for one in active[:MOST_IN_TAB]
    ]
    more = ["…"] if len(active) > MOST_IN_TAB else []
    chosen = ", ".join(word[:MOST_OF_CHIP] for word in words + more)
    return f"{chosen} · Cases" if chosen else "Cases"


def _draw_chips(active: Sequence[case_filters.ActiveFilter]) -> None:
    """A button for each active filter, which removes it."""
    if not active:
        return
    with st.container(horizontal=True, gap="xsmall", key="case_chips"):
        for one in active:
            words = f"{one.label}: {one.words}"
            if len(words) > MOST_OF_CHIP:
                words = words[:MOST_OF_CHIP] + "…"
            st.button(
                f"{literal(words)} ✕",
                key=f"chip_{one.key}_{one.value}",
                help="Remove this filter",
                on_click=url_state.remove,
                args=(one.key, one.value),
            )
        if len(active) > 1:
            st.button(
                "Remove all",
                key="chips_clear",
                type="tertiary",
                on_click=_remove_all,
                args=(active,),
            )


def _remove_all(active: Sequence[case_filters.ActiveFilter]) -> None:
    for one in active:
        url_state.remove(one.key, one.value)


def _draw_counted(table: pd.DataFrame, *, is_of_all: bool) -> None:
    """What the title counts, each a way to those cases."""
    numbers = case_finding.n_missed_and_alarms(table[table["n_asked"] > 0])
    words = {
        Pattern.MISSED: case_list.pattern_title(
            Pattern.MISSED, is_of_all=is_of_all
        ),
        Pattern.ALARM: "with a false alarm",
    }
    for (pattern, told), n in zip(words.items(), numbers, strict=True):
        if n:
            where = here(**{keys.AGREEMENT: str(pattern)})
            turn(f"{count(n)} {told}", **where)


def _draw_counts(benchmark: str, table: pd.DataFrame, told: str) -> None:
    """How many cases are listed, what is known of them, and where the list is explained, after a finding."""
    n_all = len(data.case_list(benchmark))
    is_usual = case_filters.asked_sort() is None
    order = ", hardest first within each library"
    words = f"{told}{count(len(table))} of {count(n_all)} cases{order * (is_usual and len(table) > 1)}."
    words += case_list.available_words(table)
    if len(table) > case_list.MOST_ROWS:
        words += f" The first {count(case_list.MOST_ROWS)} are drawn; the filters narrow them."
    words += pair_notes.counts_words(benchmark)
    joined = case_filters.answers_words(benchmark)
    if joined:
        n = len(case_filters.joined_series(benchmark))
        words += f" Answers of {n} experiments."
    help_words = f"[How to read this list]({help_address('cases')})"
    st.caption(f"{literal(words)} {help_words}", help=literal(joined) or None)


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
    """Move the address to the case, the order or the pattern that was clicked; the page follows."""
    asked = (st.session_state.get(keys.BOARD) or {}).get("asked")
    if not isinstance(asked, dict):
        return
    if isinstance(asked.get("case"), str):
        st.query_params[keys.CASE] = asked["case"]
    elif isinstance(asked.get("sort"), str):
        st.query_params[keys.SORT] = asked["sort"]
    elif isinstance(asked.get("pattern"), str):
        st.query_params[keys.AGREEMENT] = asked["pattern"]
