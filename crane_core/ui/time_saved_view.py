"""Does it save time to ask first? What alarms are worth in a day, then each detector that was timed."""

import streamlit as st

from crane_core.charts.time_saved import time_saved as time_chart
from crane_core.pipeline.results.time_saved import (
    TimeSaved,
    time_saved,
    times_of,
)
from crane_core.ui import data
from crane_core.ui.caption import captioned
from crane_core.ui.chart_box import draw_figure, finished
from crane_core.ui.chart_figure import ChartFigure
from crane_core.ui.result_switches import ResultChoice
from crane_core.ui.time_saved_words import ABOUT, finding, readable_time
from crane_core.ui.words import count, setting_short
from crane_core.ui.worth_view import draw_worth


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
        st.markdown(finding(one))
        draw_figure(figure)


def time_figures(chosen: ResultChoice) -> list[ChartFigure]:
    """A figure per detector and input that was timed."""
    return [_figure(chosen, one) for one in _saved(chosen)]


def _figure(chosen: ResultChoice, one: TimeSaved) -> ChartFigure:
    query = float(one.by_case["seconds_of_query"].mean())
    return ChartFigure(
        f"time_saved_{one.detector}_{one.setting}",
        [finished(time_chart, one.by_case, one.detector_title, query)],
        shown=readable_time(one),
        numbers=one.by_case,
        caption=captioned(
            f"{one.detector_title} {setting_short(one.setting)}: does it save time to ask first?",
            [finding(one), ABOUT, f"n: {count(len(one.by_case))} crashes."],
            source=chosen._replace(beside=()).source,
        ),
        note=ABOUT,
    )
