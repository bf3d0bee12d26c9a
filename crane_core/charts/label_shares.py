"""What a campaign found: the share of each label with its interval, for all items and by detector and input."""

import json

import altair as alt
import pandas as pd

from crane_core.charts import theme

ROW = 17
"""Pixels of a line: the name of a group, a label below it, or nothing, which sets groups apart."""
AROUND = 84
"""Pixels of the legend and the axis."""
AFTER = "\n"
"""The empty line after a group; no label is called so."""


def label_shares(
    table: pd.DataFrame, *, colours: dict[str, str]
) -> alt.LayerChart:
    """The name of each group, and below it a line per label: its mark, its interval and its share.

    `table` columns: group (as it is shown), label, value, low, high (shares in 0..1), text, n, n_cases; groups in
    their order. colours: of each label, in their order, at most as many as theme.LABEL_SHAPES.
    """
    labels = list(colours)
    groups = table["group"].drop_duplicates().tolist()
    rows, names = _rows(groups, labels)
    place = dict(zip(rows, names, strict=True))
    drawn = table.assign(
        row=[
            _row(groups.index(group), label)
            for group, label in zip(table["group"], table["label"], strict=True)
        ]
    )
    y = alt.Y(
        "row:N",
        sort=None,
        scale=alt.Scale(domain=rows),
        axis=alt.Axis(
            title=None,
            # The name stands over its lines, inside the plot: beside them it would leave a phone no room.
            labelExpr=f"{json.dumps(place)}[datum.value]",
            labelAlign="left",
            labelPadding=-2,
            labelLimit=330,
            labelOverlap=False,
            labelFontSize=12,
            labelFontWeight=600,
            ticks=False,
            domain=False,
            grid=False,
        ),
    )
    scale = alt.Scale(domain=[0, 1])
    axis = alt.Axis(format=".0%", tickCount=5, title="share of the verdicts")
    x = alt.X("value:Q", scale=scale, axis=axis)
    colour, shape = theme.colour_and_shape(
        colours, legend=theme.legend_of(labels)
    )
    tooltip = theme.tooltips(
        ("group:N", "of"),
        ("label:N", "label"),
        ("value:Q", "share", ".1%"),
        *theme.INTERVAL,
        *theme.COUNTS,
    )
    base = alt.Chart().encode(y=y, tooltip=tooltip)
    layers = [
        base.mark_rule(strokeWidth=2, aria=False).encode(
            x=alt.X("low:Q", scale=scale, axis=axis),
            x2=alt.X2("high:Q"),
            color=colour,
        ),
        base.mark_point(size=70, filled=True, opacity=1).encode(
            x=x, color=colour, shape=shape
        ),
        theme.text_behind(base, alt.X("high:Q", scale=scale, axis=axis)),
    ]
    return alt.LayerChart(
        data=drawn,
        layer=layers,
        height=ROW * len(rows) + AROUND,
        padding=theme.PADDING | {"right": 40},
    )


def _rows(groups: list[str], labels: list[str]) -> tuple[list[str], list[str]]:
    """The rows from top to bottom, and the name in each: a group's in its first."""
    rows, names = [], []
    for place, group in enumerate(groups):
        lines = ("", *labels, AFTER)
        rows += [_row(place, line) for line in lines]
        names += [group, *("" for _ in lines[1:])]
    return rows, names


def _row(place: int, label: str) -> str:
    return f"{place}:{label}"
