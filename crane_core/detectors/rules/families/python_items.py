"""Items of Python's own containers: indices, keys, slices, what has no items, what cannot be a key or be changed."""

from __future__ import annotations

from crane_core.detectors.rules.abstract_value import AbstractValue, literal
from crane_core.detectors.rules.answer import UNCHANGED, UNKNOWN, Answer
from crane_core.detectors.rules.families.python_values import (
    NO_ITEMS,
    SAMPLES,
    UNHASHABLE,
    changed,
    elements_of,
    item_like,
    known,
    length_of,
    words_of,
)
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation

RULES = Family("python: items")
_ROWS = ("builtins.list", "builtins.tuple", "builtins.str", "builtins.range", "builtins.bytes")
_NO_INDEX = ("str", "float", "NoneType", "list", "dict", "set", "tuple", "complex", "bytes")


def item_of_row(operation: Operation) -> Answer:
    """x[i] and x[a:b] of a list, tuple, text or range."""
    row, index = operation.receiver, operation.first
    if index.type == "slice":
        return _part(operation, row, index)
    if index.type in _NO_INDEX:
        operation.crash(
            "TypeError",
            f"{row.type} indices must be integers or slices, not {index.type}",
            fact=f"{words_of(row, 'it')} is a {row.type}, the index is {words_of(index, 'a ' + index.type)}",
            remedy="Use an integer, or a dict or frame for names.",
        )
    at, length = index.literal, length_of(row)
    if not isinstance(at, int):
        return item_like(row)
    if length is not None and not -length <= at < length:
        operation.crash(
            "IndexError",
            f"{row.type} index out of range: index {at}, length {length}",
            fact=f"{words_of(row, 'the ' + row.type)} has {length} elements",
            remedy=f"Use an index from {-length} to {length - 1}." if length else "It is empty: add elements first.",
        )
    return _at(row, at)


def _at(row: AbstractValue, at: int) -> AbstractValue:
    items = elements_of(row)
    if items is not None and -len(items) <= at < len(items):
        return items[at]
    known = row.fact("first_items") or []
    return known[at] if 0 <= at < len(known) else item_like(row)


def _part(operation: Operation, row: AbstractValue, index: AbstractValue) -> AbstractValue:
    parts = index.items or []
    for part in parts:
        if part.type in ("float", "str", "list", "tuple", "dict"):
            operation.crash(
                "TypeError",
                f"slice indices must be integers or None or have an __index__ method, not {part.type}",
                fact=f"the slice has {words_of(part)}",
                remedy="Use // instead of /, or int(...)." if part.type == "float" else "Use an integer.",
            )
    values, items = known(parts), elements_of(row)
    if values is None or items is None:
        return AbstractValue(row.type)
    if len(values) == 3 and values[2] == 0:
        operation.crash("ValueError", "slice step cannot be zero", fact="the step is 0", remedy="Use another step.")
    cut = items[slice(*values)]
    if row.type in ("list", "tuple"):
        return AbstractValue(row.type, items=cut)
    return literal(row.literal[slice(*values)]) if row.is_literal else AbstractValue(row.type)


for _kind in _ROWS:
    RULES.item(_kind)(item_of_row)


@RULES.item("builtins.dict")
def item_of_dict(operation: Operation) -> Answer:
    """d[key]: all keys of an exact dict are known, or nothing is said."""
    held, key = operation.receiver, operation.first
    _say_unhashable(operation, key)
    if held.members is None or not _is_exact(key):
        return UNCHANGED
    if key.literal in held.members:
        return held.members[key.literal]
    _say_missing(operation, held, key)
    return UNKNOWN


@RULES.item("collections.OrderedDict")
@RULES.item("collections.defaultdict")
@RULES.item("collections.Counter")
def item_of_derived_dict(operation: Operation) -> Answer:
    """d[key] of a dict that may give something for a missing key, and keep it."""
    held, key = operation.receiver, operation.first
    _say_unhashable(operation, key)
    if held.members is not None and _is_exact(key) and key.literal in held.members:
        return held.members[key.literal]
    held.forget()
    return UNCHANGED


def _is_exact(key: AbstractValue) -> bool:
    value = key.literal
    if isinstance(value, tuple):
        return all(isinstance(part, (str, int, float, bool, type(None))) for part in value)
    return key.is_literal and isinstance(value, (str, int, float, bool, bytes, type(None)))


def _say_missing(operation: Operation, held: AbstractValue, key: AbstractValue) -> None:
    keys = list(held.members or {})
    shown = ", ".join(map(repr, keys[:8])) + (", ..." if len(keys) > 8 else "")
    operation.crash(
        "KeyError",
        f"{words_of(held, 'the dict')} has no key {key.literal!r}",
        fact=f"its keys are {shown}" if keys else "it is empty",
        remedy="Use an existing key, or .get().",
    )


def _say_unhashable(operation: Operation, key: AbstractValue) -> None:
    if key.type in UNHASHABLE or key.type == "slice":
        operation.crash(
            "TypeError",
            f"unhashable type: {key.type}",
            fact=f"the key is {words_of(key, 'a ' + key.type)}",
            remedy="Use a tuple, a string or a number as key.",
        )


