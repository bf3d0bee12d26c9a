"""What are alarms worth in a working day, and does it save time to ask first?

Precision at a share of cells that crash, and the decision curve; then each detector that was timed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pandas as pd
import streamlit as st

from crane_core.charts.decision_curve import decision_curve as curve_chart
from crane_core.charts.time_saved import time_saved as time_chart
from crane_core.domain import PAPER_GROUPS
from crane_core.pipeline.results.time_saved import (
    TimeSaved,
    time_saved,
    times_of,
)
from crane_core.pipeline.results.worth import (
    ALL,
    BASE_RATES,
    LIBRARY,
    Day,
    decision_curve,
    worth,
)
from crane_core.pipeline.rows import as_rows
from crane_core.rounding import digits
from crane_core.ui import data, keys, time_saved_words, url_state, worth_words
from crane_core.ui.caption import captioned
from crane_core.ui.chart_box import draw_figure, finished
from crane_core.ui.chart_figure import ChartFigure
from crane_core.ui.result_switches import ResultChoice
from crane_core.ui.rows_html import rows_html
from crane_core.ui.words import NOTHING, count, percent, setting_short

EVERY_LIBRARY = "all"
CRASH_S = {"600": "10 min", "60": "1 min", "3600": "1 h"}
LOOK_S = {"30": "30 s", "5": "5 s"}
CELLS = ("100", "30", "300")


def draw_worth(chosen: ResultChoice) -> None:
    """The section: what is assumed of a day, a row per detector and input, and the curve."""
    st.header("What are its alarms worth in a day?", anchor="worth")
    rows = _own(chosen)
    known = set(rows[LIBRARY].unique())
    groups = [group for group in PAPER_GROUPS if group in known]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        day, group = _assumed(groups)
    if group != EVERY_LIBRARY:
        rows = rows[rows[LIBRARY] == group]
    found = worth(rows, day, rule=chosen.rule, query_s=_query_s(chosen))
    if found.empty:
        st.info(
            "No detector was asked about crashes and about notebooks that run."
        )
        return
    st.markdown(worth_words.finding(found, day))
    st.html(rows_html(worth_words.readable_worth(found)))
    draw_figure(_curve_figure(chosen, rows, day, group))


def _own(chosen: ResultChoice) -> pd.DataFrame:
    rows = chosen.rows()
    return rows[rows["setting"].isin(chosen.inputs)]


def _assumed(groups: Sequence[str]) -> tuple[Day, str]:
    def one(
        label: str,
        options: Sequence[str],
        key: str,
        words: Callable[[str], object] = str,
    ) -> str:
        looks = {"format_func": words, "width": 150}
        return str(
            url_state.one_of(
                st.selectbox,
                label,
                options,
                key=key,
                default=options[0],
                **looks,
            )
        )

    rates = [f"{100 * rate:g}" for rate in BASE_RATES]
    day = Day(
        base_rate=float(
            one("Cells that crash", rates, keys.BASE_RATE, "{}%".format)
        )
        / 100,
        crash_s=float(
            one("A crash costs", list(CRASH_S), keys.CRASH_S, CRASH_S.get)
        ),
        look_s=float(
            one("A look costs", list(LOOK_S), keys.LOOK_S, LOOK_S.get)
        ),
        cells=int(one("Cells a day", CELLS, keys.CELLS)),
    )
    return day, one("Library", [EVERY_LIBRARY, *groups], keys.WORTH_OF)


def _query_s(chosen: ResultChoice) -> pd.Series[float] | None:
    times = times_of(data.store(), chosen.benchmark, chosen.experiment)
    if times.empty:
        return None
    return times.groupby(["detector", "setting"])["seconds_of_query"].mean()


def worth_figure(chosen: ResultChoice) -> ChartFigure | None:
    """The decision curve of what is assumed at first; None where nothing can be drawn."""
    rows, day = _own(chosen), Day()
    if worth(rows, day, rule=chosen.rule).empty:
        return None
    return _curve_figure(chosen, rows, day, EVERY_LIBRARY)


def _curve_figure(
    chosen: ResultChoice,
    rows: pd.DataFrame,
    day: Day,
    group: str,
) -> ChartFigure:
    """The decision curve of these rows."""
    curve = decision_curve(rows, day.base_rate, rule=chosen.rule)
    drawn = worth_words.drawn_curve(curve)
    share = f"{100 * day.base_rate:g}% of cells crash"
    of_group = "" if group == EVERY_LIBRARY else f", {group}"
    return ChartFigure(
        f"decision_curve_{chosen.kind}",
        [finished(curve_chart, drawn, everywhere=ALL, threshold=day.threshold)],
        shown=_readable_curve(drawn),
        numbers=curve,
        caption=captioned(
            f"Net benefit of a look at alarms, if {share}{of_group}",
            [
                worth_words.ABOUT,
                f"n: {count(rows['instance_id'].nunique())} instances.",
            ],
            source=chosen.source,
        ),
        note=worth_words.ABOUT,
    )


def _readable_curve(drawn: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "Detector": row["detector_title"],
            "Input": row["setting"] or NOTHING,
            "Cost of a look": percent(row["threshold"], 0),
            "Net benefit per 100 cells": digits(row["value"], 2),
            "95% interval": NOTHING
            if row["low"] is None
            else f"{digits(row['low'], 2)} to {digits(row['high'], 2)}",
        }
        for row in as_rows(drawn)
    )


@data.kept(data.answers, 16, copied=True)
def _saved(chosen: ResultChoice) -> list[TimeSaved]:
    rows = chosen.rows()
    own = rows[rows["experiment"] == chosen.experiment]
    return time_saved(
        own,
        times_of(data.store(), chosen.benchmark, chosen.experiment),
        rule=chosen.rule,
    )


def draw_time_saved(chosen: ResultChoice) -> None:
    """Both sections; a sentence where no answer was timed."""
    draw_worth(chosen)
    found = _saved(chosen)
    if not found:
        st.info(
            "No answer of this experiment was timed together with the cells before its target."
        )
        return
    st.header("Does it save time to ask first?", anchor="time")
    for one, figure in zip(found, time_figures(chosen), strict=True):
        st.markdown(time_saved_words.finding(one))
        draw_figure(figure)


def time_figures(chosen: ResultChoice) -> list[ChartFigure]:
    """A figure per detector and input that was timed."""
    return [_time_figure(chosen, one) for one in _saved(chosen)]


def _time_figure(chosen: ResultChoice, one: TimeSaved) -> ChartFigure:
    query = float(one.by_case["seconds_of_query"].mean())
    return ChartFigure(
        f"time_saved_{one.detector}_{one.setting}",
        [finished(time_chart, one.by_case, one.detector_title, query)],
        shown=time_saved_words.readable_time(one),
        numbers=one.by_case,
        caption=captioned(
            f"{one.detector_title} {setting_short(one.setting)}: does it save time to ask first?",
            [
                time_saved_words.finding(one),
                time_saved_words.ABOUT,
                f"n: {count(len(one.by_case))} crashes.",
            ],
            source=chosen._replace(beside=()).source,
        ),
        note=time_saved_words.ABOUT,
    )
