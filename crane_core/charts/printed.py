"""Printed numbers of the published ablations: rates by setting, a chart per detector; token costs, one per measure."""

import altair as alt
import pandas as pd

from crane_core.charts import theme
from crane_core.charts.panels import panel_frame

ROOM = 0.3
"""Of the axis, beyond 100%, for the value beside the longest bar."""
TOKEN_ROOM = 1.25
"""How far the axis of tokens extends beyond the longest bar, for the value beside it."""


def printed_bars(
    table: pd.DataFrame, *, settings: list[str], rate: str, reference: str
) -> alt.LayerChart:
    """Bars from zero per setting for one detector; a thin line marks the `reference` setting's value.

    `table` holds the rows of one detector: detector_title, setting, value (share in 0..1), text, reference_value,
    is_printed (hollow: only the paper has it).
    """
    title = str(table["detector_title"].iloc[0])
    y = alt.Y("setting:N", sort=settings, axis=_every_name())
    scale = alt.Scale(domain=[0, 1 + ROOM])
    x = alt.X(
        "value:Q",
        scale=scale,
        axis=alt.Axis(format=".0%", values=[0, 0.25, 0.5, 0.75, 1], title=rate),
    )
    tooltip = theme.tooltips(
        ("detector_title:N", "detector"),
        ("setting:N", "input"),
        ("value:Q", rate, ".1%"),
    )
    base = alt.Chart(table).encode(y=y, tooltip=tooltip)
    colour = theme.detector_colours([title])[title]
    bars = base.mark_bar(
        height=16, color=colour, stroke=colour, strokeWidth=1.5
    ).encode(
        x=x,
        fillOpacity=alt.FillOpacityValue(
            0.4,
            condition=[
                theme.either("datum.is_printed", 0.0),
                theme.either(f"datum.setting == '{reference}'", 0.9),
            ],
        ),
    )
    mark = base.mark_rule(color=theme.INK, strokeDash=[3, 2]).encode(
        x=alt.X("reference_value:Q", title=rate), y=alt.Y()
    )
    # In a column: beside its bar a value would be crossed by the dashed line.
    values = base.mark_text(
        align="left", dx=6, fontSize=12, color=theme.TEXT
    ).encode(x=alt.XDatum(1, scale=scale, title=rate), text=alt.Text("text:N"))
    return alt.LayerChart(
        layer=[bars, mark, values],
        **panel_frame(title, len(settings)),
        padding=theme.PADDING,
    )


def token_quantiles(table: pd.DataFrame) -> alt.LayerChart:
    """`table` holds the rows of one measure: measure, statistic, printed (the text to show), value."""
    statistics = list(dict.fromkeys(table["statistic"]))
    y = alt.Y("statistic:N", sort=statistics, axis=_every_name())
    scale = alt.Scale(
        domain=[0, TOKEN_ROOM * float(table["value"].max())], nice=True
    )
    x = alt.X("value:Q", scale=scale, axis=alt.Axis(title=None, tickCount=5))
    base = alt.Chart(table).encode(y=y, x=x)
    bars = base.mark_bar(
        height=16, color=theme.CATEGORY_COLOURS["D"], opacity=0.6
    )
    values = base.mark_text(
        align="left", dx=4, fontSize=12, color=theme.TEXT
    ).encode(text=alt.Text("printed:N"))
    measure = str(table["measure"].iloc[0])
    return alt.LayerChart(
        layer=[bars, values],
        **panel_frame(measure, len(statistics)),
        padding=theme.PADDING,
    )


def _every_name() -> alt.Axis:
    """An axis of rows on which no name is left out, however close the rows stand."""
    return alt.Axis(title=None, ticks=False, domain=False, labelOverlap=False)
