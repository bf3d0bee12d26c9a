"""How often the surest answers are wrong: the share of errors among those that are kept, from few to all of them."""

import altair as alt
import pandas as pd

from crane_core.charts.theme import INK, INTERVAL, OF_ANSWERS, PADDING, tooltips

HEIGHT = 260
_SHARES = [0, 0.2, 0.4, 0.6, 0.8, 1]


def risk_coverage(table: pd.DataFrame) -> alt.LayerChart:
    """Points with intervals, joined in the order of coverage.

    table: a row per threshold: threshold (percent), coverage, value (risk), low, high (shares in 0..1), n, n_cases.
    """
    x = alt.X(
        "coverage:Q",
        scale=alt.Scale(domain=[0, 1]),
        axis=alt.Axis(format=".0%", values=_SHARES, title="answers kept"),
    )
    axis = alt.Axis(format=".0%", values=_SHARES, title="wrong among them")

    def y(field: str) -> alt.Y:
        return alt.Y(field, scale=alt.Scale(domain=[0, 1]), axis=axis)

    base = alt.Chart(table).encode(
        x=x,
        tooltip=tooltips(
            ("threshold:Q", "confidence from", ".0f"),
            ("coverage:Q", "answers kept", ".1%"),
            ("value:Q", "wrong among them", ".1%"),
            *INTERVAL,
            *OF_ANSWERS,
        ),
    )
    layers = [
        base.mark_rule(color=INK, strokeWidth=1.5, opacity=0.35).encode(
            y=y("low:Q"), y2=alt.Y2("high:Q")
        ),
        base.mark_line(color=INK, strokeWidth=1.5).encode(y=y("value:Q")),
        base.mark_point(color=INK, filled=True, opacity=1, size=45).encode(
            y=y("value:Q")
        ),
    ]
    return alt.LayerChart(layer=layers, height=HEIGHT, padding=PADDING)
