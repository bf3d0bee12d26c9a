"""Differences around zero with their intervals: what an input changes, one mark per row and detector."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal

import altair as alt
import pandas as pd

from crane_core.charts.theme import (
    CHANGE_INTERVAL,
    COUNTS,
    LEGEND,
    PADDING,
    TEXT,
    colour_by_detector,
    either,
    in_order,
    line_at,
    row_names,
    tooltips,
)

MARK = "mark"
"""Name of the selection that a click on a mark makes."""
STEP = 20
GAP = 12
AXIS_HEIGHT = 76
TEXT_ROOM = 48
"""Pixels at both ends of the axis for the values beside the marks."""
FEW_CASES = 2
"""Rows over at most this many cases are faded."""


_HIGH = (
    "isValid(datum.high) ? max(datum.high, datum.difference) : datum.difference"
)
_LOW = (
    "isValid(datum.low) ? min(datum.low, datum.difference) : datum.difference"
)


def drops(
    table: pd.DataFrame,
    *,
    labels: list[str],
    rate: str,
    headings: Sequence[str] = (),
) -> alt.LayerChart:
    """A diamond with its interval per row and detector, a hollow square where a difference is only printed.

    `table` columns: label (the row), detector_title, setting, difference, low, high (shares; low and high are NaN where
    there is no interval), text, n, n_cases, is_printed. `labels` is the order from top to
    bottom; `headings` are those of them that have no mark and name the rows below. A click selects label and
    detector_title.
    """
    titles = in_order(table["detector_title"].unique().tolist())
    axis = alt.Axis(
        labelExpr="datum.value === 0 ? '0' : replace(format(100 * datum.value, '+.0f'), '-', '−')",
        title=f"change of {rate} in pp",
        tickCount=6,
    )

    def x(field: str) -> alt.X:
        return alt.X(
            field, axis=axis, scale=alt.Scale(nice=False, padding=TEXT_ROOM)
        )

    base = alt.Chart(table).encode(
        y=alt.Y(
            "label:N",
            sort=labels,
            # The rows in words, for a heading is in no row of the table.
            scale=alt.Scale(domain=labels),
            axis=row_names(
                190,
                bold=headings,
                above=(STEP * len(titles) + GAP) // 2 - 4,
            ),
        ),
        yOffset=alt.YOffset("detector_title:N", sort=titles),
        color=colour_by_detector(
            titles, legend=LEGEND if len(titles) > 1 else None
        ),
        opacity=alt.OpacityValue(
            1,
            condition=either(
                f"datum.n_cases !== null && datum.n_cases <= {FEW_CASES}", 0.4
            ),
        ),
        tooltip=tooltips(
            ("detector_title:N", "detector"),
            ("label:N", "row"),
            ("difference:Q", "difference", "+.1%"),
            *CHANGE_INTERVAL,
            *COUNTS,
        ),
    )
    zero = line_at("difference", 0.0)
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
        *_values(base, x),
    ]
    height = (STEP * len(titles) + GAP) * len(labels) + AXIS_HEIGHT
    return alt.LayerChart(layer=layers, height=height, padding=PADDING)


def _values(base: alt.Chart, x: Callable[[str], alt.X]) -> Iterator[alt.Chart]:
    """The values beside the marks: at the left of what ends below zero, so that none crosses that line."""
    sides: tuple[tuple[str, str, Literal["left", "right"], int], ...] = (
        (f"({_HIGH}) < 0", _LOW, "right", -8),
        (f"({_HIGH}) >= 0", _HIGH, "left", 8),
    )
    for test, end, align, dx in sides:
        yield (
            base.transform_filter(test)
            .transform_calculate(end=end)
            .mark_text(align=align, dx=dx, fontSize=11, baseline="middle")
            .encode(
                x=x("end:Q"),
                text=alt.Text("text:N"),
                color=alt.ColorValue(TEXT),
            )
        )
