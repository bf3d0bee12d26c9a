"""A chart or several with what belongs to them: the table, and downloads as CSV, SVG and PNG."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from crane_core.charts.panels import side_by_side
from crane_core.pipeline.sheet_text import csv_of
from crane_core.ui.glossary import prose
from crane_core.ui.grid import grid

Drawn = alt.Chart | alt.LayerChart | alt.FacetChart | alt.HConcatChart
Spec = dict[str, Any]
"""A Vega-Lite chart."""


@st.cache_data(max_entries=256, show_spinner=False)
def _spec(
    name: str,
    given: tuple[Any, ...],
    named: dict[str, Any],
    _make: Callable[..., Drawn],
) -> Spec:
    return _as_spec(_make(*given, **named))


def _as_spec(chart: Drawn) -> Spec:
    return chart.to_dict(
        validate=False
    )  # tests of the charts validate; it takes a third of the time


def finished(make: Callable[..., Drawn], *given: Any, **named: Any) -> Spec:
    """The chart that `make` draws of these tables, for `draw_chart`; made once for the same input.

    A page with half a dozen charts spends half of its time on making them.
    """
    return _spec(f"{make.__module__}.{make.__qualname__}", given, named, make)


def draw_chart(
    chart: Drawn | Spec,
    table: pd.DataFrame | None,
    *,
    numbers: pd.DataFrame,
    name: str,
    note: str = "",
    on_pick: Callable[[Any], None] | None = None,
) -> None:
    """Draw `chart`; `table` is what it shows, ready to read, `numbers` the same unrounded, for the CSV file.

    `table` is None if the page shows it anyway. `name` is the stem of the downloads. With `on_pick` a click on a
    mark calls it with the selected points.
    """
    spec = chart if isinstance(chart, dict) else _as_spec(chart)
    _draw(spec, f"chart_{name}", on_pick)
    _draw_takeaway(spec, table, numbers, name, note)


def draw_panels(
    panels: list[Spec],
    table: pd.DataFrame,
    *,
    width: int,
    numbers: pd.DataFrame,
    name: str,
    note: str = "",
    on_pick: Callable[[Any], None] | None = None,
) -> None:
    """Several charts of `width` pixels side by side, as many as the window has room for; otherwise as `draw_chart`."""
    with st.container(horizontal=True, gap="medium"):
        for index, panel in enumerate(panels):
            with st.container(width=width):
                _draw(panel, f"chart_{name}_{index}", on_pick)
    _draw_takeaway(side_by_side(panels), table, numbers, name, note)


def _draw(spec: Spec, key: str, on_pick: Callable[[Any], None] | None) -> None:
    if on_pick is None:
        st.vega_lite_chart(spec, key=key)
        return
    event = st.vega_lite_chart(spec, key=key, on_select="rerun")
    for points in (event.get("selection") or {}).values():
        if points:
            on_pick(points[0])


def _draw_takeaway(
    spec: Spec,
    table: pd.DataFrame | None,
    numbers: pd.DataFrame,
    name: str,
    note: str,
) -> None:
    with st.container(
        horizontal=True, vertical_alignment="center", gap="small"
    ):
        if note:
            prose(st.caption, note, width="stretch")
        with st.popover(
            "Downloads" if table is None else "Table and downloads",
            width="content",
        ):
            if table is not None:
                grid(table, width=900)
            with st.container(horizontal=True):
                _download(
                    name, "csv", "text/csv", lambda: csv_of(numbers).encode()
                )
                _download(
                    name, "svg", "image/svg+xml", lambda: _image(spec, "svg")
                )
                _download(name, "png", "image/png", lambda: _image(spec, "png"))


def _download(
    name: str, form: str, mime: str, content: Callable[[], bytes]
) -> None:
    st.download_button(
        form.upper(),
        content,
        f"{name}.{form}",
        mime,
        # A download need not run the page again.
        on_click="ignore",
        key=f"{form}_{name}",
    )


def _image(spec: Spec, form: str) -> bytes:
    """The chart as a file, on white, made on request."""
    import vl_convert  # 0.2 s that only a download needs

    # Documents are white, whatever theme the visitor sees.
    spec = spec | {"background": "white"}
    if form == "svg":
        return vl_convert.vegalite_to_svg(spec).encode()
    return bytes(vl_convert.vegalite_to_png(spec, scale=2))
