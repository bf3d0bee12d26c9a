"""A chart or several with what belongs to them: how to read them, and a drawer with all that a paper can use.

The drawer holds the figure (SVG, PDF, PNG), the table (CSV, LaTeX, Markdown), the caption and the link. It is drawn
when it is opened, and a file is made when it is taken.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from crane_core.charts import paper_figure
from crane_core.ui import keys
from crane_core.ui.caption import Caption
from crane_core.ui.chart_figure import ChartFigure, Spec, TableForm, table_text
from crane_core.ui.glossary import prose
from crane_core.ui.grid import grid
from crane_core.ui.url_state import query_string

Drawn = alt.Chart | alt.LayerChart | alt.FacetChart | alt.HConcatChart
WIDTHS = {
    paper_figure.COLUMN_MM: "85 mm, a column",
    paper_figure.PAGE_MM: "178 mm, the page",
}
FONTS = {
    paper_figure.FigureFont.SANS: "sans",
    paper_figure.FigureFont.SERIF: "serif",
}
MIME = {
    paper_figure.FigureForm.SVG: "image/svg+xml",
    paper_figure.FigureForm.PDF: "application/pdf",
    paper_figure.FigureForm.PNG: "image/png",
}

TABLES = {
    TableForm.CSV: ("CSV", "text/csv"),
    TableForm.TEX: ("LaTeX", "application/x-tex"),
    TableForm.MD: ("Markdown", "text/markdown"),
}


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


def draw_figure(
    figure: ChartFigure,
    *,
    is_table_on_page: bool = False,
    on_pick: Callable[[Any], None] | None = None,
) -> None:
    """Draw the chart; several panels side by side, as many as the window has room for.

    The drawer shows the table unless the page does. The caption is what a screen reader says of the chart. With
    `on_pick` a click on a mark calls it with the selected points.
    """
    if figure.panel_width is None:
        words = figure.caption.text
        _draw(figure.panels[0], f"chart_{figure.name}", words, on_pick)
    else:
        _draw_panels(figure, figure.panel_width, on_pick)
    _draw_takeaway(figure, is_table_on_page=is_table_on_page)


def draw_method(*paragraphs: str) -> None:
    """Tests, adjustments and assumptions, folded: a reader of the answer need not pass them."""
    with st.expander("How this was computed"):
        for paragraph in filter(None, paragraphs):
            prose(st.caption, paragraph)


def draw_chart(
    chart: Drawn | Spec,
    table: pd.DataFrame | None,
    *,
    numbers: pd.DataFrame,
    name: str,
    caption: Caption,
    note: str = "",
    on_pick: Callable[[Any], None] | None = None,
) -> None:
    """Draw a chart that belongs to one page alone; the arguments as the members of `ChartFigure`."""
    spec = chart if isinstance(chart, dict) else _as_spec(chart)
    figure = ChartFigure(name, [spec], table, numbers, caption, note)
    draw_figure(figure, on_pick=on_pick)


def _draw_panels(
    figure: ChartFigure, width: int, on_pick: Callable[[Any], None] | None
) -> None:
    # Wider where a row has room left, see style.css.
    key = f"{keys.PANELS}_{figure.name}"
    with st.container(horizontal=True, gap="medium", key=key):
        for index, panel in enumerate(figure.panels):
            # The whole caption once: a screen reader would say it for every panel.
            caption = figure.caption
            words = caption.text if index == 0 else caption.title
            title = panel.get("title", {}).get("text", "")
            with st.container(width=width):
                _draw(
                    panel,
                    f"chart_{figure.name}_{index}",
                    f"{title}: {words}" if title else words,
                    on_pick,
                )


def draw_export(
    table: pd.DataFrame,
    *,
    numbers: pd.DataFrame,
    name: str,
    caption: Caption,
) -> None:
    """The drawer of a table that the page shows and no chart does; otherwise as `draw_chart`."""
    draw_drawer(
        ChartFigure(name, [], table, numbers, caption), is_table_on_page=True
    )


def _draw(
    spec: Spec,
    key: str,
    description: str,
    on_pick: Callable[[Any], None] | None,
) -> None:
    spec = spec | {"description": description}
    if on_pick is None:
        st.vega_lite_chart(spec, key=key)
        return
    event = st.vega_lite_chart(spec, key=key, on_select="rerun")
    for points in (event.get("selection") or {}).values():
        if points:
            on_pick(points[0])


def _draw_takeaway(figure: ChartFigure, *, is_table_on_page: bool) -> None:
    marks, *method = figure.note.split("\n\n")
    with st.container(
        horizontal=True,
        vertical_alignment="center",
        gap="small",
        key=f"takeaway_{figure.name}",
    ):
        if marks:
            prose(st.caption, marks, width="stretch")
        with st.container(width="content"):
            draw_drawer(figure, is_table_on_page=is_table_on_page)
    if method:
        draw_method(*method)


@st.fragment
def draw_drawer(figure: ChartFigure, *, is_table_on_page: bool) -> None:
    """The drawer alone. Opening it, and what is chosen in it, runs this and not the page."""
    opened = st.popover(
        "Export chart" if figure.panels else "Export table",
        width="content",
        key=f"drawer_{figure.name}",
        on_change="rerun",
    )
    if not opened.open:
        return
    with opened:
        names = ["Table", "Caption", "Link"]
        if figure.panels:
            names.insert(0, "Figure")
        *of_figure, of_table, of_caption, of_link = st.tabs(names)
        if of_figure:
            with of_figure[0]:
                _draw_files(figure)
        with of_table:
            _draw_table(figure, is_on_page=is_table_on_page)
        with of_caption:
            st.code(figure.caption.text, language=None, wrap_lines=True)
        with of_link:
            st.code(_address(), language=None, wrap_lines=True)


def _draw_files(figure: ChartFigure) -> None:
    was: paper_figure.FigureLook = st.session_state.get(
        keys.FIGURE_LOOK, paper_figure.FigureLook()
    )

    def key(of: str) -> str:
        return f"figure_{of}_{figure.name}"

    with st.container(horizontal=True, vertical_alignment="bottom"):
        width = st.segmented_control(
            "Width",
            list(WIDTHS),
            default=was.width_mm,
            format_func=WIDTHS.__getitem__,
            required=True,
            key=key("width"),
        )
        font = st.segmented_control(
            "Font",
            list(FONTS),
            default=was.font,
            format_func=FONTS.__getitem__,
            required=True,
            key=key("font"),
        )
    with st.container(horizontal=True):
        look = paper_figure.FigureLook(
            width,
            font,
            is_dark=st.toggle("Dark", was.is_dark, key=key("dark")),
            has_title=st.toggle("Title", was.has_title, key=key("title")),
            has_source=st.toggle("Source", was.has_source, key=key("source")),
        )
    # The next chart of a paper looks like this one.
    st.session_state[keys.FIGURE_LOOK] = look
    with st.container(horizontal=True):
        for form, mime in MIME.items():
            _download(
                figure.name,
                form,
                mime,
                partial(_file, figure, look, form),
            )
    st.caption("PDF embeds the font, SVG names it; PNG has 300 dpi.")


def _file(
    figure: ChartFigure,
    look: paper_figure.FigureLook,
    form: paper_figure.FigureForm,
) -> bytes:
    return paper_figure.figure_file(
        paper_figure.figure_svg(figure.spec, figure.words, look), form
    )


def _draw_table(figure: ChartFigure, *, is_on_page: bool) -> None:
    shown, name = figure.shown, figure.name
    if shown is not None and not is_on_page:
        grid(shown, width=900)
    with st.container(horizontal=True):
        for form, (label, mime) in TABLES.items():
            if shown is not None or form is TableForm.CSV:
                _download(
                    name,
                    form,
                    mime,
                    partial(_table, figure, form),
                    label=label,
                )
    st.caption("CSV is unrounded. LaTeX needs the package booktabs.")


def _table(figure: ChartFigure, form: TableForm) -> bytes:
    return (table_text(figure, form) or "").encode()


def _address() -> str:
    """The address of this view, as the browser sees it."""
    address = str(st.context.url or "")
    query = query_string()
    return f"{address}?{query}" if query else address


def _download(
    name: str,
    form: str,
    mime: str,
    content: Callable[[], bytes],
    *,
    label: str = "",
) -> None:
    st.download_button(
        label or form.upper(),
        content,
        f"{name}.{form}",
        mime,
        # A download need not run the page again.
        on_click="ignore",
        key=f"{form}_{name}",
    )
