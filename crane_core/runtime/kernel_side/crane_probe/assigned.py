"""In which cell and line of the notebook each name was last given its value, among the cells that ran."""

from __future__ import annotations

from typing import Any


def places(cells: list[dict[str, Any]]) -> dict[str, dict[str, int]]:
    return {}
