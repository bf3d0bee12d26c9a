"""Python's own values as rules see them: what is known exactly, what a type alone tells, and how containers change.

Pure. Evaluates the real operation where operands are known exactly and small, so nothing about Python is guessed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from crane_core.detectors.rules.site import Site
from crane_core.detectors.rules.thing import NOT_KNOWN, Thing, literal

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

_LARGEST_INT = 10**12
_LONGEST = 2_000


def words_of(thing: Thing, otherwise: str = "the value") -> str:
    """How evidence names a thing."""
    if thing.words:
        return thing.words
    if thing.is_literal:
        text = repr(thing.literal)
        return text if len(text) <= 60 else text[:59] + "\u2026"
    return otherwise


def is_small(value: Any) -> bool:
    """Whether computing with a value costs nothing to speak of."""
    if isinstance(value, bool) or value is None or isinstance(value, (float, complex)):
        return True
    if isinstance(value, int):
        return abs(value) <= _LARGEST_INT
    if isinstance(value, (str, bytes)):
        return len(value) <= _LONGEST
    if isinstance(value, dict):
        return len(value) <= _LONGEST and all(is_small(part) for pair in value.items() for part in pair)
    return len(value) <= _LONGEST and all(is_small(part) for part in value)


def known(things: Iterable[Thing]) -> list[Any] | None:
    """The values of things where each is known exactly and small, else None."""
    values = [thing.literal for thing in things]
    return values if all(value is not NOT_KNOWN and is_small(value) for value in values) else None


def evaluated(site: Site, what: str, compute: Callable[[], Any], fact: str, remedy: str) -> Thing:
    """The value of a computation on exact values; what it raises is what the target raises."""
    try:
        value = compute()
    except (TypeError, ValueError, ArithmeticError, LookupError, AttributeError) as error:
        site.crash(type(error).__name__, f"{what}: {error}", fact=fact, remedy=remedy)
    return made(value)


def made(value: Any) -> Thing:
    """The Thing of a computed value; a sequence that is not a list or tuple by its type alone."""
    if type(value).__name__ in (*SCALARS, *CONTAINERS) and is_small(value):
        return literal(value)
    if isinstance(value, range):
        return range_thing(value)
    return Thing(type(value).__name__)


def range_thing(value: range) -> Thing:
    items = [literal(number) for number in value] if len(value) <= 200 else None
    facts = {"length": len(value), "start": value.start, "stop": value.stop, "step": value.step}
    return Thing("range", facts, items=items, words=repr(value))


def length_of(thing: Thing) -> int | None:
    """The length of one of Python's own containers or texts, None if it is not known."""
    if thing.items is not None:
        return len(thing.items)
    if thing.members is not None:
        return len(thing.members)
    if thing.is_literal and isinstance(thing.literal, (str, bytes, set, frozenset)):
        return len(thing.literal)
    length = thing.fact("length")
    return length if isinstance(length, int) else None


def elements_of(thing: Thing) -> list[Thing] | None:
    """What iterating over one of Python's own values gives, where all is known."""
    if thing.items is not None:
        return thing.items
    if thing.members is not None:
        return [literal(key) for key in thing.members]
    if thing.is_literal and isinstance(thing.literal, (str, bytes)) and len(thing.literal) <= _LONGEST:
        return [literal(part) for part in thing.literal]
    return None


def first_of(thing: Thing) -> Thing | None:
    """The first element, where there certainly is one; Thing() where nothing is known of it."""
    items = elements_of(thing)
    if items is not None:
        return items[0] if items else None
    told: Sequence[Thing] = thing.fact("first_items") or ()
    if told:
        return told[0]
    length = length_of(thing)
    return item_like(thing) if length else None


def item_like(thing: Thing) -> Thing:
    """Any item of a container of which only the items' common type is known."""
    types = thing.fact("item_types")
    if thing.type == "str":
        return Thing("str")
    if isinstance(types, dict) and len(types) == 1 and next(iter(types)) in ("int", "float", "str", "bool", "NoneType"):
        return Thing(next(iter(types)), literal=None) if "NoneType" in types else Thing(next(iter(types)))
    return Thing()


def changed(thing: Thing, items: list[Thing] | None = None, length: int | None = None) -> Thing:
    """A list after it was changed in place: its items, else its length."""
    thing.forget()
    if items is not None:
        thing.items = items
    elif length is not None:
        thing.facts["length"] = length
    return Thing("NoneType", literal=None)
