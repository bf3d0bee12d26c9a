"""What combining detectors changes, one row per combination, around zero: no better than its best member."""

import altair as alt
import pandas as pd

from crane_core.charts import theme

ROW_HEIGHT = 46
AXIS_HEIGHT = 56


def together(table: pd.DataFrame, *, axis: str) -> alt.LayerChart:
    """A diamond with its interval per row, filled where `holds` is true; rows in the order of the table.

    `table` has label (the combination as the axis shows it), difference, low, high (shares), holds, best
    (name of the best member), value and best_value (accuracy, shares), n, n_cases, and text to show at
    the right. `axis` says what the difference, in percentage points, is of.
    """
    low, high = (
        min(-0.01, float(table["low"].min())),
        max(0.01, float(table["high"].max())),
    )
    scale = alt.Scale(domain=[low, high], nice=False)
    ticks = alt.Axis(
        labelExpr=theme.IN_POINTS,
        title=f"{axis} in percentage points",
        tickCount=6,
    )
    colour = theme.DETECTOR_COLOURS["Certain-crash rules"]

    def x(field: str) -> alt.X:
        return alt.X(field, scale=scale, axis=ticks)

    base = alt.Chart(table).encode(
        y=alt.Y(
            "label:N",
            sort=table["label"].tolist(),
            axis=theme.row_names(240, above=ROW_HEIGHT // 2 - 6),
        ),
        tooltip=theme.tooltips(
            ("label:N", "combination"),
            ("value:Q", "accuracy", ".1%"),
            ("best:N", "best member"),
            ("best_value:Q", "its accuracy", ".1%"),
            ("difference:Q", "difference", "+.1%"),
            *theme.CHANGE_INTERVAL,
            *theme.COUNTS,
        ),
    )
    fill = alt.FillValue(
        "transparent", condition=theme.either("datum.holds", colour)
    )
    layers = [
        theme.line_at("difference", 0.0).encode(x=x("difference:Q")),
        base.mark_rule(strokeWidth=2, opacity=0.6, color=colour).encode(
            x=x("low:Q"), x2=alt.X2("high:Q")
        ),
        base.mark_point(
            size=90, strokeWidth=2, opacity=1, shape="diamond", color=colour
        ).encode(x=x("difference:Q"), fill=fill),
        # In a column: behind its interval a value would meet the line at zero of its row.
        theme.text_behind(base, alt.value("width")),
    ]
    return alt.LayerChart(
        layer=layers,
        height=ROW_HEIGHT * len(table) + AXIS_HEIGHT,
        padding=theme.room_for_text(table["text"]),
    )
