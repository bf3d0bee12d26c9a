"""Printed token costs by statistic: bars from zero, a chart per measure with its own scale."""

from __future__ import annotations

import altair as alt
import pandas as pd

from crane_core.charts.panels import panel_frame
from crane_core.charts.theme import CATEGORY_COLOURS, PADDING, TEXT

ROOM = 1.25
"""How far the axis extends beyond the longest bar, for the value beside it."""


def token_quantiles(table: pd.DataFrame) -> alt.LayerChart:
    """`table` holds the rows of one measure: measure, statistic, printed (the text to show), value."""
    statistics = list(dict.fromkeys(table["statistic"]))
    y = alt.Y(
        "statistic:N",
        sort=statistics,
        axis=alt.Axis(title=None, ticks=False, domain=False, labelOverlap=False),
    )
    scale = alt.Scale(domain=[0, ROOM * float(table["value"].max())], nice=True)
    x = alt.X("value:Q", scale=scale, axis=alt.Axis(title=None, tickCount=5))
    base = alt.Chart(table).encode(y=y, x=x)
    bars = base.mark_bar(height=16, color=CATEGORY_COLOURS["D"], opacity=0.6)
    values = base.mark_text(align="left", dx=4, fontSize=11, color=TEXT).encode(
        text=alt.Text("printed:N")
    )
    measure = str(table["measure"].iloc[0])
    return alt.LayerChart(
        layer=[bars, values], **panel_frame(measure, len(statistics)), padding=PADDING
    )
