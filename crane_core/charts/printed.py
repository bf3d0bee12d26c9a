"""Printed numbers of several settings, a chart per detector: the published ablations as a picture."""

from __future__ import annotations

import altair as alt
import pandas as pd

from crane_core.charts.panels import panel_frame
from crane_core.charts.theme import INK, PADDING, TEXT, detector_colours, either

ROOM = 0.3
"""Of the axis, beyond 100%, for the value beside the longest bar."""


def printed_bars(
    table: pd.DataFrame, *, settings: list[str], rate: str, reference: str
) -> alt.LayerChart:
    """Bars from zero per setting for one detector; a thin line marks the `reference` setting's value.

    `table` holds the rows of one detector: detector_title, setting, value (share in 0..1), text, reference_value.
    """
    title = str(table["detector_title"].iloc[0])
    y = alt.Y(
        "setting:N",
        sort=settings,
        axis=alt.Axis(title=None, ticks=False, domain=False, labelOverlap=False),
    )
    scale = alt.Scale(domain=[0, 1 + ROOM])
    x = alt.X(
        "value:Q",
        scale=scale,
        axis=alt.Axis(format=".0%", values=[0, 0.25, 0.5, 0.75, 1], title=rate),
    )
    tooltip = [
        alt.Tooltip("detector_title:N", title="detector"),
        alt.Tooltip("setting:N", title="input"),
        alt.Tooltip("value:Q", title=rate, format=".1%"),
    ]
    base = alt.Chart(table).encode(y=y, tooltip=tooltip)
    bars = base.mark_bar(height=16, color=detector_colours([title])[title]).encode(
        x=x,
        fillOpacity=alt.FillOpacityValue(
            0.4, condition=either(f"datum.setting == '{reference}'", 0.9)
        ),
    )
    mark = base.mark_rule(color=INK, strokeDash=[3, 2]).encode(
        x=alt.X("reference_value:Q", title=rate), y=alt.Y()
    )
    values = base.mark_text(align="left", dx=6, fontSize=11, color=TEXT).encode(
        x=x, text=alt.Text("text:N")
    )
    return alt.LayerChart(
        layer=[bars, mark, values], **panel_frame(title, len(settings)), padding=PADDING
    )
