"""A table whose rows open: a click on any cell returns its row, a click on a header sorts.

The grid selects its very first cell when it gets the focus, by a click on a header too. That first cell is therefore
the row's place in the list, and the one place that opens nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

ROW_HEIGHT = 32
PLACE = "#"
PLACE_WIDTH = 44


def clicked_row(
    shown: pd.DataFrame,
    *,
    key: str,
    most_height: int,
    column_config: Mapping[str, Any] | None = None,
) -> int | None:
    """Draw the table; the place (from 0) of the row that was clicked, None before a click."""
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
    return next((row for row, column in event.selection.cells if column != PLACE), None)