@RULES.other("key", "*")
def key_of_display(operation: Operation) -> Answer:
    """A key of a dict that is written down, an element of a set."""
    _say_unhashable(operation, operation.receiver)
    return UNKNOWN


@RULES.item("*")
def item_of_nothing(operation: Operation) -> Answer:
    """x[...] of what has no items at all."""
    value = operation.receiver
    if value.type in NO_ITEMS and value.package == "builtins" and not value.path.startswith("numpy."):
        operation.crash(
            "TypeError",
            f"'{value.type}' object is not subscriptable",
            fact=f"{words_of(value)} is {_a(value)}",
            remedy="Call it with parentheses." if "function" in value.type else "Use another object here.",
        )
    if value.type in ("set", "frozenset"):
        operation.crash(
            "TypeError",
            f"'{value.type}' object is not subscriptable",
            fact=f"{words_of(value)} is a {value.type}",
            remedy="Convert it to a list first.",
        )
    return UNKNOWN


def _a(value: AbstractValue) -> str:
    return "None" if value.type == "NoneType" else f"of type {value.type}"


@RULES.item("builtins.dict_keys")
@RULES.item("builtins.dict_values")
@RULES.item("builtins.dict_items")
@RULES.item("builtins.zip")
@RULES.item("builtins.map")
@RULES.item("builtins.filter")
@RULES.item("builtins.enumerate")
@RULES.item("builtins.generator")
def item_of_view(operation: Operation) -> Answer:
    value = operation.receiver
    operation.crash(
        "TypeError",
        f"'{value.type}' object is not subscriptable",
        fact=f"{words_of(value)} is a {value.type}",
        remedy="Convert it to a list first: list(...).",
    )


# Storing and deleting


@RULES.set_item("*")
def store_where_nothing_can_be(operation: Operation) -> Answer:
    value = operation.receiver
    fixed = (*NO_ITEMS, "str", "tuple", "range", "bytes", "set", "frozenset")
    if value.type in fixed and value.package == "builtins" and not value.path:
        operation.crash(
            "TypeError",
            f"'{value.type}' object does not support item assignment",
            fact=f"{words_of(value)} is {_a(value)}",
            remedy="Create a new object instead, or convert it to a list.",
        )
    return UNKNOWN


@RULES.set_item("builtins.list")
def store_in_list(operation: Operation) -> Answer:
    row, index = operation.receiver, operation.first
    if index.type in _NO_INDEX:
        operation.crash(
            "TypeError",
            f"list indices must be integers or slices, not {index.type}",
            fact=f"{words_of(row)} is a list",
            remedy="Use an integer, or a dict.",
        )
    length, at = length_of(row), index.literal
    if isinstance(at, int) and length is not None:
        if not -length <= at < length:
            operation.crash(
                "IndexError",
                f"list assignment index out of range: index {at}, length {length}",
                fact=f"{words_of(row, 'the list')} has {length} elements",
                remedy="Use append, or an index below its length.",
            )
        if row.items is not None:
            items = list(row.items)
            items[at] = operation.arguments.positional[1]
            changed(row, items)
            return UNCHANGED
    changed(row, None, None if index.type == "slice" or not index.type else length)
    return UNCHANGED


@RULES.set_item("builtins.dict")
@RULES.set_item("collections.OrderedDict")
@RULES.set_item("collections.defaultdict")
@RULES.set_item("collections.Counter")
def store_in_dict(operation: Operation) -> Answer:
    held, key, value = operation.receiver, operation.first, operation.arguments.positional[1]
    _say_unhashable(operation, key)
    members = held.members
    held.forget()
    if members is not None and _is_exact(key):
        held.members = {**members, key.literal: value}
    return UNCHANGED


@RULES.other("del_item", "builtins.dict")
def delete_from_dict(operation: Operation) -> Answer:
    held, key = operation.receiver, operation.first
    _say_unhashable(operation, key)
    members = held.members
    if members is None or not _is_exact(key):
        held.forget()
        return UNCHANGED
    if key.literal not in members:
        _say_missing(operation, held, key)
    held.forget()
    held.members = {name: value for name, value in members.items() if name != key.literal}
    return UNCHANGED


@RULES.other("del_item", "builtins.list")
def delete_from_list(operation: Operation) -> Answer:
    row = operation.receiver
    item_of_row(operation)
    items, at = row.items or [], operation.first.literal
    kept = [value for number, value in enumerate(items) if isinstance(at, int) and number != at % len(items)]
    changed(row, kept if items and isinstance(at, int) else None)
    return UNCHANGED


@RULES.other("del_item", "builtins.tuple")
@RULES.other("del_item", "builtins.str")
def delete_from_fixed(operation: Operation) -> Answer:
    value = operation.receiver
    operation.crash(
        "TypeError",
        f"'{value.type}' object doesn't support item deletion",
        fact=f"{words_of(value)} is a {value.type}",
        remedy="Convert it to a list first.",
    )


assert set(NO_ITEMS) - {"method"} <= set(SAMPLES)
