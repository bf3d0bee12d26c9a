"""A coefficient of agreement by group: a point with its interval per row, and the whole as a dashed line."""

from math import ceil

import altair as alt
import pandas as pd

from crane_core.charts import theme

ROW_HEIGHT = 48
"""Pixels of a row; its name is above its mark, and below that of the row before: two charts share a window's width."""
AXIS_HEIGHT = 56
STEP = 0.2
"""From one tick to the next."""
TEXT_BEFORE = 0.5
"""From this value on, a text without an interval is drawn before its mark."""
MARK = theme.INK
"""Colour of points that stand for no detector."""


def forest(
    table: pd.DataFrame,
    *,
    labels: list[str],
    coefficient: str,
    whole: float | None,
) -> alt.LayerChart:
    """One row per group, from top to bottom as in `labels`; `whole` is the value over all groups.

    `table` columns: label (the group with its n, as the axis shows it), value, low, high (missing where undefined), n,
    n_cases, text (beside the interval; what is shown if there is no value), colour. The axis begins at
    -0.2, or below the lowest interval, and ends at 1, so that charts of one page share it; the padding has room for the
    text behind an interval.
    """
    least = min([-STEP, *table["low"].dropna(), *table["value"].dropna()])
    steps_below = ceil(-least / STEP - 1e-9)
    ticks = [
        round(STEP * step, 1)
        for step in range(-steps_below, round(1 / STEP) + 1)
    ]
    # Ends are labelled below their lines, as all others are.
    axis = alt.Axis(
        title=coefficient, values=ticks, format=".1f", labelFlush=False
    )
    scale = alt.Scale(domain=[ticks[0], 1])

    def x(field: str) -> alt.X:
        return alt.X(field, scale=scale, axis=axis)

    # Without an interval the text is long; behind a high value it would be cut off.
    is_before = table["low"].isna() & (table["value"] > TEXT_BEFORE)
    drawn = table.assign(
        is_before=is_before,
        text_at=table["high"].fillna(table["value"]).fillna(ticks[0]),
        whole=whole,
    )
    base = alt.Chart(drawn).encode(
        y=alt.Y(
            "label:N",
            sort=labels,
            # Room for the name above the first mark.
            scale=alt.Scale(paddingOuter=0.15, paddingInner=0),
            axis=theme.label_above(ROW_HEIGHT // 2 - 9),
        ),
        tooltip=theme.tooltips(
            ("label:N", "group"),
            ("value:Q", coefficient, ".3f"),
            ("low:Q", "95% from", ".3f"),
            ("high:Q", "to", ".3f"),
            ("n:Q", "verdicts"),
            ("n_cases:Q", "cases"),
        ),
    )
    colour = alt.Color("colour:N", scale=None)
    behind = base.transform_filter("!datum.is_before")
    before = base.transform_filter("datum.is_before").encode(
        x=x("text_at:Q"), text=alt.Text("text:N")
    )
    layers = [
        base.mark_rule(strokeWidth=2).encode(
            x=x("low:Q"), x2=alt.X2("high:Q"), color=colour
        ),
        base.mark_point(
            size=80, filled=True, opacity=1, shape="diamond"
        ).encode(x=x("value:Q"), color=colour),
        theme.text_behind(behind, x("text_at:Q")),
        before.mark_text(
            align="right",
            dx=-8,
            fontSize=12,
            color=theme.TEXT,
        ),
    ]
    if whole is not None:
        # Each row has its own piece, which ends below the row's name.
        layers.insert(
            0,
            base.mark_rule(color=theme.INK, strokeDash=[3, 2]).encode(
                x=x("whole:Q"),
                y=alt.Y("label:N", sort=labels, bandPosition=0.4),
                y2=alt.Y2("label:N", bandPosition=0.75),
                tooltip=alt.Tooltip("whole:Q", title="overall", format=".3f"),
            ),
        )
    return alt.LayerChart(
        layer=layers,
        height=ROW_HEIGHT * len(labels) + AXIS_HEIGHT,
        padding=theme.room_for_text(drawn.loc[drawn["low"].notna(), "text"]),
    )
