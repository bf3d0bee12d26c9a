"""The leaderboard on Results and on Overview: the table, how sure its ranks are, and its figure and files."""

import math
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from crane_core.charts.leaderboard import leaderboard as chart
from crane_core.domain import DetectorKind, Setting
from crane_core.pipeline.export import leaderboard_formats
from crane_core.pipeline.results.leaderboard import (
    Board,
    BoardPolicy,
    leaderboard,
    rank_words,
)
from crane_core.pipeline.results.measures import Credit
from crane_core.pipeline.rows import as_rows
from crane_core.ui import board_html, data, keys, words
from crane_core.ui.caption import captioned, source_words
from crane_core.ui.chart_box import draw_drawer, finished
from crane_core.ui.chart_figure import ChartFigure
from crane_core.ui.navigation import go, link
from crane_core.ui.overview_view import study
from crane_core.ui.result_switches import ResultChoice
from crane_core.ui.runs.address import address_of, key_of
from crane_core.ui.url_state import drop, switch

ALL = "all"
TOP_ROWS = 6
"""Rows of the study on Overview, beside own runs."""
DRAWN = ("detector_title", "value", "low", "high", "n", "n_cases")
"""Columns of the board that its chart takes as they are."""
OF_CASES = (keys.BENCHMARK, keys.EXPERIMENT, keys.DETECTOR, keys.SETTING)
"""Filters of the list of cases, which are columns of the board, too."""
ABOUT_FIGURE = (
    "Before each name, the ranks that the tests leave open; rows that share a letter are not shown to differ. Hollow: "
    "code only. Lines: 95% intervals by case; a tick each 10 points."
)
ABOUT = """Two rows differ if every planned test finds it: exact McNemar where an answer is right or wrong, and sign
flips by case, at the 5% level after Holm over all pairs. A bracket joins rows of which no two are shown to differ. That
does not show that they are equal. A row can be in several brackets: a first row may differ from a third, and a second
from neither. Together, the rank ranges hold the true ranks with 95% confidence. Filters hide rows and change no rank.

Tokens, USD per 1,000 answers: of own runs as counted; of imported models the input alone, at list price."""
MARKS = (
    "Rows that share a bracket are not shown to differ; where it is dotted, the row is not in it. Hollow: code only. "
    "Lines: 95% intervals by case; a tick every 10 points."
)

_component = st.components.v2.component(
    "crane_leaderboard",
    html='<div class="cw-leaderboard"></div>',
    js=Path(__file__).with_suffix(".js").read_text("utf-8"),
    isolate_styles=False,
)


@data.kept(data.answers, 16)
def _board(policy: BoardPolicy) -> Board:
    verdicts = data.verdicts()
    rows = verdicts[verdicts["benchmark"] == policy.benchmark]
    judged = data.judged(rows, policy.annotator) if policy.annotator else rows
    return leaderboard(judged, data.run_list(), policy)


def board_of(chosen: ResultChoice) -> Board:
    """The board under these switches: of the whole benchmark, whatever the experiment and the kind."""
    is_judged = chosen.credit is not Credit.DETECTION
    return _board(
        BoardPolicy(
            chosen.benchmark,
            chosen.rule,
            chosen.credit,
            # Detection asks nobody, so one board serves all.
            chosen.annotator if is_judged else "",
        )
    )


def draw_leaderboard(chosen: ResultChoice) -> None:
    """The section of Results, whose finding is the title of the page."""
    board = board_of(chosen)
    kinds = board.rows["detector_kind"].unique().tolist()
    kind = _kind(kinds)
    sort = st.query_params.get(keys.BOARD_SORT)
    _draw_table(
        board, board_html.board_table(board, sort=sort, kind=kind), "results"
    )
    st.caption(words.literal(_counted_rows(board)))
    with st.expander("How ranks, brackets and costs are found"):
        st.markdown(ABOUT)
    with st.container(
        horizontal=True, vertical_alignment="center", gap="medium"
    ):
        if len(board.ranked):
            draw_drawer(board_figure(board), is_table_on_page=True)
        link(
            "results",
            "Does the conclusion depend on the choices?",
            **{keys.PART: "Robustness"},
        )


def _kind(kinds: list[str]) -> str | None:
    """The kind whose rows are shown; None for all, and where there is one only."""
    if len(kinds) < 2:
        drop(keys.BOARD_KIND)
        return None
    chosen = switch(
        "Rows",
        [ALL, *kinds],
        key=keys.BOARD_KIND,
        format_func=lambda name: (
            ALL if name == ALL else words.KIND_WORDS[DetectorKind(name)]
        ),
    )
    return None if chosen == ALL else chosen


