"""A table as a grid: numbers stand to the right whatever their unit, and the first column of a wide one stays.

Knows finished tables, most of whose numbers are words by then ("65.3%", "1.3 to 13.0 pp"). Refuses to know their
pages.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from crane_core.ui.words import NOTHING

WIDE = 9
"""Columns from which on most windows cut the grid, so that the first column is held; Streamlit greys it."""
_NUMBER = re.compile(
    r"""(?:[<>]\ ?|[+−-])?\d[\d.,]*(?:\ ?(?:%|pp|[kM]B|s|h|USD|tokens))?  # 65.3%, +7.2 pp
        (?:\ (?:to|of|/)\ (?:>\ )?−?\d[\d.,]*(?:\ ?(?:%|pp))?)?  # to 13.0 pp
        (?:\ \([^)]*\))?                                         # (94.1 to 98.7%)
    """,
    re.VERBOSE,
)


def grid(
    table: pd.DataFrame,
    *,
    column_config: Mapping[str, Any] | None = None,
    **looks: Any,
) -> None:
    """Draw the table; `column_config` as `st.dataframe` takes it is added to what follows from the cells."""
    given: dict[str, Any] = dict(column_config or {})
    first = next(iter(table), None)
    columns = {
        str(name): st.column_config.Column(
            alignment="right" if is_numeric(table[name]) else None,
            pinned=True
            if name == first and len(table.columns) >= WIDE
            else None,
        )
        | {
            name: value
            for name, value in given.pop(str(name), {}).items()
            if value is not None
        }
        for name in table.columns
    }
    st.dataframe(table, hide_index=True, column_config=columns | given, **looks)


def is_numeric(column: pd.Series[Any]) -> bool:
    """Whether every cell that holds something is a number, alone or with its unit or interval."""
    if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(
        column
    ):
        return True
    cells = [
        str(cell) for cell in column.dropna() if str(cell) not in ("", NOTHING)
    ]
    return bool(cells) and all(_NUMBER.fullmatch(cell) for cell in cells)


ROW_HEIGHT = 32
PLACE = "#"
# The grid selects its very first cell when it gets the focus, by a click on a header too. That first cell is therefore
# the row's place in the list, and the one place that opens nothing.
PLACE_WIDTH = 44


def clicked_row(
    shown: pd.DataFrame,
    *,
    key: str,
    most_height: int,
    column_config: Mapping[str, Any] | None = None,
) -> int | None:
    """Draw a table whose rows open; the place (from 0) of the row that was clicked."""
    places = pd.Series(range(1, len(shown) + 1), shown.index, name=PLACE)
    place_column = st.column_config.NumberColumn(
        width=PLACE_WIDTH, pinned=True, help="Place in this list."
    )
    event = st.dataframe(
        pd.concat([places, shown], axis=1),
        hide_index=True,
        row_height=ROW_HEIGHT,
        height=min(ROW_HEIGHT * (len(shown) + 1) + 2, most_height),
        on_select="rerun",
        selection_mode="single-cell",
        key=key,
        column_config={PLACE: place_column} | dict(column_config or {}),
    )
    return next(
        (row for row, column in event.selection.cells if column != PLACE), None
    )
