"""Order, colour and common parts of charts. A detector, a label and a category keep theirs on every page.

The colours are the Okabe-Ito palette, darkened or lightened until they stand out on white and on near-black.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd
from altair.utils import schemapi

DETECTOR_ORDER = (
    "Gemini 2.5 Flash",
    "Qwen2.5-32B-Instruct",
    "GPT-5",
    "Mistral Small 3.1",
    "Llama 3.3 70B",
    "pylint",
    "pyright",
    "Certain-crash rules",
    "Rehearsal (executed in a copy)",
)
DETECTOR_COLOURS = {
    "Gemini 2.5 Flash": "#2b83ba",
    "Qwen2.5-32B-Instruct": "#d0691f",
    "GPT-5": "#0f9b74",
    "Mistral Small 3.1": "#a8842c",
    "Llama 3.3 70B": "#8a6bbf",
    "pylint": "#b5609a",
    "pyright": "#6f7f92",
    "Certain-crash rules": "#9c755f",
    "Rehearsal (executed in a copy)": "#b3685e",
}
OTHER_COLOURS = ("#5aa2c9", "#c98f3d", "#4fae8e", "#b07aa1", "#7d8f3a")
CATEGORY_COLOURS = {
    "S": "#2b83ba",
    "R": "#b5609a",
    "V": "#0f9b74",
    "D": "#a8842c",
}
LABEL_SHAPES = (
    "circle",
    "square",
    "triangle-up",
    "diamond",
    "cross",
    "triangle-down",
    "triangle-right",
)
"""Shapes of a campaign's labels in their order; its colours are data (`annotation.label_set`)."""
INK = "#7b858f"
"""Thin lines on either ground."""
TEXT = "#5f6872"
"""Text on a light ground, as in downloads; on the page style.css sets the colour of the theme."""
PADDING = {"left": 0, "top": 6, "right": 0, "bottom": 2}
"""Pixels around a chart; the page keeps the rhythm, not the chart."""
FONT = 12
"""Pixels of the smallest text; Streamlit's own axes have 10.5, which are small beside text of 14."""
IS_PHONE = "(containerSize()[0] || width) < 560"
"""Whether names beside the rows would take half of the room. A page has a container; a file, and a plot, a width."""
LEGEND_LETTER, LEGEND_SYMBOL = 6.2, 26
"""Pixels of a legend's letter on a phone, and of its symbol with the space around it."""
INTERVAL = (("low:Q", "95% from", ".1%"), ("high:Q", "to", ".1%"))
CHANGE_INTERVAL = (("low:Q", "95% from", "+.1%"), ("high:Q", "to", "+.1%"))
IN_POINTS = "datum.value === 0 ? '0' : replace(format(100 * datum.value, '+.0f'), '-', '−')"
"""The label of a tick at a difference of shares: percentage points with their sign."""
COUNTS = (("n:Q", "instances"), ("n_cases:Q", "cases"))
"""Entries of `tooltips` of which many marks tell."""
OF_ANSWERS = (("n:Q", "answers"), ("n_cases:Q", "cases"))
"""The same where each answer counts, several to an instance."""


def room_for_text(texts: Iterable[str]) -> dict[str, int]:
    """PADDING with room at the right for texts behind the marks: a narrow chart would cut them."""
    return PADDING | {"right": 8 + 7 * max(map(len, texts), default=0)}


def label_above(offset: int) -> alt.Axis:
    """An axis of rows whose labels stand `offset` pixels above the middle of their row, inside the plot.

    Labels beside the rows would leave a phone no room for the marks.
    """
    return alt.Axis(
        title=None,
        labelAlign="left",
        labelPadding=-2,
        labelOffset=-offset,
        labelLimit=300,
        # A dashed line passes below the names, which style.css gives the ground of the page.
        zindex=1,
        ticks=False,
        domain=False,
    )


def row_names(
    limit: int,
    *,
    above: int,
    inside: int = 2,
    bold: Sequence[str] = (),
) -> alt.Axis:
    """An axis of rows whose names stand beside them, each at most `limit` pixels wide; some names are bold.

    above: pixels by which names are above the middle of their row on a phone, as `label_above` writes them.
    inside: pixels between the edge of the plot and names in it.
    """
    looks: dict[str, Any] = {}
    if bold:
        is_bold = f"indexof({json.dumps(list(bold))}, datum.value) >= 0"
        looks["labelFontWeight"] = {
            "condition": either(is_bold, "bold"),
            "value": "normal",
        }
    return alt.Axis(
        title=None,
        labelAlign=alt.ExprRef(f"{IS_PHONE} ? 'left' : 'right'"),
        labelPadding=alt.ExprRef(f"{IS_PHONE} ? {-inside} : 12"),
        labelOffset=alt.ExprRef(f"{IS_PHONE} ? {-above} : 0"),
        labelLimit=limit,
        # Streamlit moves the first name to the edge of the plot, away from its mark.
        labelFlush=False,
        # On a phone a line at zero passes below the names, which style.css gives the ground of the page.
        zindex=1,
        ticks=False,
        domain=False,
        **looks,
    )


