"""Charts that stand side by side, one per detector or measure: their frame, and all of them as one chart for a file.

On the page each is separate and they wrap.
"""

from typing import Any

import altair as alt

PER_ROW = 3
BETWEEN = 24
ROW = 26
AROUND = 84
"""Pixels of a row, and of the heading and the axis."""


def panel_frame(title: str, n_rows: int) -> dict[str, Any]:
    """Heading and height of a panel with `n_rows` rows, as arguments of its chart."""
    heading = alt.TitleParams(
        title,
        anchor="start",
        frame="group",
        fontSize=13,
        fontWeight=600,
        offset=10,
    )
    return {"title": heading, "height": ROW * n_rows + AROUND}


def side_by_side(panels: list[dict[str, Any]]) -> dict[str, Any]:
    """The Vega-Lite charts of `panels` in rows of three. What answers to clicks is left out: a file has none."""
    whole = {"$schema", "config", "datasets", "params", "padding"}
    first = panels[0]
    return {
        name: first[name]
        for name in ("$schema", "config", "padding")
        if name in first
    } | {
        "concat": [
            {name: part for name, part in panel.items() if name not in whole}
            for panel in panels
        ],
        "columns": PER_ROW,
        "spacing": BETWEEN,
        "datasets": {
            name: rows
            for panel in panels
            for name, rows in panel.get("datasets", {}).items()
        },
    }
