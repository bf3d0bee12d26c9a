"""A chart with what belongs to it: its table, and downloads as CSV, SVG and PNG."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

Drawn = alt.Chart | alt.LayerChart | alt.FacetChart | alt.HConcatChart


def draw_chart(
    chart: Drawn,
    table: pd.DataFrame,
    *,
    name: str,
    note: str = "",
    on_pick: Callable[[Any], None] | None = None,
) -> None:
    """Draw `chart`; `table` is what it shows, ready to read. `name` is the stem of the downloads.

    With `on_pick` a click on a mark calls it with the selected points.
    """
    if on_pick is None:
        st.altair_chart(chart, key=f"chart_{name}")
    else:
        event = st.altair_chart(chart, key=f"chart_{name}", on_select="rerun")
        for points in (event.get("selection") or {}).values():
            if points:
                on_pick(points[0])
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if note:
            st.caption(note, width="stretch")
        with st.popover("Table and downloads", width="content"):
            st.dataframe(table, hide_index=True, width=900)
            with st.container(horizontal=True):
                st.download_button(
                    "CSV", table.to_csv(index=False), f"{name}.csv", "text/csv", on_click="ignore", key=f"csv_{name}"
                )
                st.download_button(
                    "SVG",
                    lambda: _image(chart, "svg"),
                    f"{name}.svg",
                    "image/svg+xml",
                    on_click="ignore",
                    key=f"svg_{name}",
                )
                st.download_button(
                    "PNG",
                    lambda: _image(chart, "png"),
                    f"{name}.png",
                    "image/png",
                    on_click="ignore",
                    key=f"png_{name}",
                )


def _image(chart: Drawn, form: str) -> bytes:
    """The chart as a file, on white, made when it is asked for."""
    import vl_convert  # 0.2 s that only a download needs

    spec = chart.to_dict() | {"background": "white"}
    if form == "svg":
        return vl_convert.vegalite_to_svg(spec).encode()
    return bytes(vl_convert.vegalite_to_png(spec, scale=2))
