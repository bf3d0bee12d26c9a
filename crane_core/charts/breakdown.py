"""A rate by group and detector with one input and with another: bars from zero, each with its interval and value."""

from __future__ import annotations

import altair as alt
import pandas as pd

from crane_core.charts.gains import INPUTS
from crane_core.charts.theme import INK, PADDING, TEXT, detector_colours, in_order

BAR = "bar"
"""Name of the selection that a click on a bar makes."""
STEP = 15
PANEL_WIDTH = 204
BETWEEN = 88
"""Pixels between two panels, in which the values of long bars and the changes stand."""
PER_ROW = 3
"""Panels side by side; as many as a page of 1280 pixels shows."""


def breakdown(table: pd.DataFrame, *, labels: list[str], rate: str, inputs: tuple[str, str] = INPUTS) -> alt.FacetChart:
    """One panel per detector, one pair of bars per group.

    `table` columns: group, label (the group with its n, as the axis shows it), detector_title, setting (one of
    `inputs`, the base first), value, low, high (shares), label_at (where the text stands), n, text, and change (text
    at the right edge, on one setting of each pair). `labels` is the order from top to bottom. A click selects group,
    detector_title and setting.
    """
    titles = in_order(table["detector_title"].unique().tolist())
    colours = detector_colours(titles)
    colour = alt.Color("detector_title:N", scale=alt.Scale(domain=titles, range=list(colours.values())), legend=None)
    y = alt.Y("label:N", sort=labels, axis=alt.Axis(title=None, labelLimit=220, ticks=False, domain=False))
    offset = alt.YOffset("setting:N", sort=list(inputs), scale=alt.Scale(paddingInner=0.1))
    tooltip = [
        alt.Tooltip("group:N", title="group"),
        alt.Tooltip("detector_title:N", title="detector"),
        alt.Tooltip("setting:N", title="input"),
        alt.Tooltip("value:Q", title=rate, format=".1%"),
        alt.Tooltip("low:Q", title="95% from", format=".1%"),
        alt.Tooltip("high:Q", title="to", format=".1%"),
        alt.Tooltip("n:Q", title="instances"),
    ]
    scale = alt.Scale(domain=[0, 1])
    base = alt.Chart().encode(y=y, yOffset=offset, tooltip=tooltip)
    picked = alt.selection_point(name=BAR, fields=["group", "detector_title", "setting"], on="click", clear=False)
    bars = (
        base.mark_bar(cursor="pointer", height=STEP - 3)
        .encode(
            x=alt.X("value:Q", scale=scale, axis=alt.Axis(format=".0%", values=[0, 0.25, 0.5, 0.75, 1], title=rate)),
            color=colour,
            stroke=colour,
            strokeWidth=alt.StrokeWidthValue(1),
            fillOpacity=alt.condition(f"datum.setting == '{inputs[1]}'", alt.value(0.9), alt.value(0.25)),
        )
        .add_params(picked)
    )
    rules = base.mark_rule(color=INK, strokeWidth=1.2).encode(x=alt.X("low:Q", title=rate), x2="high:Q")
    values = base.mark_text(align="left", dx=4, fontSize=10.5, color=TEXT).encode(
        x=alt.X("label_at:Q", scale=scale), text="text:N"
    )
    changes = base.mark_text(align="left", fontSize=10.5, fontWeight=600, color=TEXT).encode(
        x=alt.value(PANEL_WIDTH + 42), text="change:N"
    )
    panel = alt.layer(bars, rules, values, changes).properties(width=PANEL_WIDTH, height=STEP * 2.5 * len(labels))
    header = alt.Header(title=None, labelFontSize=13, labelFontWeight=600, labelOrient="top", labelAnchor="start")
    panels = alt.Facet("detector_title:N", sort=titles, header=header)
    faceted: alt.FacetChart = (
        panel.facet(panels, data=table, columns=PER_ROW, spacing={"column": BETWEEN, "row": 48}, bounds="flush")
        .resolve_scale(y="shared")
        .properties(padding=PADDING)
    )
    return faceted
