"""How the labels of an annotator shift during the work: a share per label and stretch."""

from __future__ import annotations

import altair as alt
import pandas as pd

from crane_core.charts.panels import panel_frame
from crane_core.charts.theme import PADDING, TEXT, colour_and_shape, tooltips

N_ROWS = 6
"""Height of the panel, in rows of `panels`."""
LINE = 0.09
"""Height of a line of text, as a share of the panel."""


def label_mix(
    table: pd.DataFrame, *, parts: list[str], colours: dict[str, str]
) -> alt.LayerChart:
    """Lines from zero, named at their end, of one annotator. `parts` is the order of the stretches, first to last.

    colours: of each label, in their order, at most as many as theme.LABEL_SHAPES.

    `table` columns: annotator, part, label, share (0..1; 0 where the label was not given), n (labels in the part),
    median_s, and text (the label's name where its line ends, else empty).
    """
    annotator = str(table["annotator"].iloc[0])
    table = table.assign(text_at=_apart(table))
    colour, shape = colour_and_shape(colours, legend=None)
    axis = alt.Axis(
        title="quarters, in the order of labelling", labelAngle=0, ticks=False
    )
    x = alt.X("part:N", sort=parts, axis=axis, scale=alt.Scale(padding=0.3))
    y = alt.Y(
        "share:Q",
        scale=alt.Scale(domain=[0, 1]),
        axis=alt.Axis(title=None, format=".0%", tickCount=3),
    )
    tooltip = tooltips(
        ("annotator:N", "annotator"),
        ("part:N", "stretch"),
        ("label:N", "label"),
        ("share:Q", "share", ".0%"),
        ("n:Q", "labels"),
        ("median_s:Q", "median seconds", ".0f"),
    )
    base = alt.Chart().encode(x=x, y=y, tooltip=tooltip)
    lines = base.mark_line(strokeWidth=2).encode(color=colour)
    points = base.mark_point(size=60, filled=True, opacity=1).encode(
        color=colour, shape=shape
    )
    text_at = alt.Y("text_at:Q", scale=alt.Scale(domain=[0, 1]), title=None)
    names = base.mark_text(align="left", dx=8, fontSize=12, color=TEXT).encode(
        y=text_at, text=alt.Text("text:N")
    )
    return alt.LayerChart(
        data=table,
        layer=[lines, points, names],
        **panel_frame(annotator, N_ROWS),
        padding=PADDING,
    )


def _apart(table: pd.DataFrame) -> pd.Series[float]:
    """Where names stand: beside the end of their line, and a line of text above the name below."""
    places = table["share"].astype(float).copy()
    ends = table[table["text"] != ""]
    below = -LINE
    # From below: each name is pushed up as far as the one under it asks.
    for row in ends.sort_values("share", kind="stable").index:
        below = places[row] = max(places[row], below + LINE)
    places[ends.index] -= max(0.0, below - 1)
    return places
