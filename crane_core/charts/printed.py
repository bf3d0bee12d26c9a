"""Printed numbers of several settings side by side, per detector: the published ablations as a picture."""

from __future__ import annotations

import altair as alt
import pandas as pd

from crane_core.charts.theme import INK, PADDING, TEXT, detector_colours, in_order

PANEL_WIDTH = 250


def printed_bars(table: pd.DataFrame, *, settings: list[str], rate: str, reference: str) -> alt.FacetChart:
    """Bars from zero per setting, one panel per detector; a thin line marks the `reference` setting's value.

    `table` columns: detector_title, setting, value (share in 0..1), text, reference_value.
    """
    titles = in_order(table["detector_title"].unique().tolist())
    colours = detector_colours(titles)
    colour = alt.Color("detector_title:N", scale=alt.Scale(domain=titles, range=list(colours.values())), legend=None)
    y = alt.Y("setting:N", sort=settings, axis=alt.Axis(title=None, ticks=False, domain=False))
    tooltip = [
        alt.Tooltip("detector_title:N", title="detector"),
        alt.Tooltip("setting:N", title="input"),
        alt.Tooltip("value:Q", title=rate, format=".1%"),
    ]
    base = alt.Chart().encode(y=y, tooltip=tooltip)
    x = alt.X("value:Q", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format=".0%", tickCount=5, title=rate))
    bars = base.mark_bar(height=16).encode(
        x=x,
        color=colour,
        fillOpacity=alt.condition(f"datum.setting == '{reference}'", alt.value(0.9), alt.value(0.4)),
    )
    mark = base.mark_rule(color=INK, strokeDash=[3, 2]).encode(x=alt.X("reference_value:Q", title=rate), y=alt.Y())
    labels = base.mark_text(align="left", fontSize=11, color=TEXT).encode(x=alt.value(PANEL_WIDTH + 6), text="text:N")
    panel = alt.layer(bars, mark, labels).properties(width=PANEL_WIDTH, height=26 * len(settings))
    header = alt.Header(title=None, labelFontSize=13, labelFontWeight=600, labelOrient="top", labelAnchor="start")
    return panel.facet(
        data=table, column=alt.Column("detector_title:N", sort=titles, header=header), spacing=72, padding=PADDING
    )
