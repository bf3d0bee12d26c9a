"""Iterating: all elements, or the first; several names given their values at once.

Knows that an iterator gives its elements once.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import NamedTuple

from crane_core.detectors.rules.thing import Thing
from crane_core.detectors.rules.walk import Walk

Assign = Callable[[Walk, ast.expr, Thing], None]


MOST_COUNTED = 50
_SIZED = {
    "builtins": ("list", "tuple", "dict", "set", "frozenset", "str", "range", "dict_keys", "dict_values", "dict_items"),
    "pandas": ("Series", "Index", "RangeIndex"),
}
_SHAPED = {"numpy": ("ndarray",), "torch": ("Tensor", "Parameter")}
ITERATORS = frozenset(["zip", "enumerate", "map", "filter", "reversed", "generator", "list_iterator"])


class Elements(NamedTuple):
    """What iterating gives: all elements where they are known, and the first where there certainly is one."""

    every: list[Thing] | None
    first: Thing | None


def iterate(walk: Walk, thing: Thing, node: ast.AST) -> Elements:
    """What iterating over a thing gives. Raises Crash where it cannot be iterated."""
    first = walk.ask("element", thing, "", node, receiver=thing)
    told = walk.ask("elements", thing, "", node, receiver=thing)
    items = told.items if told is not None else thing.items
    if items is None and thing.members is not None and thing.type == "dict":
        items = [Thing(type(key).__name__, literal=key) for key in thing.members]
    every = list(items) if items is not None else _counted(walk, thing, first, node)
    if thing.type in ITERATORS:
        thing.forget()
        thing.facts["length"] = 0 if every is not None else None
    return Elements(every, every[0] if every else first)


def _counted(walk: Walk, thing: Thing, first: Thing | None, node: ast.AST) -> list[Thing] | None:
    """Elements of which only their number is known, and perhaps the first ones."""
    length = length_of(walk, thing, node)
    if length is None or length > MOST_COUNTED or thing.type in ITERATORS:
        return None
    told = list(thing.fact("first_items") or ()) or ([first] if first is not None else [])
    return [*told[:length], *(Thing() for _ in range(length - len(told)))]


def unpack(walk: Walk, target: ast.Tuple | ast.List, thing: Thing, assign: Assign) -> None:
    """Give each part of the target its value. Raises Crash where there are certainly too many or too few."""
    elements = iterate(walk, thing, target)
    starred = next((at for at, part in enumerate(target.elts) if isinstance(part, ast.Starred)), None)
    length = len(elements.every) if elements.every is not None else length_of(walk, thing, target)
    n_least = len(target.elts) - (starred is not None)
    if length is not None and (length < n_least or starred is None and length != n_least):
        _say(walk, target, thing, length, n_least)
    for part, value in zip(target.elts, _values(elements.every, len(target.elts), starred), strict=True):
        assign(walk, part, value)


def length_of(walk: Walk, thing: Thing, node: ast.AST) -> int | None:
    """How many values iterating gives."""
    if thing.members is not None:
        return len(thing.members)
    if thing.type in ("str", "bytes") and thing.is_literal:
        return len(thing.literal)
    told = walk.ask("length", thing, "", node, receiver=thing)
    if told is not None and isinstance(told.literal, int):
        return told.literal
    length, shape = thing.fact("length"), thing.fact("shape")
    if thing.class_name in _SIZED.get(thing.package, ()):
        return length if isinstance(length, int) else None
    is_shaped = thing.class_name in _SHAPED.get(thing.package, ()) and isinstance(shape, tuple) and shape
    return shape[0] if is_shaped and isinstance(shape[0], int) else None


def _values(items: list[Thing] | None, n_parts: int, starred: int | None) -> Iterable[Thing]:
    if items is None:
        return [Thing("list") if at == starred else Thing() for at in range(n_parts)]
    if starred is None:
        return items
    n_after = n_parts - starred - 1
    end = len(items) - n_after
    return [*items[:starred], Thing("list", items=items[starred:end]), *items[end:]]


def _say(walk: Walk, target: ast.AST, thing: Thing, length: int, expected: int) -> None:
    is_more = length > expected
    walk.crash(
        target,
        "ValueError",
        f"{'too many' if is_more else 'not enough'} values to unpack: {expected} names, {length} values",
        fact=f"{thing.words or 'the value'} has {length} elements",
        remedy=f"Use {length} names, or select {expected} of its elements.",
    )
