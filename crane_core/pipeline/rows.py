"""Frames as rows of plain members, for code that writes sentences or HTML from them."""

from __future__ import annotations

from typing import Any

import pandas as pd


def as_rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """One dictionary per row, in order; what is missing is None."""
    columns = [plain_members(frame[name]) for name in frame]
    names = [str(name) for name in frame]
    return [
        dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)
    ]


def plain_members(column: pd.Series[Any]) -> list[Any]:
    """The members of one column, in order; what is missing is None."""
    return [
        None if missing else value
        for value, missing in zip(column.tolist(), column.isna(), strict=True)
    ]
