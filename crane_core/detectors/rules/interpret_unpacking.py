"""Iterating: all elements, or the first; several names given their values at once.

Knows that an iterator yields its elements once.
"""

import ast
from collections.abc import Callable, Iterable, Sequence

from crane_core.detectors.rules import harmless
from crane_core.detectors.rules.abstract_value import AbstractValue, number_of
from crane_core.detectors.rules.interpreter import (
    Elements,
    Interpreter,
    iteration,
)

Assign = Callable[[Interpreter, ast.expr, AbstractValue], None]
_MOST_COUNTED = 50
ITERATORS = (
    "zip",
    "enumerate",
    "map",
    "filter",
    "reversed",
    "generator",
    "list_iterator",
)


def _asked(
    interpreter: Interpreter, value: AbstractValue, node: ast.AST
) -> tuple[list[AbstractValue] | None, AbstractValue | None]:
    """What the rules know of its elements, or the value itself: all, and the first."""
    first = interpreter.ask("element", value, "", node)
    known = interpreter.ask("elements", value, "", node)
    return (known.items if known is not None else value.items), first


@iteration("")
def _elements(
    interpreter: Interpreter, value: AbstractValue, node: ast.AST
) -> Elements:
    items, first = _asked(interpreter, value, node)
    return _known(_counted(value) if items is None else items, first)


@iteration("dict")
def _keys(
    interpreter: Interpreter, value: AbstractValue, node: ast.AST
) -> Elements:
    items, first = _asked(interpreter, value, node)
    if items is None and value.members is not None:
        items = [
            AbstractValue(type(key).__name__, literal=key)
            for key in value.members
        ]
    return _known(items, first)


@iteration(*ITERATORS)
def _of_iterator(
    interpreter: Interpreter, value: AbstractValue, node: ast.AST
) -> Elements:
    """An iterator is at its end afterwards."""
    items, first = _asked(interpreter, value, node)
    # `z = zip(a, b); list(z); list(z)`: the second list is empty.
    value.forget()
    value.facts["length"] = 0 if items is not None else None
    return _known(items, first)


def _known(
    items: Sequence[AbstractValue] | None, first: AbstractValue | None
) -> Elements:
    return Elements(
        list(items) if items is not None else None, items[0] if items else first
    )


def _counted(value: AbstractValue) -> list[AbstractValue] | None:
    """Elements of a row of which the first ones and the number are known; the others may hold whatever it holds."""
    shown, length = value.fact("first_items"), value.fact("length")
    if not shown or type(length) is not int or length > _MOST_COUNTED:
        return None
    # What is not shown may be any object that the row holds, so a change of it changes the row.
    rest = [AbstractValue() for _ in range(length - len(shown))]
    for part in rest:
        harmless.link(part, [value])
    return [*shown[:length], *rest]


def unpack(
    interpreter: Interpreter,
    target: ast.Tuple | ast.List,
    abstract: AbstractValue,
    assign: Assign,
) -> None:
    """Give each part of the target its value. Raises Crash where there are certainly too many or too few."""
    elements = interpreter.iterate(abstract, target)
    starred = next(
        (
            at
            for at, part in enumerate(target.elts)
            if isinstance(part, ast.Starred)
        ),
        None,
    )
    length = (
        len(elements.every)
        if elements.every is not None
        else length_of(interpreter, abstract, target)
    )
    # `first, *rest = [1]` runs: the starred name may get no value.
    n_least = len(target.elts) - (starred is not None)
    if length is not None and (
        length < n_least or starred is None and length != n_least
    ):
        _say(interpreter, target, abstract, length, n_least)
    for part, value in zip(
        target.elts,
        _values(abstract, elements.every, len(target.elts), starred),
        strict=True,
    ):
        assign(interpreter, part, value)


def length_of(
    interpreter: Interpreter, value: AbstractValue, node: ast.AST
) -> int | None:
    """The number of elements."""
    if value.members is not None:
        return len(value.members)
    if value.type in ("str", "bytes") and value.is_literal:
        return len(value.literal)
    known = interpreter.ask("length", value, "", node)
    if known is not None and isinstance(known.literal, int):
        return known.literal
    return None


def _values(
    whole: AbstractValue,
    items: list[AbstractValue] | None,
    n_parts: int,
    starred: int | None,
) -> Iterable[AbstractValue]:
    if items is None:
        parts = [
            # A starred name gets a list, whatever is unpacked.
            AbstractValue("list" if at == starred else "")
            for at in range(n_parts)
        ]
        for part in parts:
            # `first, *made = [0, *some(), rows]; made[-1].append(3)` changes
            # rows.
            harmless.link(part, [whole])
        return parts
    if starred is None:
        return items
    n_after = n_parts - starred - 1
    end = len(items) - n_after
    return [
        *items[:starred],
        AbstractValue("list", items=items[starred:end]),
        *items[end:],
    ]


def _say(
    interpreter: Interpreter,
    target: ast.AST,
    value: AbstractValue,
    length: int,
    expected: int,
) -> None:
    is_more = length > expected
    interpreter.crash(
        target,
        "ValueError",
        f"{'too many' if is_more else 'not enough'} values to unpack: {expected} names, {length} values",
        fact=f"{value.named('the value')} has {number_of(length, 'element')}",
        remedy=f"Use {number_of(length, 'name')}, or select {expected} of its elements.",
    )
