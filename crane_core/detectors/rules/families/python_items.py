"""Items of Python's own containers: indices, keys, slices, what has no items, what cannot be a key or be changed."""

import operator
from collections.abc import Callable
from typing import Any

from crane_core.detectors.rules.abstract_value import (
    AbstractValue,
    literal,
    number_of,
)
from crane_core.detectors.rules.answer import UNCHANGED, UNKNOWN, Answer
from crane_core.detectors.rules.families import python_values
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation, is_before

RULES = Family("python: items")
_ROWS = ("list", "tuple", "str", "range", "bytes")
_DICTS = (
    "builtins.dict",
    "collections.OrderedDict",
    "collections.defaultdict",
    "collections.Counter",
)


@RULES.item("*")
def item(operation: Operation) -> Answer:
    """x[i] and x[a:b]."""
    held, index = operation.receiver, operation.first
    if not python_values.is_own(held):
        return UNKNOWN
    _refuse_types(operation, operator.getitem, held, index)
    if held.type not in _ROWS:
        return UNKNOWN
    if index.type == "slice":
        return _part(operation, held, index)
    at, items = index.literal, python_values.elements_of(held)
    # True and False are places, too: `rows[True]` is `rows[1]`.
    if not isinstance(at, int):
        return python_values.item_like(held)
    _refuse_beyond(operation, held, at, f"{held.type} index out of range")
    # first_items are the beginning only: a negative index counts from an end that is unknown.
    first = items if items is not None else held.fact("first_items") or ()
    return (
        first[at]
        if -len(first) * (items is not None) <= at < len(first)
        else python_values.item_like(held)
    )


def _refuse_types(
    operation: Operation,
    step: Callable[..., Any],
    held: AbstractValue,
    *others: AbstractValue,
) -> None:
    """What Python refuses whatever the container holds, and whatever the unknown value is."""
    if held.type == "dict" and _may_be_hashed(operation, others[0]):
        return
    python_values.by_types(
        operation,
        step,
        [AbstractValue(held.type, words=python_values.words_of(held)), *others],
        unknown=python_values.ANYTHING,
    )


def _refuse_beyond(
    operation: Operation, row: AbstractValue, at: int, why: str
) -> None:
    length = python_values.length_of(row)
    if length is not None and not -length <= at < length:
        operation.crash(
            "IndexError",
            f"{why}: index {at}, length {length}",
            fact=f"{python_values.words_of(row, 'the ' + row.type)} has {number_of(length, 'element')}",
            remedy=f"Use an index from {-length} to {length - 1}."
            if length
            else "It is empty: add elements first.",
        )


def _part(
    operation: Operation, row: AbstractValue, index: AbstractValue
) -> Answer:
    bounds, items = (
        python_values.known(index.items or ()),
        python_values.elements_of(row),
    )
    if bounds is None or items is None:
        return AbstractValue(row.type)
    try:
        # `rows[::0]` raises ValueError: slice step cannot be zero.
        cut = items[slice(*bounds)]
    except ValueError as error:
        python_values.refuse(operation, error, [index])
    if row.type in ("list", "tuple"):
        return AbstractValue(row.type, items=cut)
    return (
        literal(row.literal[slice(*bounds)])
        if row.is_literal
        else AbstractValue(row.type)
    )


def _item_of_dict(operation: Operation) -> Answer:
    """d[key]: all keys of a dict are known, or nothing is said. Others may give something, and keep it."""
    held, key = operation.receiver, operation.first
    _refuse_unhashable(operation, key)
    if held.members is not None and _is_exact(key):
        if key.literal in held.members:
            return held.members[key.literal]
        # defaultdict and Counter have an answer for a missing key.
        if held.type == "dict":
            python_values.refuse(operation, KeyError(key.literal), [held])
    # Reading a missing key of a defaultdict stores it, so the keys are others now.
    if held.type != "dict":
        held.forget()
    return UNCHANGED


def _is_exact(key: AbstractValue) -> bool:
    # Objects of the notebook may define __eq__ and __hash__, so they may find another key.
    parts = key.literal if isinstance(key.literal, tuple) else [key.literal]
    return all(
        isinstance(part, (str, int, float, bool, bytes, type(None)))
        for part in parts
    )


def _refuse_unhashable(operation: Operation, key: AbstractValue) -> None:
    if not _may_be_hashed(operation, key):
        python_values.by_types(operation, hash, [key])


def _may_be_hashed(operation: Operation, key: AbstractValue) -> bool:
    """Whether it is a slice, which Python 3.12 made hashable: there `rows[1:2] = 5` stores a key in a dict."""
    return key.type == "slice" and not is_before(operation, "python", 3, 12)


@RULES.other("key", "*")
def key_of_display(operation: Operation) -> Answer:
    """A key of a dict that is written down, an element of a set."""
    _refuse_unhashable(operation, operation.receiver)
    return UNKNOWN


# Storing and deleting


@RULES.set_item("*")
def store(operation: Operation) -> Answer:
    """A list with another item; raises Crash for an index beyond the end or of a wrong type."""
    row, index, value = (
        operation.receiver,
        operation.first,
        operation.arguments.positional[-1],
    )
    if not python_values.is_own(row):
        return UNKNOWN
    python_values.forget_views(operation)
    # setitem changes its operand, and all steps share the samples.
    _refuse_types(
        operation,
        lambda held, at: operator.setitem(_copied(held), at, ()),
        row,
        index,
    )
    if row.type != "list":
        return UNKNOWN
    at = index.literal
    if isinstance(at, int):
        _refuse_beyond(operation, row, at, "list assignment index out of range")
    items = row.items
    if isinstance(at, int) and items is not None:
        python_values.changed(
            row,
            [
                value if place == at % len(items) else each
                for place, each in enumerate(items)
            ],
        )
    else:
        row.forget()
    return UNCHANGED


@RULES.other("del_item", "*")
def delete(operation: Operation) -> Answer:
    """Views of a container without the item, and iterators over it, give other elements."""
    python_values.forget_views(operation)
    return UNKNOWN


def _copied(held: Any) -> Any:
    """A container of which a copy is changed in its place."""
    return held.copy() if hasattr(held, "copy") else held


def _store_in_dict(operation: Operation) -> Answer:
    held, key, value = (
        operation.receiver,
        operation.first,
        operation.arguments.positional[-1],
    )
    _refuse_unhashable(operation, key)
    python_values.forget_views(operation)
    members = held.members
    held.forget()
    if members is not None and _is_exact(key):
        held.members = {**members, key.literal: value}
    return UNCHANGED


for _kind in _DICTS:
    RULES.item(_kind)(_item_of_dict)
    RULES.set_item(_kind)(_store_in_dict)
