"""What an answer costs against how often it is right: a mark per detector and input, and the front that none beats."""

import math

import altair as alt
import pandas as pd

from crane_core.charts import theme

HEIGHT = 340
LEGEND_ROW = 22


def pareto(
    table: pd.DataFrame, *, cost: str, cost_format: str, rate: str
) -> alt.LayerChart:
    """Points with intervals; those on the front are filled and joined by a dashed line.

    `table` columns: detector_title, setting, cost, value, low, high (shares), is_front, n, text. `cost` is the title of
    the axis.
    """
    titles = theme.in_order(table["detector_title"].unique().tolist())
    x = alt.X(
        "cost:Q",
        axis=alt.Axis(title=cost, format=cost_format, tickCount=5),
        scale=alt.Scale(zero=True, nice=True),
    )
    axis = alt.Axis(format=".0%", title=rate, tickCount=6)

    def y(field: str) -> alt.Y:
        return alt.Y(field, scale=alt.Scale(zero=False, nice=True), axis=axis)

    base = alt.Chart(table).encode(
        x=x,
        color=theme.colour_by_detector(titles, legend=theme.legend_of(titles)),
        tooltip=theme.tooltips(
            ("detector_title:N", "detector"),
            ("setting:N", "input"),
            ("cost:Q", cost, cost_format),
            ("value:Q", rate, ".1%"),
            *theme.INTERVAL,
            ("n:Q", "instances"),
        ),
    )
    on_front, off = (
        base.transform_filter("datum.is_front"),
        base.transform_filter("!datum.is_front"),
    )
    # A line over all points would lead through those off the front.
    front = alt.Chart(table[table["is_front"]]).mark_line(
        color=theme.INK, strokeDash=[4, 3], strokeWidth=1.5
    )
    layers = [
        front.encode(x=x, y=y("value:Q"), order=alt.Order("cost:Q")),
        base.mark_rule(strokeWidth=1.5, opacity=0.4).encode(
            y=y("low:Q"), y2=alt.Y2("high:Q")
        ),
        on_front.mark_point(
            size=110, filled=True, opacity=1, shape="diamond"
        ).encode(y=y("value:Q")),
        off.mark_point(
            size=70, filled=False, strokeWidth=2, shape="circle"
        ).encode(y=y("value:Q")),
        base.mark_text(align="left", dx=7, dy=-9, fontSize=12).encode(
            y=y("value:Q"),
            text=alt.Text("text:N"),
            color=alt.ColorValue(theme.TEXT),
            # On a phone marks near each other would write over each other; those of the front are named.
            opacity=alt.OpacityValue(
                1,
                condition=theme.either(
                    f"{theme.IS_PHONE} && !datum.is_front", 0
                ),
            ),
        ),
    ]
    return alt.LayerChart(
        layer=layers,
        height=HEIGHT + LEGEND_ROW * math.ceil(len(titles) / 2),
        padding=theme.room_for_text(table["text"]),
    )
