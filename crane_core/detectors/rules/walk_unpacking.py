"""Several names given their values at once: how many there must be, and which gets what."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from crane_core.detectors.rules.thing import Thing
from crane_core.detectors.rules.walk import Walk

Assign = Callable[[Walk, ast.expr, Thing], None]


def unpack(walk: Walk, target: ast.Tuple | ast.List, thing: Thing, assign: Assign) -> None:
    """Give each part of the target its value. Raises Crash where there are certainly too many or too few."""
    walk.ask("element", thing, "", target, receiver=thing)
    starred = next((at for at, part in enumerate(target.elts) if isinstance(part, ast.Starred)), None)
    length = length_of(walk, thing, target)
    n_least = len(target.elts) - (starred is not None)
    if length is not None and (length < n_least or starred is None and length != n_least):
        _say(walk, target, thing, length, n_least)
    for part, value in zip(target.elts, _values(thing, len(target.elts), starred), strict=True):
        assign(walk, part, value)


def length_of(walk: Walk, thing: Thing, node: ast.AST) -> int | None:
    """How many values iterating gives."""
    if thing.items is not None:
        return len(thing.items)
    if thing.members is not None:
        return len(thing.members)
    if thing.type in ("str", "bytes") and thing.is_literal:
        return len(thing.literal)
    told = walk.ask("length", thing, "", node, receiver=thing)
    if told is not None and isinstance(told.literal, int):
        return told.literal
    length = thing.fact("length")
    return length if thing.type in ("list", "tuple", "dict", "set", "str") and isinstance(length, int) else None


def _values(thing: Thing, n_parts: int, starred: int | None) -> Iterable[Thing]:
    if thing.items is None:
        return [Thing("list") if at == starred else Thing() for at in range(n_parts)]
    if starred is None:
        return thing.items
    n_after = n_parts - starred - 1
    end = len(thing.items) - n_after
    return [*thing.items[:starred], Thing("list", items=thing.items[starred:end]), *thing.items[end:]]


def _say(walk: Walk, target: ast.AST, thing: Thing, length: int, expected: int) -> None:
    is_more = length > expected
    walk.crash(
        target,
        "ValueError",
        f"{'too many' if is_more else 'not enough'} values to unpack: {expected} names, {length} values",
        fact=f"{thing.words or 'the value'} has {length} elements",
        remedy=f"Give it {length} names, or take {expected} of its elements.",
    )
