"""Python's own values as rules see them: what is known exactly, what a type alone tells, and how containers change.

Pure. Evaluates the real operation where operands are known exactly and small, so nothing about Python is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from types import NoneType
from typing import Any, Final

from crane_core.detectors.rules.abstract_value import NOT_KNOWN, AbstractValue, literal
from crane_core.detectors.rules.answer import UNKNOWN, Answer
from crane_core.detectors.rules.operation import Operation

SCALARS: Final = ("int", "float", "bool", "str", "NoneType", "complex", "bytes")
CONTAINERS: Final = ("list", "tuple", "dict", "set", "frozenset")
UNHASHABLE: Final = ("list", "dict", "set", "bytearray")
NO_ITEMS: Final = ("int", "float", "bool", "NoneType", "complex", "function", "builtin_function_or_method", "method")
FLOWING: Final = ("zip", "enumerate", "map", "filter", "reversed", "generator")
SAMPLES: Final[dict[str, Any]] = {
    "int": 1,
    "float": 1.5,
    "bool": True,
    "str": "a",
    "NoneType": None,
    "complex": 1j,
    "bytes": b"a",
    "list": [],
    "tuple": (),
    "dict": {},
    "set": set(),
    "frozenset": frozenset(),
    "range": range(1),
    "slice": slice(1),
    "function": lambda: None,
    "builtin_function_or_method": len,
    "dict_keys": {}.keys(),
    "dict_values": {}.values(),
    "dict_items": {}.items(),
    "zip": zip(),
    "enumerate": enumerate(()),
}
"""A value of each type: an operation that the type alone forbids is forbidden for it too."""

LONG_NUMBER: Final = re.compile(r"\d{4}")
"""In a format: a width that makes a text long."""
_LARGEST_INT = 10**12
_LONGEST = 2_000


def words_of(value: AbstractValue, otherwise: str = "the value") -> str:
    """How evidence names a value."""
    if value.words:
        return value.words
    if value.is_literal:
        text = repr(value.literal)
        return text if len(text) <= 60 else text[:59] + "\u2026"
    return otherwise


def is_small(value: Any) -> bool:
    """Whether computing with a value costs nothing to speak of."""
    if isinstance(value, (bool, float, complex, NoneType)):
        return True
    if isinstance(value, int):
        return abs(value) <= _LARGEST_INT
    if isinstance(value, (str, bytes)):
        return len(value) <= _LONGEST
    if isinstance(value, dict):
        return len(value) <= _LONGEST and all(is_small(part) for pair in value.items() for part in pair)
    return len(value) <= _LONGEST and all(is_small(part) for part in value)


def known(abstract_values: Iterable[AbstractValue]) -> list[Any] | None:
    """The Python values where each is known exactly and small, else None."""
    values = [abstract.literal for abstract in abstract_values]
    return values if all(value is not NOT_KNOWN and is_small(value) for value in values) else None


def evaluated(operation: Operation, what: str, compute: Callable[[], Any], fact: str, remedy: str) -> AbstractValue:
    """The value of a computation on exact values; what it raises is what the target raises."""
    try:
        value = compute()
    except (TypeError, ValueError, ArithmeticError, LookupError, AttributeError) as error:
        operation.crash(type(error).__name__, f"{what}: {error}", fact=fact, remedy=remedy)
    return made(value)


def made(value: Any) -> AbstractValue:
    """The AbstractValue of a computed value; a sequence that is not a list or tuple by its type alone."""
    if type(value).__name__ in (*SCALARS, *CONTAINERS) and is_small(value):
        return literal(value)
    if isinstance(value, range):
        return range_thing(value)
    return AbstractValue(type(value).__name__)


def range_thing(value: range) -> AbstractValue:
    items = [literal(number) for number in value] if len(value) <= 200 else None
    facts = {"length": len(value), "start": value.start, "stop": value.stop, "step": value.step}
    return AbstractValue("range", facts, items=items, words=repr(value))


def length_of(value: AbstractValue) -> int | None:
    """The length of one of Python's own containers or texts, None if it is not known."""
    if value.items is not None:
        return len(value.items)
    if value.members is not None:
        return len(value.members)
    if value.is_literal and isinstance(value.literal, (str, bytes, set, frozenset)):
        return len(value.literal)
    length = value.fact("length")
    return length if isinstance(length, int) else None


def elements_of(value: AbstractValue) -> list[AbstractValue] | None:
    """What iterating over one of Python's own values gives, where all is known."""
    if value.items is not None:
        return value.items
    if value.members is not None:
        return [literal(key) for key in value.members]
    if value.is_literal and isinstance(value.literal, (str, bytes)) and len(value.literal) <= _LONGEST:
        return [literal(part) for part in value.literal]
    return None


def first_of(value: AbstractValue) -> Answer:
    """The first element, where there certainly is one; AbstractValue() where nothing is known of it."""
    items = elements_of(value)
    if items is not None:
        return items[0] if items else UNKNOWN
    known: Sequence[AbstractValue] = value.fact("first_items") or ()
    if known:
        return known[0]
    length = length_of(value)
    return item_like(value) if length else UNKNOWN


def item_like(value: AbstractValue) -> AbstractValue:
    """Any item of a container of which only the items' common type is known."""
    types = value.fact("item_types")
    if value.type == "str":
        return AbstractValue("str")
    if isinstance(types, dict) and len(types) == 1 and next(iter(types)) in ("int", "float", "str", "bool", "NoneType"):
        return (
            AbstractValue(next(iter(types)), literal=None) if "NoneType" in types else AbstractValue(next(iter(types)))
        )
    return AbstractValue()


def changed(value: AbstractValue, items: list[AbstractValue] | None = None, length: int | None = None) -> AbstractValue:
    """A list after it was changed in place: its items, else its length."""
    value.forget()
    if items is not None:
        value.items = items
    elif length is not None:
        value.facts["length"] = length
    return AbstractValue("NoneType", literal=None)
