"""Frames as rows of plain members, for those who write sentences or HTML from them."""

from __future__ import annotations

from typing import Any

import pandas as pd


def as_rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """One dictionary per row, in order; what is missing is None."""
    plain = frame.astype(object).where(frame.notna(), None)
    return [{str(name): value for name, value in row.items()} for row in plain.to_dict("records")]
