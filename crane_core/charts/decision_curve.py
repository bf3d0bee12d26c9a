"""Decision curve: net benefit of a look at a detector's alarms, by the least chance of a crash at which a look pays."""

import math

import altair as alt
import pandas as pd

from crane_core.charts import theme

HEIGHT = 280
DASHES = alt.Legend(
    title=None,
    # Above, a phone has room for the detectors alone.
    orient="bottom",
    symbolType="stroke",
    symbolStrokeColor=theme.INK,
    symbolSize=300,
    symbolOpacity=1,
)
LEGEND_ROW = 22


def decision_curve(
    table: pd.DataFrame, *, everywhere: str, threshold: float
) -> alt.LayerChart:
    """A line per detector and input, dotted for every cell; 0 is a look at no cell. The rule marks `threshold`.

    `table`: detector_title, setting, threshold, value, low, high (crashes per 100 cells). `everywhere` is the
    detector_title of a look at every cell.
    """
    is_all = table["detector_title"] == everywhere
    drawn = table[~is_all]
    titles = theme.in_order(drawn["detector_title"].unique().tolist())
    # Curves fall without end to the right; how far below 0 they are decides nothing.
    top = float(table["value"].max())
    y = alt.Y(
        "value:Q",
        scale=alt.Scale(domain=[-top / 2, top]),
        axis=alt.Axis(title="net benefit, crashes per 100 cells", tickCount=5),
    )
    x = alt.X(
        "threshold:Q",
        axis=alt.Axis(
            title="cost of a look, as a share of a crash", format=".0%"
        ),
    )
    base = alt.Chart(drawn).encode(
        x=x,
        color=theme.colour_by_detector(titles, legend=theme.legend_of(titles)),
        strokeDash=alt.StrokeDash("setting:N", legend=DASHES),
        tooltip=theme.tooltips(
            ("detector_title:N", "detector"),
            ("setting:N", "input"),
            ("threshold:Q", "cost of a look", ".0%"),
            ("value:Q", "net benefit", ".2f"),
            ("low:Q", "95% from", ".2f"),
            ("high:Q", "to", ".2f"),
        ),
    )
    dots = alt.Chart(table[is_all]).mark_line(
        color=theme.INK, strokeDash=[1, 4], strokeWidth=2, clip=True
    )
    marks = pd.DataFrame({"threshold": [threshold], "zero": [0.0]})
    here = alt.Chart(marks)
    layers = [
        here.mark_rule(color=theme.INK, strokeDash=[4, 3]).encode(x=x),
        here.mark_rule(color=theme.INK, strokeWidth=1).encode(
            y=alt.Y("zero:Q")
        ),
        dots.encode(x=x, y=y),
        base.mark_line(strokeWidth=2, clip=True).encode(y=y),
    ]
    return alt.LayerChart(
        layer=layers,
        height=HEIGHT + LEGEND_ROW * math.ceil(len(titles) / 2),
        padding=theme.PADDING,
    )
