"""matplotlib: figures and axes: how many, what is drawn in them, their words.

Knows the attributes in which artists keep each other. Refuses to draw, and to ask for limits, which may be computed.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from ..anatomy import MISSING, instance_dict, is_kind, name_of, stored_on
from ..bounds import Facts, merged

_TEXTS = {
    "title": ("title",),
    "x_label": ("xaxis", "label"),
    "y_label": ("yaxis", "label"),
}


def figure(value: Any, look: Any) -> Facts:
    """A figure: its axes."""
    held = instance_dict(value)
    # Releases of matplotlib keep a figure's axes in a list, or in a stack.
    axes: Any = held.get("_localaxes", None)
    parts = list(list.__iter__(axes)) if is_kind(axes, list) else _stacked(held)
    shown = [
        (str(at), part) for at, part in enumerate(parts[: look.limits.items])
    ]
    plus = look.inside_as("axes", shown)
    return {"plus": merged(plus, {"structure": {"n_axes": len(parts)}})}


def _stacked(held: dict[str, Any]) -> list[Any]:
    stack = instance_dict(held.get("_axstack")).get("_axes")
    return list(dict.keys(stack)) if type(stack) is dict else []


def axes(value: Any, look: Any) -> Facts:
    """Axes: kinds of artists in them, title and labels, and where they stand in a grid."""
    held = instance_dict(value)
    children = held.get("_children")
    # Older releases keep artists in a list per kind.
    kinds = (
        Counter(name_of(type(child)) for child in children)
        if type(children) is list
        else Counter()
    )
    words = {
        name: text
        for name, path in _TEXTS.items()
        if type(text := _text(held, path)) is str and text
    }
    # The nearest class with a name: polar, 3d, rectilinear.
    projection = stored_on(type(value), "name")
    return {
        "plus": {
            "structure": {"n_artists": dict(sorted(kinds.items()))}
            if kinds
            else {},
            "representation": {"projection": look.scalar(projection)}
            if type(projection) is str
            else {},
            "values": {name: look.text(text) for name, text in words.items()},
        }
    }


def _text(held: dict[str, Any], path: tuple[str, ...]) -> Any:
    found: Any = held.get(path[0], MISSING)
    for name in path[1:]:
        found = instance_dict(found).get(name, MISSING)
    return instance_dict(found).get("_text") if found is not MISSING else None


SUMMARIZERS = {
    "FigureBase": figure,
    "Figure": figure,
    "Axes": axes,
    "_AxesBase": axes,
}
