"""What each crash would cost to run again, against what it costs to ask: one point per crash, in order of time."""

import altair as alt
import pandas as pd

from crane_core.charts import theme

HEIGHT = 240
SHORTEST = 0.01
"""Seconds, on a logarithmic axis; what took less is drawn here."""


def time_saved(
    by_case: pd.DataFrame, title: str, query: float
) -> alt.LayerChart:
    """Filled where the crash is predicted, hollow where it is missed; dashed, what a query takes.

    `by_case` has a row per crash: case_id, seconds_before, seconds_of_query, is_predicted (a share in 0..1).
    `title` is the detector's, query its mean seconds per answer.
    """
    # Stable, so that crashes of equal time keep the order of their cases.
    in_order = by_case.sort_values("seconds_before", kind="stable")
    drawn = in_order.assign(
        place=range(1, len(in_order) + 1),
        shown=in_order["seconds_before"].clip(lower=SHORTEST),
        said=[
            "predicted" if share > 0.5 else "missed"
            for share in in_order["is_predicted"]
        ],
    )
    colour = theme.detector_colours([title])[title]
    axis = alt.Axis(
        title="seconds before the crash",
        values=[0.01, 0.1, 1, 10, 100, 1000, 10000],
        format="~g",
    )

    def y(field: str) -> alt.Y:
        return alt.Y(field, scale=alt.Scale(type="log", nice=False), axis=axis)

    base = alt.Chart(drawn).encode(
        x=alt.X(
            "place:Q",
            axis=alt.Axis(
                title="crashes, the quickest to reach first",
                grid=False,
                tickMinStep=1,
            ),
        ),
        tooltip=theme.tooltips(
            ("case_id:N", "case"),
            ("seconds_before:Q", "cells before it, s", ".2f"),
            ("seconds_of_query:Q", "query, s", ".2f"),
            ("said:N", "the crash is"),
        ),
    )
    dashed = theme.line_at("shown", query)
    layers = [
        dashed.encode(y=y("shown:Q")),
        base.mark_point(
            size=36, color=colour, strokeWidth=1.4, opacity=1
        ).encode(y=y("shown:Q")),
        base.transform_filter("datum.said == 'predicted'")
        .mark_point(size=36, color=colour, filled=True, opacity=1)
        .encode(y=y("shown:Q")),
    ]
    return alt.LayerChart(layer=layers, height=HEIGHT, padding=theme.PADDING)
