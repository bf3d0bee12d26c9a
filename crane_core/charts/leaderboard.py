"""Every detector with every input in the order of its accuracy, one row each, with intervals, ranks and groups."""

import altair as alt
import pandas as pd

from crane_core.charts import theme

ROW_HEIGHT = 38
AXIS_HEIGHT = 56
LOWER, NAME_ABOVE = 6, 9
"""Pixels of marks below the middle of their row, and of its name above it: near its own mark, far from others."""


def leaderboard(table: pd.DataFrame) -> alt.LayerChart:
    """A mark with its interval per row, in the order of the table; filled where `is_filled`.

    `table` has label (rank, detector and input, as the axis shows it), detector_title, is_filled, value, low, high
    (shares), n, n_cases, and text (accuracy and groups) for behind the interval.
    """
    titles = theme.in_order(table["detector_title"].unique().tolist())
    axis = alt.Axis(format=".0%", title="accuracy", tickCount=6)
    scale = alt.Scale(zero=False, nice=True)

    def x(field: str) -> alt.X:
        return alt.X(field, scale=scale, axis=axis)

    base = alt.Chart(table).encode(
        y=alt.Y(
            "label:N",
            sort=table["label"].tolist(),
            axis=theme.label_above(NAME_ABOVE),
        ),
        color=theme.colour_by_detector(titles, legend=None),
        tooltip=theme.tooltips(
            ("label:N", "detector"),
            ("value:Q", "accuracy", ".1%"),
            *theme.INTERVAL,
            *theme.COUNTS,
        ),
    )
    layers = [
        base.mark_rule(
            strokeWidth=2, opacity=0.6, yOffset=LOWER, y2Offset=LOWER
        ).encode(x=x("low:Q"), x2=alt.X2("high:Q")),
        base.transform_filter("datum.is_filled")
        .mark_point(
            size=80, filled=True, opacity=1, shape="diamond", yOffset=LOWER
        )
        .encode(x=x("value:Q")),
        base.transform_filter("!datum.is_filled")
        .mark_point(
            size=70, fill="transparent", strokeWidth=2, opacity=1, yOffset=LOWER
        )
        .encode(x=x("value:Q")),
        theme.text_behind(base, x("high:Q"), yOffset=LOWER),
    ]
    return alt.LayerChart(
        layer=layers,
        height=ROW_HEIGHT * len(table) + AXIS_HEIGHT,
        padding=theme.room_for_text(table["text"]),
    )