def _counted(board: Board) -> str:
    policy = board.policy
    if policy.credit is Credit.DETECTION:
        return "Detection only."
    return f"Counted: {policy.credit}, by the labels “{policy.annotator}”."


def _counted_rows(board: Board) -> str:
    """What the rows count, over how many cases and tests, and how the marks are read."""
    ranked = board.ranked
    n_cases = int(ranked["n_cases"].max()) if len(ranked) else 0
    experiments = ranked["experiment"].unique()
    is_one = len(experiments) == 1
    source = f" {words.experiment_words(experiments[0])}." if is_one else ""
    labelled = " All detected crashes of these rows are labelled."
    whole = labelled * board_html.is_all_labelled(board)
    return (
        f"{_counted(board)}{source}{whole} {words.count(board.n_instances)} instances of {words.count(n_cases)} cases; "
        f"{words.count(len(ranked))} ranked rows, {words.count(len(board.tests))} pairs, each on the instances "
        f"that both answered. {MARKS}"
    )


def board_figure(board: Board) -> ChartFigure:
    """The ranked rows as a chart, and all rows as the table of its files; some row has an accuracy."""
    rows = [row for row in as_rows(board.rows) if row["value"] is not None]
    drawn = pd.DataFrame(
        {
            "label": f"{rank_words(row['best'] or math.nan, row['worst'] or math.nan)}  {board_html.row_name(row)}",
            "text": " ".join(
                [
                    words.percent(row["value"]),
                    leaderboard_formats.letters(row["groups"]),
                ]
            ),
            "is_filled": row["setting"] != Setting.CODE,
        }
        | {name: row[name] for name in DRAWN}
        for row in rows
    )
    experiments = dict.fromkeys(row["experiment"] for row in rows)
    source = source_words(
        data.benchmark_title(board.policy.benchmark), *experiments
    )
    return ChartFigure(
        f"leaderboard_{board.policy.benchmark}",
        [finished(chart, drawn)],
        shown=leaderboard_formats.printed_frame(board),
        numbers=leaderboard_formats.board_frame(board),
        caption=captioned(
            board_html.lead_words(board),
            [
                ABOUT_FIGURE,
                _counted(board),
                leaderboard_formats.method_of(board),
            ],
            source=source,
            table=" ".join(leaderboard_formats.unranked_notes(board)),
        ),
    )


def _draw_table(board: Board, html: str, where: str) -> None:
    key = f"{keys.LEADERBOARD}_{where}"

    def follow() -> None:
        asked = (st.session_state.get(key) or {}).get("asked")
        sort = asked.get("sort") if isinstance(asked, dict) else None
        if isinstance(sort, str) and sort.lstrip("-") in board_html.SORTED_BY:
            st.query_params[keys.BOARD_SORT] = sort

    found: Any = _component(
        data={"html": html}, key=key, on_asked_change=follow
    )
    asked = found.asked if isinstance(found.asked, dict) else {}
    place = str(asked.get("place", ""))
    if place.isdecimal() and int(place) < len(board.rows):
        row = as_rows(board.rows)[int(place)]
        row |= {"benchmark": board.policy.benchmark}
        if asked.get("page") == "cases":
            go("cases", **{name: row[name] for name in OF_CASES})
        go("runs", **address_of(key_of(row)))


def prepare_top() -> None:
    """Compute the board that Overview shows, so that the first visitor does not wait for it."""
    if chosen := study():
        board_of(chosen)


def draw_top(chosen: ResultChoice) -> None:
    """Overview: the first rows of the study's board and all own ones that are ranked, with a way to the whole."""
    board = board_of(chosen)
    ranked = board.ranked
    if len(ranked) < 2:
        return
    is_shown = ranked["is_own"] | (ranked.index < TOP_ROWS)
    shown = board._replace(rows=ranked[is_shown])
    st.header("Who predicts crashes best?", anchor="leaderboard")
    st.markdown(words.literal(f"{board_html.lead_words(board)}."))
    _draw_table(
        shown, board_html.board_table(shown, most=len(shown.rows)), "overview"
    )
    link(
        "results",
        f"All {words.count(len(board.rows))} rows",
        **{keys.PART: "Leaderboard"},
    )
    st.caption(
        f"Correct diagnosis, by the labels “{chosen.annotator}”. {MARKS}"
    )
