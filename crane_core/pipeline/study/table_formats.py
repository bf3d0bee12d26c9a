"""Study tables as text: Markdown, CSV, JSON, LaTeX. Knows how numbers are written; refuses to compute one."""

import json
from collections.abc import Callable, Iterable
from enum import StrEnum
from fractions import Fraction
from typing import Any

import pandas as pd

from crane_core.importers.published_detectors import as_printed
from crane_core.pipeline.frame_formats import frame_latex, frame_markdown
from crane_core.pipeline.sheet_text import csv_text
from crane_core.pipeline.study import table_cells
from crane_core.rounding import digits

HEADER = ("row", "column", "printed", "ours", "delta", "n", "status")
DECIMALS = {"count": 0, "percent": 1, "share": 3, "tokens": 0}


class Format(StrEnum):
    """The forms in which tables and claims are printed."""

    MD = "md"
    CSV = "csv"
    JSON = "json"
    LATEX = "latex"


def render(found: Iterable[table_cells.StudyTable], fmt: Format) -> str:
    """The tables as one text in one format, ending in a line feed."""
    return _WRITERS[fmt](list(found))


def shown(
    value: Fraction | None,
    cell: table_cells.TableCell,
    *,
    more: int = 0,
) -> str:
    """A value in the digits of its printed cell (or of its unit), `more` digits beyond where it is not a count."""
    if value is None:
        return ""
    decimals = (
        table_cells.printed_decimals(cell.printed)
        if cell.printed
        else DECIMALS[cell.unit]
    )
    extra = 0 if cell.unit == "count" else more
    return digits(value, decimals + extra) + (
        "%" if cell.unit == "percent" else ""
    )


def _fields(cell: table_cells.TableCell) -> tuple[str, ...]:
    delta = shown(cell.delta, cell, more=1).removesuffix("%")
    n = "" if cell.n is None else str(cell.n)
    return (
        cell.row,
        cell.column,
        cell.printed or "",
        shown(cell.ours, cell, more=1),
        delta,
        n,
        cell.status,
    )


def _markdown(found: list[table_cells.StudyTable]) -> str:
    return "\n".join(_markdown_table(table) for table in found)


def _markdown_table(table: table_cells.StudyTable) -> str:
    lines = [
        f"## {table.id}: {table.title}",
        "",
        f"Source: {table.source}.",
        "",
    ]
    rows = [_fields(cell) for cell in table.cells]
    return "\n".join(
        [*lines, frame_markdown(pd.DataFrame(rows, columns=list(HEADER)))]
    )


def _csv(found: list[table_cells.StudyTable]) -> str:
    columns = (
        "row",
        "column",
        "printed",
        "ours",
        "delta",
        "n",
        "unit",
        "status",
    )
    rows: list[tuple[object, ...]] = [("table_id", *columns)]
    for table in found:
        for cell in table.cells:
            # Numbers as JSON has them, for programs; the printed text beside them keeps its letters.
            record = _record(cell) | {"printed": cell.printed or ""}
            rows.append((table.id, *(record[name] for name in columns)))
    return csv_text(rows)


def _record(cell: table_cells.TableCell) -> dict[str, Any]:
    """A cell in JSON's numbers; `printed` as the number it states, `printed_text` as its letters."""
    return {
        "row": as_printed(cell.row),
        "column": cell.column,
        "printed": _number(
            table_cells.printed_value(cell.printed) if cell.printed else None,
            cell,
        ),
        "ours": _number(cell.ours, cell),
        "delta": _number(cell.delta, cell),
        "n": cell.n,
        "unit": cell.unit,
        "status": cell.status,
        "printed_text": cell.printed,
    }


def _number(
    value: Fraction | None, cell: table_cells.TableCell
) -> float | int | None:
    if value is None:
        return None
    # A count as 12.0 would be read as measured.
    return int(value) if cell.unit in {"count", "tokens"} else float(value)


def json_text(written: object) -> str:
    """What was written as JSON, ending in a line feed."""
    text = json.dumps(written, indent=2, ensure_ascii=False, allow_nan=False)
    return text + "\n"


def _json(found: list[table_cells.StudyTable]) -> str:
    tables = {
        table.id: {
            "title": table.title,
            "source": table.source,
            "cells": [_record(cell) for cell in table.cells],
        }
        for table in found
    }
    return json_text({"tables": tables})


def _latex(found: list[table_cells.StudyTable]) -> str:
    return "\n".join(_latex_table(table) for table in found)


def _latex_table(table: table_cells.StudyTable) -> str:
    """The layout of the page with our values; a cell that only the publication has is in brackets."""
    rows = dict.fromkeys(cell.row for cell in table.cells)
    columns = dict.fromkeys(cell.column for cell in table.cells)
    wide = pd.DataFrame(
        "",
        index=pd.Index(list(rows), name=""),
        columns=list(columns),
        dtype=object,
    )
    for cell in table.cells:
        text = shown(cell.ours, cell)
        if cell.status is table_cells.CellStatus.PUBLISHED_ONLY:
            text = f"[{cell.printed}]"
        wide.loc[cell.row, cell.column] = text
    return frame_latex(
        wide.reset_index(),
        title=table.title,
        caption=f"{table.title} ({table.source}). Recomputed; in brackets: printed only.",
        label=table.id,
        numeric=list(columns),
    )


_WRITERS: dict[Format, Callable[[list[table_cells.StudyTable]], str]] = {
    Format.MD: _markdown,
    Format.CSV: _csv,
    Format.JSON: _json,
    Format.LATEX: _latex,
}
