"""Which text of a cell is shown if several releases have one: the notebook's own first."""

from __future__ import annotations

from collections.abc import Iterable

from crane_core.pipeline.loading.editions import rank

ORIGIN_ORDER = ("notebook", "crane-llm-2025-10", "crane-llm-2026")


def best_origin(origins: Iterable[str]) -> str:
    """The preferred origin among these, of which there is at least one."""
    return min(origins, key=lambda origin: rank(origin, ORIGIN_ORDER))
