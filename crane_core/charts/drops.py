"""Differences around zero with their intervals: what an input changes, one mark per row and detector."""

from collections.abc import Sequence

import altair as alt
import pandas as pd

from crane_core.charts import theme

MARK = "mark"
"""Name of the selection that a click on a mark makes."""
STEP = 18
GAP = 18
"""Pixels between the rows: on a phone a name is there, and belongs to the marks below it."""
AXIS_HEIGHT = 120
"""Pixels of the axis and of a legend in one line."""
LEGEND_LINE = 28
"""Of each further line of a legend, which a phone may need for each name; in a wide window the rows have it."""
AROUND = 0.38
"""Of the distance of two marks of a row, above the first and below the last: so a name is nearest to its own marks."""
BESIDE = 10
"""Pixels between the plot and the column of values at its right."""
FEW_CASES = 2
"""Rows over at most this many cases are faded."""
FADED = 0.6
TICKS = alt.ExprRef(f"{theme.IS_PHONE} ? 4 : 8")
"""About so many ticks; the axis begins and ends at one, so that no mark lies beyond the last."""
NARROW = 200
"""Pixels of a plot from which on the label of each tick has room."""
VALUES = "drop_values"
"""Name of the marks whose colour style.css leaves as it is."""


def drops(
    table: pd.DataFrame,
    *,
    labels: list[str],
    rate: str,
    headings: Sequence[str] = (),
) -> alt.LayerChart:
    """A diamond with its interval per row and detector, a hollow square where a difference is only printed.

    The values are in a column at the right in the colours of their detectors, where nothing else can meet them.

    `table` columns: label (the row), detector_title, setting, difference, low, high (shares; low and high are NaN where
    there is no interval), text, n, n_cases, is_printed. `labels` is the order from top to
    bottom; `headings` are those of them that have no mark and name the rows below. A click selects label and
    detector_title.
    """
    titles = theme.in_order(table["detector_title"].unique().tolist())
    axis = alt.Axis(
        # A plot beside long names in a column of a paper has room for the ends and 0.
        labelExpr=f"width < {NARROW} && datum.index > 0 && datum.index < 1 && datum.value !== 0 ? '' : "
        f"{theme.IN_POINTS}",
        title=f"change of {rate} in pp",
        tickCount=TICKS,
        # Each label below its tick, the last one too.
        labelFlush=False,
        labelOverlap=False,
    )
    scale = alt.Scale(nice=TICKS)

    def x(field: str) -> alt.X:
        return alt.X(field, axis=axis, scale=scale)

    row = STEP * len(titles) + GAP

    base = alt.Chart(table).encode(
        y=alt.Y(
            "label:N",
            sort=labels,
            # The rows in words, for a heading is in no row of the table.
            scale=alt.Scale(domain=labels),
            axis=theme.row_names(190, bold=headings, above=row // 2 - 8),
        ),
        yOffset=alt.YOffset(
            "detector_title:N",
            sort=titles,
            scale=alt.Scale(paddingOuter=AROUND),
        ),
        color=theme.colour_by_detector(
            titles, legend=theme.legend_of(titles) if len(titles) > 1 else None
        ),
        opacity=alt.OpacityValue(
            1,
            condition=theme.either(
                f"datum.n_cases !== null && datum.n_cases <= {FEW_CASES}",
                FADED,
            ),
        ),
        tooltip=theme.tooltips(
            ("detector_title:N", "detector"),
            ("label:N", "row"),
            ("difference:Q", "difference", "+.1%"),
            *theme.CHANGE_INTERVAL,
            *theme.COUNTS,
        ),
    )
    zero = theme.line_at("difference", 0.0)
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
        .mark_point(size=60, filled=False, shape="square", strokeWidth=2)
        .encode(x=x("difference:Q")),
        base.mark_text(
            align="left",
            dx=BESIDE,
            fontSize=theme.FONT,
            fontWeight=600,
        )
        .encode(
            x=alt.value("width"),
            text=alt.Text("text:N"),
            opacity=alt.OpacityValue(1),
        )
        .properties(name=VALUES),
    ]
    height = row * len(labels) + AXIS_HEIGHT + LEGEND_LINE * (len(titles) - 1)
    return alt.LayerChart(
        layer=layers, height=height, padding=theme.room_for_text(table["text"])
    )
