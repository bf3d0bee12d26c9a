"""One place in an annotator's order. Knows nothing of plans and labels."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Showing:
    """An item, shown for the first time (1) or again (2)."""

    item: str
    showing: int
