"""Accuracy with one input and with another, one row per detector: the study's headline as a picture."""

import altair as alt
import pandas as pd

from crane_core.charts import theme

ROW_HEIGHT = 76
AXIS_HEIGHT = 56
INPUTS = ("−RT", "+RT")
OFFSETS = (-6, 18)
"""Pixels that the mark of the base and of the other input are off the middle of its detector's row."""


def gains(
    table: pd.DataFrame, *, inputs: tuple[str, str] = INPUTS
) -> alt.LayerChart:
    """Two points with their intervals per detector, and the printed value as a thin upright mark.

    `table` has a row per detector and setting: detector_title, label (the detector with its n, as the axis shows it),
    setting (one of `inputs`, the base first), value, low, high, printed (shares in 0..1; printed is NaN where
    nothing was printed), n, and text to stand beside the point.
    """
    label_of = dict(zip(table["detector_title"], table["label"], strict=True))
    labels = {
        title: label_of[title] for title in theme.in_order(list(label_of))
    }
    layers = [
        layer
        for place, setting in enumerate(inputs)
        for layer in _layers(table[table["setting"] == setting], place, labels)
    ]
    return alt.LayerChart(
        layer=layers,
        height=ROW_HEIGHT * len(labels) + AXIS_HEIGHT,
        padding=theme.room_for_text(table["text"]),
    )


def _layers(
    rows: pd.DataFrame, place: int, labels: dict[str, str]
) -> list[alt.Chart]:
    titles = list(labels)
    dy = OFFSETS[place]
    filled = place == 1
    base = alt.Chart(rows).encode(
        y=alt.Y(
            "label:N",
            sort=list(labels.values()),
            axis=theme.row_names(200, above=ROW_HEIGHT // 2 - 8),
        ),
        color=theme.colour_by_detector(titles, legend=None),
        tooltip=theme.tooltips(
            ("detector_title:N", "detector"),
            ("setting:N", "input"),
            ("value:Q", "accuracy", ".1%"),
            *theme.INTERVAL,
            ("printed:Q", "printed in the paper", ".1%"),
            ("n:Q", "instances"),
        ),
    )
    axis = alt.Axis(format=".0%", title="accuracy", tickCount=6)
    scale_x = alt.Scale(zero=False, nice=True)

    def x(field: str) -> alt.X:
        return alt.X(field, scale=scale_x, axis=axis)

    return [
        base.mark_rule(
            strokeWidth=2, opacity=0.6, yOffset=dy, y2Offset=dy
        ).encode(x=x("low:Q"), x2=alt.X2("high:Q")),
        base.mark_tick(thickness=1.5, size=22, yOffset=dy).encode(
            x=x("printed:Q"), color=alt.ColorValue(theme.INK)
        ),
        base.mark_point(
            size=90,
            filled=filled,
            # Transparent, not white: the page has a dark theme too.
            fill=alt.Undefined if filled else "transparent",
            strokeWidth=2,
            opacity=1,
            shape="diamond" if filled else "circle",
            yOffset=dy,
        ).encode(x=x("value:Q")),
        theme.text_behind(base, x("high:Q"), yOffset=dy),
    ]
