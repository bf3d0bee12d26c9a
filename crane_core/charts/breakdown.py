"""A rate by group for one detector: from the one input to the other, with what that changes at the right."""

import json
from zlib import crc32

import altair as alt
import pandas as pd

from crane_core.charts import theme
from crane_core.charts.drops import FEW_CASES
from crane_core.charts.gains import INPUTS
from crane_core.charts.panels import panel_frame

MARK = "mark"
"""Name of the selection that a click on a mark makes."""
LABEL_LIMIT = 190
TICKS = [0, 0.25, 0.5, 0.75, 1]


def breakdown(
    table: pd.DataFrame,
    *,
    labels: list[str],
    rate: str,
    inputs: tuple[str, str] = INPUTS,
) -> alt.LayerChart:
    """One row per group: a hollow circle for the base, a filled diamond for the other input, a line between them.

    `table` holds the rows of one detector: group, label (the group with its n, as the axis shows it), detector_title,
    setting (one of `inputs`, the base first), value, low, high (shares), n, n_cases, change (text at the right edge, on
    one setting of each pair) and is_sure (the change is bold). A group with one input shows its interval.
    `labels` is the order from top to bottom. A click selects group, detector_title and setting.
    """
    title = str(table["detector_title"].iloc[0])
    drawn = table.assign(
        is_alone=table.groupby("label")["setting"].transform("nunique") < 2
    )
    scale = alt.Scale(domain=[0, 1])
    x = alt.X(
        "value:Q",
        scale=scale,
        axis=alt.Axis(format=".0%", values=TICKS, title=rate),
    )
    left = alt.Axis(
        title=None,
        labelLimit=LABEL_LIMIT,
        labelOverlap=False,
        labelFlush=False,
        ticks=False,
        domain=False,
    )
    colour = theme.detector_colours([title])[title]
    # Two cases are an anecdote; their rate is shown, but not as loudly.
    opacity = alt.OpacityValue(
        1, condition=theme.either(f"datum.n_cases <= {FEW_CASES}", 0.4)
    )
    is_other = f"datum.setting == '{inputs[1]}'"
    picked = alt.selection_point(
        name=MARK,
        fields=["group", "detector_title", "setting"],
        on="click",
        clear=False,
    )

    def y(axis: alt.Axis | None = None) -> alt.Y:
        return alt.Y("label:N", sort=labels, axis=axis)

    base = alt.Chart().encode(color=alt.ColorValue(colour), opacity=opacity)
    marks = alt.Chart(name=f"view_{crc32(title.encode()):08x}").mark_point(
        size=85, strokeWidth=2, cursor="pointer"
    )
    layers = [
        base.mark_line(strokeWidth=2, aria=False).encode(
            x=x, y=y(left), detail=alt.Detail("label:N")
        ),
        base.transform_filter("datum.is_alone")
        .mark_rule(strokeWidth=2)
        .encode(x=alt.X("low:Q", scale=scale), x2=alt.X2("high:Q"), y=y()),
        marks.encode(
            x=x,
            y=y(),
            stroke=alt.StrokeValue(colour),
            opacity=opacity,
            fill=alt.FillValue(
                "transparent", condition=theme.either(is_other, colour)
            ),
            shape=alt.ShapeValue(
                "circle", condition=theme.either(is_other, "diamond")
            ),
            tooltip=theme.tooltips(
                ("group:N", "group"),
                ("detector_title:N", "detector"),
                ("setting:N", "input"),
                ("value:Q", rate, ".1%"),
                *theme.INTERVAL,
                *theme.COUNTS,
            ),
        ).add_params(picked),
    ]
    changed = drawn[drawn["change"] != ""]
    if len(changed):
        layers.append(
            base.mark_point(size=0, aria=False).encode(
                x=x, y=y(_changes(changed))
            )
        )
    return alt.LayerChart(
        data=drawn,
        layer=layers,
        **panel_frame(title, len(labels)),
        padding=theme.PADDING | {"right": 4},
        resolve=alt.Resolve(axis=alt.AxisResolveMap(y="independent")),
    )


def _changes(changed: pd.DataFrame) -> alt.Axis:
    """The changes as labels of an axis at the right, so that a narrow chart leaves room for them."""
    words = json.dumps(
        dict(zip(changed["label"], changed["change"], strict=True))
    )
    sure = json.dumps(changed.loc[changed["is_sure"], "label"].tolist())
    weight = {
        "condition": theme.either(f"indexof({sure}, datum.value) >= 0", 700),
        "value": 400,
    }
    return alt.Axis(
        orient="right",
        title=None,
        # Half a mark and some air: a mark may stand at 100%.
        labelPadding=8,
        ticks=False,
        domain=False,
        grid=False,
        labelFlush=False,
        labelLimit=LABEL_LIMIT,
        labelOverlap=False,
        labelFontWeight=weight,
        labelExpr=f"{words}[datum.value] || ''",
    )
