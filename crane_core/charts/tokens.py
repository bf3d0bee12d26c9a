"""Printed token costs by statistic: bars from zero, one panel per measure with its own scale."""

from __future__ import annotations

import altair as alt
import pandas as pd

from crane_core.charts.theme import CATEGORY_COLOURS, PADDING, TEXT


def token_quantiles(table: pd.DataFrame) -> alt.HConcatChart:
    """`table` columns: measure, statistic, printed (the text to show), value."""
    panels = []
    statistics = list(dict.fromkeys(table["statistic"]))
    for measure in dict.fromkeys(table["measure"]):
        y = alt.Y("statistic:N", sort=statistics, axis=alt.Axis(title=None, ticks=False, domain=False))
        base = alt.Chart(table[table["measure"] == measure], title=str(measure)).encode(y=y)
        bars = base.mark_bar(height=16, color=CATEGORY_COLOURS["D"], opacity=0.6).encode(
            x=alt.X("value:Q", axis=alt.Axis(title=None, tickCount=5))
        )
        labels = base.mark_text(align="left", dx=4, fontSize=11, color=TEXT).encode(x="value:Q", text="printed:N")
        panels.append(alt.layer(bars, labels).properties(width=360, height=26 * len(statistics)))
    return alt.hconcat(*panels, spacing=48, padding=PADDING)
