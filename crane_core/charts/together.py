"""What combining detectors changes, one row per combination, around zero: no better than its best member."""

from __future__ import annotations

import altair as alt
import pandas as pd

from crane_core.charts.theme import (
    CHANGE_INTERVAL,
    COUNTS,
    DETECTOR_COLOURS,
    PADDING,
    TEXT,
    either,
    line_at,
    row_names,
    tooltips,
)

ROW_HEIGHT = 30
AXIS_HEIGHT = 56
IN_POINTS = "datum.value == 0 ? '0' : format(100 * datum.value, '+.0f') + ' pp'"
ROOM = 1.35
"""How far the axis reaches beyond the highest interval, in parts of the range, for the text behind it."""


def together(table: pd.DataFrame, *, axis: str) -> alt.LayerChart:
    """A diamond with its interval per row, filled where `holds` is true; rows in the order of the table.

    `table` has label (the combination with its n, as the axis shows it), difference, low, high (shares), holds, best
    (name of the best member), value and best_value (accuracy, shares), n, n_cases, and text to stand behind the
    interval. `axis` says what the difference is of.
    """
    low, high = (
        min(-0.01, float(table["low"].min())),
        max(0.01, float(table["high"].max())),
    )
    scale = alt.Scale(
        domain=[low, high + (high - low) * (ROOM - 1)], nice=False
    )
    ticks = alt.Axis(labelExpr=IN_POINTS, title=axis, tickCount=8)
    colour = DETECTOR_COLOURS["Certain-crash rules"]

    def x(field: str) -> alt.X:
        return alt.X(field, scale=scale, axis=ticks)

    base = alt.Chart(table).encode(
        y=alt.Y(
            "label:N",
            sort=table["label"].tolist(),
            axis=row_names(300),
        ),
        tooltip=tooltips(
            ("label:N", "combination"),
            ("value:Q", "accuracy", ".1%"),
            ("best:N", "best member"),
            ("best_value:Q", "its accuracy", ".1%"),
            ("difference:Q", "difference", "+.1%"),
            *CHANGE_INTERVAL,
            *COUNTS,
        ),
    )
    fill = alt.FillValue("transparent", condition=either("datum.holds", colour))
    no_better = line_at("difference", 0.0)
    layers = [
        no_better.encode(x=x("difference:Q")),
        base.mark_rule(strokeWidth=2, opacity=0.6, color=colour).encode(
            x=x("low:Q"), x2=alt.X2("high:Q")
        ),
        base.mark_point(
            size=90, strokeWidth=2, opacity=1, shape="diamond", color=colour
        ).encode(x=x("difference:Q"), fill=fill),
        base.mark_text(
            align="left", dx=8, fontSize=12, baseline="middle", color=TEXT
        ).encode(x=x("high:Q"), text=alt.Text("text:N")),
    ]
    return alt.LayerChart(
        layer=layers,
        height=ROW_HEIGHT * len(table) + AXIS_HEIGHT,
        padding=PADDING,
    )
