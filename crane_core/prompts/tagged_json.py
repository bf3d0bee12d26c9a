"""Python values as JSON that loses nothing: tuples, sets, odd keys, nan and things only known by their repr.

Knows values. Refuses to know which variable or group they belong to.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from crane_core.domain import JsonObject

TUPLE = "$tuple"
SET = "$set"
PAIRS = "$pairs"
FLOAT = "$float"
REPR = "$repr"
CALL = "$call"
DEFAULTDICT = "$defaultdict"
_TAGS = frozenset({TUPLE, SET, PAIRS, FLOAT, REPR, CALL, DEFAULTDICT})


@dataclass(frozen=True, slots=True)
class Opaque:
    """A value known only by its printed form, such as an object's repr. Prints as that form."""

    text: str

    def __repr__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class PrintedCall:
    """A repr that reads as a call, such as torch.Size([10, 3]). Prints as it was; sorts by its arguments."""

    name: str
    arguments: tuple[Any, ...]

    def __repr__(self) -> str:
        return f"{self.name}({', '.join(map(repr, self.arguments))})"

    def __lt__(self, other: PrintedCall) -> bool:
        return self.arguments < other.arguments


@dataclass(frozen=True, slots=True)
class PrintedSet:
    """A set in the order in which it was printed, which a Python set would forget."""

    items: tuple[Any, ...]

    def __repr__(self) -> str:
        return (
            f"{{{', '.join(map(repr, self.items))}}}" if self.items else "set()"
        )


@dataclass(frozen=True, slots=True)
class PrintedDefaultDict:
    """A defaultdict: the printed form of its factory, and its entries."""

    factory: str
    entries: dict[Any, Any]

    def __repr__(self) -> str:
        return f"defaultdict({self.factory}, {self.entries!r})"


def encode(value: Any) -> Any:
    """JSON for a value made of dicts, lists, tuples, PrintedSets, scalars and the classes above.

    Raises TypeError for anything else, so that nothing is turned into text by accident.
    """
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {FLOAT: repr(value)}
    if isinstance(value, list):
        return [encode(item) for item in value]
    if isinstance(value, dict):
        return _encode_dict(value)
    return _encode_tagged(value)


def _encode_dict(entries: dict[Any, Any]) -> JsonObject:
    # A notebook's dict that looks like a tag is written as pairs, so that it cannot be taken for one.
    if all(isinstance(key, str) for key in entries) and not _looks_tagged(
        entries
    ):
        return {key: encode(item) for key, item in entries.items()}
    return {
        PAIRS: [[encode(key), encode(item)] for key, item in entries.items()]
    }


def _encode_tagged(value: Any) -> JsonObject:
    match value:
        case tuple():
            return {TUPLE: [encode(item) for item in value]}
        case PrintedSet():
            return {SET: [encode(item) for item in value.items]}
        case Opaque():
            return {REPR: value.text}
        case PrintedCall():
            return {CALL: [value.name, *map(encode, value.arguments)]}
        case PrintedDefaultDict():
            return {DEFAULTDICT: [value.factory, encode(value.entries)]}
        case complex() | bytes():
            return {REPR: repr(value)}
    raise TypeError(f"{type(value).__name__} has no tagged JSON form")


def decode(document: Any) -> Any:
    """The value that was passed to `encode`."""
    if isinstance(document, list):
        return [decode(item) for item in document]
    if not isinstance(document, dict):
        return document
    if _looks_tagged(document):
        return _decode_tagged(*next(iter(document.items())))
    return {key: decode(item) for key, item in document.items()}


def _decode_tagged(tag: str, body: Any) -> Any:
    match tag:
        case "$tuple":
            return tuple(decode(item) for item in body)
        case "$set":
            return PrintedSet(tuple(decode(item) for item in body))
        case "$pairs":
            return {decode(key): decode(item) for key, item in body}
        case "$float":
            return float(body)
        case "$call":
            return PrintedCall(
                body[0], tuple(decode(item) for item in body[1:])
            )
        case "$defaultdict":
            return PrintedDefaultDict(body[0], decode(body[1]))
    return Opaque(body)


def _looks_tagged(entries: dict[Any, Any]) -> bool:
    return len(entries) == 1 and next(iter(entries)) in _TAGS
