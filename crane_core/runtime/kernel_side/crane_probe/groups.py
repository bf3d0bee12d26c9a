"""Putting facts together: dicts within dicts, where nothing empty remains."""

from __future__ import annotations

from typing import Any


def merged(left: dict[str, Any], right: dict[str, Any]) -> dict[str, Any]:
    """Both; dicts under the same key are put together, other values of `right` take the place of those of `left`."""
    both = dict(left)
    for key, part in right.items():
        is_both = type(part) is dict and type(both.get(key)) is dict
        both[key] = merged(both[key], part) if is_both else part
    # An empty group in a prompt would say that there is something.
    return {key: part for key, part in both.items() if part != {}}
