"""Iterating: all elements, or the first; several names given their values at once.

Knows that an iterator gives its elements once.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.interpreter import Elements, Interpreter, iteration

Assign = Callable[[Interpreter, ast.expr, AbstractValue], None]


MOST_COUNTED = 50
_SIZED = {
    "builtins": ("list", "tuple", "dict", "set", "frozenset", "str", "range", "dict_keys", "dict_values", "dict_items"),
    "pandas": ("Series", "Index", "RangeIndex"),
}
_SHAPED = {"numpy": ("ndarray",), "torch": ("Tensor", "Parameter")}
ITERATORS = ("zip", "enumerate", "map", "filter", "reversed", "generator", "list_iterator")


def _asked(
    interpreter: Interpreter, value: AbstractValue, node: ast.AST
) -> tuple[list[AbstractValue] | None, AbstractValue | None]:
    """What the rules know of its elements, or the value itself: all, and the first."""
    first = interpreter.ask("element", value, "", node, receiver=value)
    known = interpreter.ask("elements", value, "", node, receiver=value)
    return (known.items if known is not None else value.items), first


@iteration("")
def _elements(interpreter: Interpreter, value: AbstractValue, node: ast.AST) -> Elements:
    items, first = _asked(interpreter, value, node)
    every = list(items) if items is not None else _counted(interpreter, value, first, node)
    return Elements(every, every[0] if every else first)


@iteration("dict")
def _keys(interpreter: Interpreter, value: AbstractValue, node: ast.AST) -> Elements:
    items, first = _asked(interpreter, value, node)
    if items is None and value.members is not None:
        items = [AbstractValue(type(key).__name__, literal=key) for key in value.members]
    every = list(items) if items is not None else _counted(interpreter, value, first, node)
    return Elements(every, every[0] if every else first)


@iteration(*ITERATORS)
def _of_iterator(interpreter: Interpreter, value: AbstractValue, node: ast.AST) -> Elements:
    """An iterator is at its end afterwards."""
    items, first = _asked(interpreter, value, node)
    every = list(items) if items is not None else None
    value.forget()
    value.facts["length"] = 0 if every is not None else None
    return Elements(every, every[0] if every else first)


def _counted(
    interpreter: Interpreter, value: AbstractValue, first: AbstractValue | None, node: ast.AST
) -> list[AbstractValue] | None:
    """Elements of which only their number is known, and perhaps the first ones."""
    length = length_of(interpreter, value, node)
    if length is None or length > MOST_COUNTED:
        return None
    known = list(value.fact("first_items") or ()) or ([first] if first is not None else [])
    return [*known[:length], *(AbstractValue() for _ in range(length - len(known)))]


def unpack(interpreter: Interpreter, target: ast.Tuple | ast.List, abstract: AbstractValue, assign: Assign) -> None:
    """Give each part of the target its value. Raises Crash where there are certainly too many or too few."""
    elements = interpreter.iterate(abstract, target)
    starred = next((at for at, part in enumerate(target.elts) if isinstance(part, ast.Starred)), None)
    length = len(elements.every) if elements.every is not None else length_of(interpreter, abstract, target)
    n_least = len(target.elts) - (starred is not None)
    if length is not None and (length < n_least or starred is None and length != n_least):
        _say(interpreter, target, abstract, length, n_least)
    for part, value in zip(target.elts, _values(elements.every, len(target.elts), starred), strict=True):
        assign(interpreter, part, value)


def length_of(interpreter: Interpreter, value: AbstractValue, node: ast.AST) -> int | None:
    """How many values iterating gives."""
    if value.members is not None:
        return len(value.members)
    if value.type in ("str", "bytes") and value.is_literal:
        return len(value.literal)
    known = interpreter.ask("length", value, "", node, receiver=value)
    if known is not None and isinstance(known.literal, int):
        return known.literal
    return _stated_length(value)


def _stated_length(value: AbstractValue) -> int | None:
    """The number of elements by the facts of a container or array."""
    length, shape = value.fact("length"), value.fact("shape")
    if value.class_name in _SIZED.get(value.package, ()):
        return length if isinstance(length, int) else None
    is_shaped = value.class_name in _SHAPED.get(value.package, ()) and isinstance(shape, tuple) and shape
    return shape[0] if is_shaped and isinstance(shape[0], int) else None


def _values(items: list[AbstractValue] | None, n_parts: int, starred: int | None) -> Iterable[AbstractValue]:
    if items is None:
        return [AbstractValue("list") if at == starred else AbstractValue() for at in range(n_parts)]
    if starred is None:
        return items
    n_after = n_parts - starred - 1
    end = len(items) - n_after
    return [*items[:starred], AbstractValue("list", items=items[starred:end]), *items[end:]]


def _say(interpreter: Interpreter, target: ast.AST, value: AbstractValue, length: int, expected: int) -> None:
    is_more = length > expected
    interpreter.crash(
        target,
        "ValueError",
        f"{'too many' if is_more else 'not enough'} values to unpack: {expected} names, {length} values",
        fact=f"{value.named('the value')} has {length} elements",
        remedy=f"Use {length} names, or select {expected} of its elements.",
    )
