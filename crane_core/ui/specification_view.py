"""Does the conclusion depend on the choices? One sentence, a line per detector, and the specification curve."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from crane_core.charts.specification_curve import (
    specification_curve as curve_chart,
)
from crane_core.charts.theme import in_order
from crane_core.pipeline.judging.judged import annotators_of
from crane_core.pipeline.judging.judges import judge_passes, without_repetitions
from crane_core.pipeline.results.measures import Credit, VoteRule
from crane_core.pipeline.results.specification_curve import (
    NOBODY,
    specification_curve,
)
from crane_core.pipeline.rows import as_rows
from crane_core.storage.verdicts import PUBLISHED_HUMAN
from crane_core.ui import data
from crane_core.ui.chart_box import draw_chart, finished
from crane_core.ui.result_switches import ResultChoice
from crane_core.ui.specification_words import (
    ABOUT,
    by_reading,
    choices_of,
    finding,
    line,
)
from crane_core.ui.words import (
    NOTHING,
    bullets,
    p_value,
    points,
    points_interval,
)


@data.kept(data.answers, 8, copied=True)
def _curve(chosen: ResultChoice) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The curve, and the same by reading."""
    own = chosen.rows()
    who = annotators_of(data.who_labelled(), own, data.judging_campaigns()) or [
        chosen.annotator
    ]
    names = without_repetitions(who, judge_passes(data.store()))
    curve = specification_curve(
        {name: chosen.rows_judged_by(name) for name in names}, chosen.inputs
    )
    return curve, by_reading(curve)


def draw_specification_curve(chosen: ResultChoice) -> None:
    """The section; a sentence where no detector has both inputs.

    It is the same whatever rule, credit and annotator the switches name, so that a changed switch computes nothing.
    """
    same = chosen._replace(
        rule=VoteRule.MAJORITY, credit=Credit.STRICT, annotator=PUBLISHED_HUMAN
    )
    curve, readings = _curve(same)
    if curve.empty:
        st.info(
            "No detector of this experiment was asked with both inputs, so there is no difference to vary."
        )
        return
    st.subheader("Does the conclusion depend on the choices?", anchor="choices")
    st.markdown(finding(curve))
    titles = in_order(curve["detector_title"].unique().tolist())
    st.markdown(
        bullets(
            line(curve[curve["detector_title"] == title]) for title in titles
        )
    )
    draw_chart(
        finished(curve_chart, readings, choices_of(readings)),
        _readable(curve),
        numbers=curve,
        name="choices",
        note=ABOUT,
    )


def _readable(curve: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "Detector": row["detector_title"],
            "Runs": row["rule"],
            "Detected if": row["credit"],
            "Judged by": NOTHING
            if row["judged_by"] == NOBODY
            else row["judged_by"],
            "Difference": points(row["difference"]),
            "95% interval": points_interval(row["low"], row["high"]),
            "Test": row["test"],
            "p (Holm)": p_value(row["p_value"]),
            "Finds": row["conclusion"],
            "Instances": row["n"],
        }
        for row in as_rows(curve)
    )
