"""A chart of the study with everything that goes with it, for a page that draws it or a command that writes files."""

from enum import StrEnum
from typing import Any, NamedTuple

import pandas as pd

from crane_core.charts.panels import side_by_side
from crane_core.charts.paper_figure import FigureWords
from crane_core.pipeline.frame_formats import frame_latex, frame_markdown
from crane_core.pipeline.sheet_text import csv_of
from crane_core.ui.caption import Caption
from crane_core.ui.grid import is_numeric

Spec = dict[str, Any]
"""A Vega-Lite chart."""


class TableForm(StrEnum):
    """The kinds of file of a table."""

    CSV = "csv"
    TEX = "tex"
    MD = "md"


class ChartFigure(NamedTuple):
    """A chart, or several that stand side by side.

    name: the stem of its files. panels: one chart, or one for each detector or measure; none of a table alone. shown:
    the table to read, None if there is none; numbers: the same unrounded, for CSV. note: how to read the chart; a
    paragraph after the first is about the method and folds.
    panel_width: pixels of each of several panels.
    """

    name: str
    panels: list[Spec]
    shown: pd.DataFrame | None
    numbers: pd.DataFrame
    caption: Caption
    note: str = ""
    panel_width: int | None = None

    @property
    def spec(self) -> Spec:
        """All of it as one chart."""
        is_single = self.panel_width is None
        return self.panels[0] if is_single else side_by_side(self.panels)

    @property
    def words(self) -> FigureWords:
        """The words above and below it in a file, and what a screen reader says."""
        caption = self.caption
        return FigureWords(caption.title, caption.source, caption.text)


def table_text(figure: ChartFigure, form: TableForm) -> str | None:
    """The table of a figure: CSV unrounded, LaTeX and Markdown as it is read; None without a table to read."""
    if form is TableForm.CSV:
        return csv_of(figure.numbers)
    shown = figure.shown
    if shown is None:
        return None
    if form is TableForm.MD:
        return frame_markdown(shown)
    return frame_latex(
        shown,
        title=figure.caption.title,
        caption=figure.caption.of_table,
        label=figure.name,
        numeric=[str(name) for name in shown if is_numeric(shown[name])],
    )
