"""Odds ratios of runtime state, one row per detector, with a line at 1: no change."""

import altair as alt
import pandas as pd

from crane_core.charts import theme

ROW_HEIGHT = 50
AXIS_HEIGHT = 56
TICKS = [
    1 / 64,
    1 / 32,
    1 / 16,
    1 / 8,
    1 / 4,
    1 / 2,
    2 / 3,
    1,
    3 / 2,
    2,
    4,
    8,
    16,
    32,
    64,
]
"""Doublings; those within reach of the intervals are shown."""


def odds(table: pd.DataFrame) -> alt.LayerChart:
    """A diamond with its interval per detector on a logarithmic axis.

    `table` has a row per detector: detector_title, label (the detector with its n, as the axis shows it), odds_ratio,
    low, high (all above 0), n, n_cases, and text to stand behind the interval.
    """
    label_of = dict(zip(table["detector_title"], table["label"], strict=True))
    titles = theme.in_order(list(label_of))
    least, most = (
        min(0.9, float(table["low"].min())),
        max(2.0, float(table["high"].max())),
    )
    axis = alt.Axis(
        title="odds ratio",
        values=[tick for tick in TICKS if least <= tick <= most],
        format=".2~f",
    )
    # Logarithmic: an odds ratio of 1/2 is as far from 1 as one of 2.
    scale = alt.Scale(type="log", domain=[least, most], nice=False)

    def x(field: str) -> alt.X:
        return alt.X(field, scale=scale, axis=axis)

    base = alt.Chart(table).encode(
        y=alt.Y(
            "label:N",
            sort=[label_of[title] for title in titles],
            axis=theme.row_names(200, above=ROW_HEIGHT // 2 - 6),
        ),
        color=theme.colour_by_detector(titles, legend=None),
        tooltip=theme.tooltips(
            ("detector_title:N", "detector"),
            ("odds_ratio:Q", "odds ratio", ".2f"),
            ("low:Q", "95% from", ".2f"),
            ("high:Q", "to", ".2f"),
            *theme.COUNTS,
        ),
    )
    layers = [
        theme.line_at("odds_ratio", 1.0).encode(x=x("odds_ratio:Q")),
        base.mark_rule(strokeWidth=2, opacity=0.6).encode(
            x=x("low:Q"), x2=alt.X2("high:Q")
        ),
        base.mark_point(
            size=90, filled=True, opacity=1, shape="diamond"
        ).encode(x=x("odds_ratio:Q")),
        theme.text_behind(base, x("high:Q")),
    ]
    return alt.LayerChart(
        layer=layers,
        height=ROW_HEIGHT * len(titles) + AXIS_HEIGHT,
        padding=theme.room_for_text(table["text"]),
    )
