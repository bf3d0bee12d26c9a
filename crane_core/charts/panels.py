"""Several charts as one, for a file: on the page each stands by itself and they wrap."""

from __future__ import annotations

from typing import Any

PER_ROW = 3
BETWEEN = 24


def side_by_side(panels: list[dict[str, Any]]) -> dict[str, Any]:
    """The Vega-Lite charts of `panels` in rows of three. What answers to clicks is left out: a file has none."""
    whole = {"$schema", "config", "datasets", "params", "padding"}
    first = panels[0]
    return {name: first[name] for name in ("$schema", "config", "padding") if name in first} | {
        "concat": [{name: part for name, part in panel.items() if name not in whole} for panel in panels],
        "columns": PER_ROW,
        "spacing": BETWEEN,
        "datasets": {name: rows for panel in panels for name, rows in panel.get("datasets", {}).items()},
    }