def legend_of(names: Sequence[str], symbol: Any = alt.Undefined) -> alt.Legend:
    """A legend above the plot: in one line where its names fit, else as many beside each other as fit.

    symbol: the shape of the marks, where lines of the same colours would stand in its place.
    """

    def room(columns: int) -> str:
        widest = [max(map(len, names[at::columns])) for at in range(columns)]
        line = LEGEND_LETTER * sum(widest) + LEGEND_SYMBOL * columns
        return f"width >= {round(line)} ? {columns} : "

    several = [n for n in (len(names), 3, 2) if 1 < n <= len(names)]
    return alt.Legend(
        title=None,
        orient="top",
        columns=alt.ExprRef("".join(map(room, several)) + "1"),
        labelLimit=alt.ExprRef(f"max(140, width - {LEGEND_SYMBOL})"),
        columnPadding=8,
        labelFontSize=FONT,
        labelOpacity=1,
        symbolOpacity=1,
        symbolType=symbol,
    )


def tooltips(*entries: tuple[str, ...]) -> list[alt.Tooltip]:
    """What a mark tells when it is pointed at: of each entry the field, its title and, of a number, its format."""
    return [
        alt.Tooltip(
            field, title=title, format=form[0] if form else alt.Undefined
        )
        for field, title, *form in entries
    ]


def text_behind(base: alt.Chart, x: Any, **looks: Any) -> alt.Chart:
    """The field `text` of each row behind x; looks: more of its mark."""
    mark = base.mark_text(align="left", dx=8, fontSize=FONT, **looks)
    drawn: alt.Chart = mark.encode(
        x=x, text=alt.Text("text:N"), color=alt.ColorValue(TEXT)
    )
    return drawn


def line_at(field: str, value: float) -> alt.Chart:
    """A dashed line at one value of a field, such as 0 where nothing changes; the caller sets its channel."""
    line: alt.Chart = alt.Chart(pd.DataFrame({field: [value]})).mark_rule(
        color=INK, strokeDash=[3, 2]
    )
    return line


def colour_by_detector(
    titles: list[str], legend: alt.Legend | None
) -> alt.Color:
    """The colour channel of rows with a detector_title; `titles` in the order of the legend."""
    colours = detector_colours(titles)
    scale = alt.Scale(domain=titles, range=[colours[title] for title in titles])
    return alt.Color("detector_title:N", scale=scale, legend=legend)


def colour_and_shape(
    colours: Mapping[str, str], legend: alt.Legend | None
) -> tuple[alt.Color, alt.Shape]:
    """The channels of rows with a label; colours: of each label, in their order, at most as many as LABEL_SHAPES."""
    labels = list(colours)
    shapes = list(LABEL_SHAPES[: len(labels)])
    return (
        alt.Color(
            "label:N",
            scale=alt.Scale(domain=labels, range=list(colours.values())),
            legend=legend,
        ),
        alt.Shape(
            "label:N",
            scale=alt.Scale(domain=labels, range=shapes),
            legend=legend,
        ),
    )


def detector_colours(titles: list[str]) -> dict[str, str]:
    """A colour per detector: the fixed ones, and for others one that follows from their place in the alphabet."""
    # By name: the order in which they are shown must not change their colours.
    strangers = sorted(set(titles) - set(DETECTOR_COLOURS))
    spare = {
        title: OTHER_COLOURS[i % len(OTHER_COLOURS)]
        for i, title in enumerate(strangers)
    }
    return {
        title: DETECTOR_COLOURS.get(title) or spare[title] for title in titles
    }


def in_order(titles: list[str]) -> list[str]:
    """Detectors in the study's order, others after them by name."""
    known = [title for title in DETECTOR_ORDER if title in titles]
    return known + sorted(set(titles) - set(known))


def between(light: str, dark: str) -> str:
    """The colour halfway between that for a light and that for a dark ground; all as #rrggbb."""
    pairs = (
        (int(light[place : place + 2], 16), int(dark[place : place + 2], 16))
        for place in (1, 3, 5)
    )
    return "#" + "".join(f"{(one + other) // 2:02x}" for one, other in pairs)


def either(test: str, value: str | float) -> dict[str, Any]:
    """The condition of a channel: `value` where the expression `test` holds, else what the channel says.

    `alt.condition` returns a dict whose class Altair looks up again, by trying all that it has.
    """
    return {"test": test, "value": value}


@alt.theme.register("crane", enable=True)
def _sizes() -> alt.theme.ThemeConfig:
    """What all charts have on the page and on the site; a file of a figure sets other sizes."""
    text: Any = {"labelFontSize": FONT, "titleFontSize": FONT}
    return {"config": {"axis": text, "header": text}}


def _as_values(table: Any) -> dict[str, Any]:
    """A table as a chart holds it. Altair's own way takes ten times as long, once for every layer of a chart."""
    return {
        "values": json.loads(
            table.to_json(
                orient="records", double_precision=15, date_format="iso"
            )
        )
    }


schemapi.disable_debug_mode()  # it validates every part of a chart on its way; tests validate charts as a whole
alt.data_transformers.register("rows", _as_values)
alt.data_transformers.enable("rows")
