"""Which text of a cell is shown where several releases brought one: the notebook's own first."""

from __future__ import annotations

from collections.abc import Iterable

ORIGIN_ORDER = ("notebook", "crane-llm-2025-10", "crane-llm-2026")


def best_origin(origins: Iterable[str]) -> str:
    """The preferred origin among these, of which there is at least one."""
    present = list(origins)
    return next((name for name in ORIGIN_ORDER if name in present), present[0])
