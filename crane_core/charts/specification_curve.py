"""A specification curve: above the differences in order, below which choices lead to each.

One panel with one vertical scale, on which the choices stand below the differences: separate panels would not
keep to the width of the page.
"""

import json
from math import floor

import altair as alt
import numpy as np
import pandas as pd

from crane_core.charts import theme

CURVE_HEIGHT = 230
ROW_HEIGHT = 34
APART = 0.3
"""Of a column's place, the gap to the next."""
LONG_NAME = 30
"""Letters of a name that is broken behind its first comma: two lines fit into a row.

Broken at every width: where the width of the names followed that of the plot, each would change the other.
"""
GAP = 0.24
"""Of a row between two groups of choices; two such gaps must stay below half a row, see `_axis`."""
TICKS = 0.05
"""Between two labels of the scale of differences."""


def specification_curve(
    readings: pd.DataFrame, choices: pd.DataFrame, chosen: str = ""
) -> alt.LayerChart:
    """A mark with its interval per detector and reading; filled where every test of the reading finds a change.

    `readings` has a row per detector and reading: place (of the reading, from the smallest mean difference on),
    reading (in words), detector_title, difference, low, high (shares in -1..1), found (in words), is_found.
    `choices` has a row per reading and choice: place, reading, of (what is chosen), choice (in words; rows stand below
    in this order, with a gap between what is chosen).
    chosen: the reading whose column is shaded.
    """
    titles = theme.in_order(readings["detector_title"].unique().tolist())
    # The scale always shows 0, which every difference is read against.
    bottom = min(0.0, floor(readings["low"].min() / TICKS) * TICKS)
    top = max(TICKS, readings["high"].max())
    named = choices.drop_duplicates("choice")
    group = named["of"].factorize()[0]
    step = (top - bottom) * ROW_HEIGHT / CURVE_HEIGHT
    rows = 1 + np.arange(len(named)) + GAP * group
    height_of = dict(
        zip(named["choice"], (bottom - step * rows).tolist(), strict=True)
    )
    n_rows = float(rows[-1]) + 0.5
    lowest = bottom - step * n_rows
    axis = _axis(bottom, top, height_of)
    scale = alt.Scale(domain=[lowest, top], nice=False, zero=False)

    def y(field: str) -> alt.Y:
        return alt.Y(f"{field}:Q", axis=axis, scale=scale)

    # Readings stand apart from each other, whatever the shaded band would make of it.
    apart = alt.Scale(paddingInner=APART, paddingOuter=APART / 2)
    x = alt.X("place:O", axis=None, scale=apart)
    base = alt.Chart(readings).encode(
        x=x,
        xOffset=alt.XOffset("detector_title:N", sort=titles),
        color=theme.colour_by_detector(titles, legend=theme.legend_of(titles)),
        tooltip=theme.tooltips(
            ("detector_title:N", "detector"),
            ("reading:N", "reading"),
            ("difference:Q", "change in accuracy", "+.1%"),
            *theme.CHANGE_INTERVAL,
            ("found:N", "found"),
        ),
    )
    placed = choices.assign(height=choices["choice"].map(height_of))
    squares = alt.Chart(placed).mark_point(
        filled=True, opacity=1, size=30, color=theme.INK, shape="square"
    )
    zero = theme.line_at("height", 0.0)
    layers = [
        zero.encode(y=y("height")),
        base.mark_rule(strokeWidth=1.5, opacity=0.8).encode(
            y=y("low"), y2=alt.Y2("high")
        ),
        base.mark_point(size=34, strokeWidth=1.4, opacity=1).encode(
            y=y("difference")
        ),
        base.transform_filter("datum.is_found")
        .mark_point(size=34, filled=True, opacity=1)
        .encode(y=y("difference")),
        squares.encode(
            x=x,
            y=y("height"),
            tooltip=alt.Tooltip("reading:N", title="reading"),
        ),
    ]
    if chosen:
        band = alt.Chart(placed[placed["reading"] == chosen][:1])
        # As wide as the column and the gap to its neighbours, so that it cuts no mark.
        wide = alt.RelativeBandSize(band=1 / (1 - APART))
        bar = band.mark_bar(color=theme.INK, opacity=0.15, width=wide)
        told = band.mark_text(text="chosen", dy=-8, fontSize=theme.FONT)
        layers.insert(
            0, bar.encode(x=x, y=alt.value(0), y2=alt.value("height"))
        )
        layers.append(told.encode(x=x, y=alt.value(0)))
    return alt.LayerChart(
        layer=layers,
        height=CURVE_HEIGHT + ROW_HEIGHT * n_rows,
        padding=theme.PADDING,
    )


def _axis(bottom: float, top: float, height_of: dict[str, float]) -> alt.Axis:
    """Percentage points from `bottom` up, and the name of each choice at its height below."""
    ticks = [
        float(tick)
        for tick in np.arange(round(bottom / TICKS), top / TICKS) * TICKS
    ]
    step = bottom - next(iter(height_of.values()))
    names = json.dumps([_lines(name) for name in height_of])
    name = f"{names}[round(({bottom} - datum.value) / {step}) - 1]"
    return alt.Axis(
        title=None,
        values=[*ticks, *height_of.values()],
        labelExpr=f"datum.value < {bottom - step / 2} ? {name} : (abs(datum.value) < 1e-9 ? '0' : "
        "replace(format(datum.value * 100, '+.0f'), '-', '−')) + ' pp'",
        labelLimit=300,
        labelFontSize=theme.FONT,
        labelLineHeight=theme.FONT + 1,
        labelOverlap=False,
        ticks=False,
        domain=False,
    )


def _lines(name: str) -> list[str]:
    first, comma, rest = name.partition(", ")
    is_long = comma and len(name) > LONG_NAME
    return [f"{first},", rest] if is_long else [name]
