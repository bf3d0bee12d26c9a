"""Does it save time to ask first? A sentence per detector that was timed, a chart, and what is left out."""

from __future__ import annotations

import streamlit as st

from crane_core.charts.time_saved import time_saved as time_chart
from crane_core.pipeline.results.time_saved import (
    TimeSaved,
    time_saved,
    times_of,
)
from crane_core.ui import data
from crane_core.ui.chart_box import draw_chart, finished
from crane_core.ui.result_switches import ResultChoice
from crane_core.ui.time_saved_words import ABOUT, finding, readable_time


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
    """The section; a sentence where no answer was timed."""
    found = _saved(chosen)
    if not found:
        st.info(
            "No answer of this experiment was timed together with the cells before its target."
        )
        return
    st.subheader("Does it save time to ask first?", anchor="time")
    for one in found:
        st.markdown(finding(one))
        query = float(one.by_case["seconds_of_query"].mean())
        name = f"time_saved_{one.detector}_{one.setting}"
        chart = finished(time_chart, one.by_case, one.detector_title, query)
        draw_chart(
            chart,
            readable_time(one),
            numbers=one.by_case,
            name=name,
            note=ABOUT,
        )
