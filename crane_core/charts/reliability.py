"""How often a crash is real, by how many answers predict it: one mark per detector against the diagonal.

And how often the surest answers are wrong: the share of errors among those that are kept, from few to all of them.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import altair as alt
import pandas as pd

from crane_core.charts import theme
from crane_core.charts.theme import INK, INTERVAL, OF_ANSWERS, PADDING, tooltips

HEIGHT = 300
APART = 0.014
"""Between the marks of two detectors with the same share of votes, on an axis from 0 to 1."""
RISK_HEIGHT = 260
PERCENT: dict[str, Any] = {
    "format": ".0%",
    "values": [0, 0.2, 0.4, 0.6, 0.8, 1],
}
FEW = 2
"""Marks over at most so many are faded; their intervals, which say nothing, would be the longest."""


def reliability(table: pd.DataFrame) -> alt.LayerChart:
    """Points with intervals; on the dashed diagonal the share of votes would be the chance of a crash.

    Points are not joined, because few instances may stand behind some.

    `table` has a row per detector and number of votes: detector_title, votes, n_runs, value, low, high (shares in
    0..1), n, n_cases. Marks grow with n.
    """
    titles = theme.in_order(table["detector_title"].unique().tolist())
    # Marks of several detectors on one share of votes would cover each other.
    shift = {
        title: APART * (index - (len(titles) - 1) / 2)
        for index, title in enumerate(titles)
    }
    drawn = table.assign(
        x=table["votes"] / table["n_runs"] + table["detector_title"].map(shift),
        said=[
            f"{votes} of {n_runs}"
            for votes, n_runs in zip(
                table["votes"], table["n_runs"], strict=True
            )
        ],
    )
    [of, *others] = table["n_runs"].unique()
    votes = (
        {}
        if others
        else {
            "values": [n / of for n in range(of + 1)],
            "labelExpr": f"round(datum.value * {of}) + ' of {of}'",
        }
    )
    return against_diagonal(
        drawn,
        said=("said:N", "crash votes"),
        axes=("answers that predict a crash", "real crashes"),
        ticks=votes,
    )


def against_diagonal(
    drawn: pd.DataFrame,
    *,
    said: tuple[str, str],
    axes: tuple[str, str],
    counts: tuple[tuple[str, str], ...] = theme.COUNTS,
    ticks: Mapping[str, Any] = MappingProxyType({}),
) -> alt.LayerChart:
    """Shares that come true against shares that were announced.

    drawn: columns x (announced, 0..1), value, low, high, n, n_cases, detector_title, and the field of `said`, which is
    that field with its type and its name in the tooltip. axes: titles of the horizontal and the vertical one. counts:
    what the tooltip calls n and n_cases. ticks: of the horizontal axis in place of percentages.
    """
    titles = theme.in_order(drawn["detector_title"].unique().tolist())
    x = alt.X(
        "x:Q",
        scale=alt.Scale(domain=[-0.04, 1.04], nice=False),
        axis=alt.Axis(**PERCENT | {"title": axes[0]} | dict(ticks)),
    )
    # Each label on its line, the first and the last too.
    axis = alt.Axis(**PERCENT, title=axes[1], labelFlush=False)

    def y(field: str) -> alt.Y:
        return alt.Y(field, scale=alt.Scale(domain=[0, 1]), axis=axis)

    base = alt.Chart(drawn).encode(
        x=x,
        color=theme.colour_by_detector(
            titles, legend=theme.legend_of(titles, "diamond")
        ),
        tooltip=theme.tooltips(
            ("detector_title:N", "detector"),
            said,
            ("value:Q", axes[1], ".1%"),
            *theme.INTERVAL,
            *counts,
        ),
    )
    diagonal = alt.Chart(
        pd.DataFrame({"x": [0.0, 1.0], "value": [0.0, 1.0]})
    ).mark_line(color=theme.INK, strokeDash=[3, 2], strokeWidth=1)
    size = alt.Size("n:Q", scale=alt.Scale(range=[25, 260]), legend=None)
    layers = [
        diagonal.encode(x=x, y=y("value:Q")),
        base.mark_rule(strokeWidth=2, opacity=0.5)
        .transform_filter(f"datum.n > {FEW}")
        .encode(y=y("low:Q"), y2=alt.Y2("high:Q")),
        base.mark_point(filled=True, shape="diamond").encode(
            y=y("value:Q"),
            size=size,
            opacity=alt.OpacityValue(
                1, condition=theme.either(f"datum.n <= {FEW}", 0.4)
            ),
        ),
    ]
    return alt.LayerChart(layer=layers, height=HEIGHT, padding=theme.PADDING)


def risk_coverage(table: pd.DataFrame) -> alt.LayerChart:
    """Points with intervals, joined in the order of coverage.

    table: a row per threshold: threshold (percent), coverage, value (risk), low, high (shares in 0..1), n, n_cases.
    """
    x = alt.X(
        "coverage:Q",
        scale=alt.Scale(domain=[0, 1]),
        axis=alt.Axis(**PERCENT, title="answers kept"),
    )
    axis = alt.Axis(**PERCENT, title="wrong among them")

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
    return alt.LayerChart(layer=layers, height=RISK_HEIGHT, padding=PADDING)
