"""Words that evidence of several libraries uses."""

from __future__ import annotations

from collections.abc import Sequence


def enumerated(names: Sequence[str], most: int) -> str:
    """The first names, and how many more there are: "a, b and 3 more"."""
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
