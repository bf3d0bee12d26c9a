"""The study's answer in two pictures: accuracy with one input and the other, and the paired difference around zero."""

from typing import Literal

import altair as alt
import pandas as pd

from crane_core.charts import theme

ROW_HEIGHT = 48
AXIS_HEIGHT = 48


def dumbbells(table: pd.DataFrame) -> alt.LayerChart:
    """A circle without, an arrow head with runtime state, a thin line between; the values stand beside them.

    `table`: detector_title, without, with_ (shares in 0..1), without_text, with_text, n.
    """
    axis = alt.Axis(format=".0%", title="accuracy", tickCount=5)
    low, high = (
        table[["without", "with_"]].to_numpy().min(),
        table[["without", "with_"]].to_numpy().max(),
    )
    # Room for the value before the first mark; the one behind the last stands in the padding.
    scale = alt.Scale(domain=[low - 0.09, high + 0.02], nice=False)
    base = _base(table)

    def x(field: str) -> alt.X:
        return alt.X(field, scale=scale, axis=axis)

    point = base.mark_point(
        size=110,
        strokeWidth=2,
        opacity=1,
        filled=False,
        fill="transparent",
        shape="circle",
    )
    head = base.mark_point(
        size=110, filled=True, opacity=1, shape="triangle-right"
    )
    layers = [
        base.mark_rule(strokeWidth=1.5).encode(
            x=x("without:Q"), x2=alt.X2("with_:Q")
        ),
        point.encode(x=x("without:Q")),
        head.encode(x=x("with_:Q")),
        _text(base, "right", -12).encode(
            x=x("without:Q"), text=alt.Text("without_text:N")
        ),
        _text(base, "left", 12, is_bold=True).encode(
            x=x("with_:Q"), text=alt.Text("with_text:N")
        ),
    ]
    return _finished(layers, table, theme.room_for_text(table["with_text"]))


def differences(table: pd.DataFrame) -> alt.LayerChart:
    """A square with its 95% interval per detector, against the line of no change.

    `table`: detector_title, difference, low, high (shares), text and interval_text (below the interval), n, n_cases.
    """
    axis = alt.Axis(
        labelExpr=theme.IN_POINTS,
        title="change in percentage points",
        tickCount=5,
    )
    low, high = min(0.0, table["low"].min()), max(0.0, table["high"].max())
    # Zero at the edge, where nothing is below it: on a phone the names stand beside its line then.
    scale = alt.Scale(
        domain=[low - 0.02 if low < 0 else 0.0, high + 0.02], nice=False
    )
    base = _base(table, above=15)

    def x(field: str) -> alt.X:
        return alt.X(field, scale=scale, axis=axis)

    square = base.mark_point(size=100, filled=True, opacity=1, shape="square")
    layers = [
        theme.line_at("difference", 0.0).encode(x=x("difference:Q")),
        base.mark_rule(strokeWidth=2).encode(x=x("low:Q"), x2=alt.X2("high:Q")),
        square.encode(x=x("difference:Q")),
        _text(base, "right", -3, dy=13, is_bold=True).encode(
            x=x("difference:Q"), text=alt.Text("text:N")
        ),
        _text(base, "left", 3, dy=13).encode(
            x=x("difference:Q"), text=alt.Text("interval_text:N")
        ),
    ]
    return _finished(layers, table)


def _base(table: pd.DataFrame, above: int = ROW_HEIGHT // 2 - 6) -> alt.Chart:
    titles = theme.in_order(table["detector_title"].tolist())
    axis = theme.row_names(160, above=above, inside=6)
    chart: alt.Chart = alt.Chart(table).encode(
        y=alt.Y("detector_title:N", sort=titles, axis=axis),
        color=theme.colour_by_detector(titles, legend=None),
        tooltip=theme.tooltips(
            ("detector_title:N", "detector"),
            ("without:Q", "without runtime state", ".1%"),
            ("with_:Q", "with runtime state", ".1%"),
            ("difference:Q", "difference", "+.1%"),
            *theme.CHANGE_INTERVAL,
            ("n:Q", "notebooks"),
        ),
    )
    return chart


def _text(
    base: alt.Chart,
    align: Literal["left", "center", "right"],
    dx: int,
    *,
    dy: int = 0,
    is_bold: bool = False,
) -> alt.Chart:
    drawn: alt.Chart = base.mark_text(
        align=align,
        dx=dx,
        dy=dy,
        fontSize=theme.FONT,
        fontWeight="bold" if is_bold else "normal",
    )
    return drawn.encode(color=alt.ColorValue(theme.TEXT))


def _finished(
    layers: list[alt.Chart],
    table: pd.DataFrame,
    padding: dict[str, int] = theme.PADDING,
) -> alt.LayerChart:
    return alt.LayerChart(
        layer=layers,
        height=ROW_HEIGHT * len(table) + AXIS_HEIGHT,
        padding=padding,
    )
