"""Differences around zero with their intervals: what an input changes, one mark per row and detector."""

from __future__ import annotations

import altair as alt
import pandas as pd

from crane_core.charts.theme import (
    INK,
    LEGEND,
    TEXT,
    detector_colours,
    either,
    in_order,
    room_for_text,
)

MARK = "mark"
"""Name of the selection that a click on a mark makes."""
STEP = 20
GAP = 12
AXIS_HEIGHT = 76
FEW_CASES = 2
"""Rows over at most this many cases are faded."""


def drops(table: pd.DataFrame, *, labels: list[str], rate: str) -> alt.LayerChart:
    """A diamond with its interval per row and detector, a hollow square where a difference is only printed.

    `table` columns: label (the row), detector_title, setting, difference, low, high (shares; low and high are NaN where
    there is no interval), end (position of the text), text, n, n_cases, is_printed. `labels` is the order from top to
    bottom. A click selects label and detector_title.
    """
    titles = in_order(table["detector_title"].unique().tolist())
    colours = detector_colours(titles)
    axis = alt.Axis(
        labelExpr="replace(format(100 * datum.value, '+.0f'), '-', '−') + ' pp'",
        title=f"change of {rate}",
        tickCount=6,
    )

    def x(field: str) -> alt.X:
        return alt.X(field, axis=axis, scale=alt.Scale(nice=True))

    base = alt.Chart(table).encode(
        y=alt.Y(
            "label:N",
            sort=labels,
            axis=alt.Axis(title=None, labelLimit=190, ticks=False, domain=False),
        ),
        yOffset=alt.YOffset("detector_title:N", sort=titles),
        color=alt.Color(
            "detector_title:N",
            scale=alt.Scale(domain=titles, range=[colours[title] for title in titles]),
            legend=LEGEND if len(titles) > 1 else None,
        ),
        opacity=alt.OpacityValue(
            1,
            condition=either(
                f"datum.n_cases !== null && datum.n_cases <= {FEW_CASES}", 0.4
            ),
        ),
        tooltip=[
            alt.Tooltip("detector_title:N", title="detector"),
            alt.Tooltip("label:N", title="row"),
            alt.Tooltip("difference:Q", title="difference", format="+.1%"),
            alt.Tooltip("low:Q", title="95% from", format="+.1%"),
            alt.Tooltip("high:Q", title="to", format="+.1%"),
            alt.Tooltip("n:Q", title="instances"),
            alt.Tooltip("n_cases:Q", title="cases"),
        ],
    )
    zero = alt.Chart(pd.DataFrame({"difference": [0.0]})).mark_rule(
        color=INK, strokeDash=[3, 2]
    )
    picked = alt.selection_point(
        name=MARK, fields=["label", "detector_title"], on="click", clear=False
    )
    measured, printed = "!datum.is_printed", "datum.is_printed"
    layers = [
        zero.encode(x=x("difference:Q")),
        base.transform_filter(measured)
        .mark_rule(strokeWidth=2)
        .encode(x=x("low:Q"), x2=alt.X2("high:Q")),
        base.transform_filter(measured)
        .mark_point(size=90, filled=True, shape="diamond", cursor="pointer")
        .encode(x=x("difference:Q"))
        .add_params(picked),
        base.transform_filter(printed)
        .mark_point(size=60, filled=False, shape="square", strokeWidth=1.5)
        .encode(x=x("difference:Q")),
        base.mark_text(align="left", dx=8, fontSize=11, baseline="middle").encode(
            x=x("end:Q"), text=alt.Text("text:N"), color=alt.ColorValue(TEXT)
        ),
    ]
    height = (STEP * len(titles) + GAP) * len(labels) + AXIS_HEIGHT
    return alt.LayerChart(
        layer=layers, height=height, padding=room_for_text(table["text"])
    )
