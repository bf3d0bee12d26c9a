"""JSON that is safe and short: scalars, texts, facts put together, whole documents.

Knows exact built-in types alone. Refuses to ask an object what it is: a subclass of str, int or float is read through
the methods of str, int and float themselves.
"""

from __future__ import annotations

import json
import math
from typing import Any, Dict

from .anatomy import is_kind, type_name
from .kinds import Kinds

Facts = Dict[str, Any]
"""What a summary says, each fact under its name."""
ELLIPSIS = "\u2026"
# What readers of other languages take as an integer.
_LARGEST_BITS = 64
_SPELLED_ITEMS = 8
_NESTED = Kinds(dict, list, tuple)
# Beyond that, its digits tell a reader nothing.
_SPELLED_BITS = 512
_CUTS = (400, 100, 40, 20, 10, 5, 2)
"""Entries per dict or list that are tried one after the other until a document fits."""


def text(value: str, limit: int) -> str:
    """At most `limit` characters, the rest counted; what UTF-8 cannot say is escaped."""
    # Through `str` itself, because a subclass may have its own __len__ and __getitem__.
    length = str.__len__(value)
    shown = (
        # Half of a surrogate pair is a text in Python, and none in UTF-8.
        str.__getitem__(value, slice(0, limit))
        .encode("utf-8", "backslashreplace")
        .decode("utf-8")
    )
    return (
        shown if length <= limit else f"{shown}{ELLIPSIS} ({length} characters)"
    )


def scalar(value: Any, limit: int) -> Any:
    """A number, string, boolean or None as JSON; anything else by the name of its type in angle brackets.

    Floats that JSON cannot say are {"$float": "nan"}, as everywhere in this project.
    """
    kind = type(value)
    # Before integers, as booleans are ones.
    if value is None or kind is bool:
        return value
    if is_kind(value, int):
        # `int.__int__` of a subclass (an IntEnum) is the plain number.
        return _integer(int.__int__(value))
    if is_kind(value, float):
        return _float(float.__float__(value))
    if is_kind(value, str):
        return text(value, limit)
    if kind is complex:
        return text(repr(value), limit)
    if is_kind(value, bytes):
        return {
            "bytes": bytes.__len__(value),
            "begin": repr(bytes.__getitem__(value, slice(0, 24))),
        }
    # A tuple as a column's or dict's label is one name, so it is spelled.
    if is_kind(value, tuple) and tuple.__len__(value) <= _SPELLED_ITEMS:
        items = (_spelled(item, limit) for item in tuple.__iter__(value))
        return f"({', '.join(items)})"
    return f"<{type_name(kind)}>"


def _spelled(value: Any, limit: int) -> str:
    """An item of a tuple, as Python writes it."""
    shown = scalar(value, limit)
    return json.dumps(shown) if type(shown) is dict else repr(shown)


def _integer(value: int) -> Any:
    bits = value.bit_length()
    if bits <= _LARGEST_BITS:
        return value
    return (
        str(value)
        if bits <= _SPELLED_BITS
        else {"bits": bits, "sign": -1 if value < 0 else 1}
    )


def _float(value: float) -> Any:
    # JSON has no NaN; readers of many languages refuse Python's.
    return value if math.isfinite(value) else {"$float": str(value)}


def safe(document: Any, limit: int, depth: int = 60) -> Any:
    """The document with nothing in it but JSON: keys are text, tuples lists, numbers finite, strings bounded."""
    kind = type(document)
    # Most texts are short and plain: the common case goes first.
    if kind is str and len(document) <= limit and document.isascii():
        return document
    if kind not in _NESTED:
        return scalar(document, limit)
    # A document that is nested deeper was made by a mistake, or holds itself.
    if depth == 0:
        return ELLIPSIS
    if kind is dict:
        return {
            key_text(key, limit): safe(item, limit, depth - 1)
            for key, item in document.items()
        }
    return [safe(item, limit, depth - 1) for item in document]


def key_text(key: Any, limit: int) -> str:
    """A key of a dict as text; other keys as their JSON."""
    if is_kind(key, str):
        return text(key, limit)
    # Two keys may become one text (1 and "1"): the later of them is shown.
    shown = scalar(key, limit)
    return shown if type(shown) is str else json.dumps(shown)


def merged(left: Facts, right: Facts) -> Facts:
    """Both; dicts under the same key are put together, other values of `right` take the place of those of `left`."""
    both = dict(left)
    for key, part in right.items():
        is_both = type(part) is dict and type(both.get(key)) is dict
        both[key] = merged(both[key], part) if is_both else part
    # An empty group in a prompt would say that there is something.
    return {key: part for key, part in both.items() if part != {}}


def stated(**facts: Any) -> Facts:
    """Those of the facts that say something: what is empty, zero, False or None is left out."""
    return {name: fact for name, fact in facts.items() if fact}


def listed(shown: list[Any], n_all: int) -> list[Any]:
    """The first ones of a longer list, with how many more there are."""
    n_more = n_all - len(shown)
    return [*shown, f"{ELLIPSIS} {n_more} more"] if n_more > 0 else shown


def dumps(document: Any) -> str:
    """The document as JSON without blanks. Raises ValueError for a float that JSON does not have."""
    # allow_nan=False, so that a float that slipped through is an error here, not at the reader.
    return json.dumps(document, allow_nan=False, separators=(",", ":"))


def fitted(document: Facts, chars: int) -> Facts:
    """The document (safe JSON) cut until its text has at most `chars` characters; what was cut is counted in place."""
    if len(dumps(document)) <= chars:
        return document
    # From the largest cut on, so that as much is kept as fits.
    for entries in _CUTS:
        shorter = {name: _cut(part, entries) for name, part in document.items()}
        if len(dumps(shorter)) <= chars:
            return shorter
    return {
        "type": document.get("type"),
        "unavailable": f"its summary is longer than {chars} characters",
    }


def _cut(document: Any, entries: int) -> Any:
    if type(document) is dict:
        kept = {
            key: _cut(document[key], entries)
            for key in list(document)[:entries]
        }
        return dict(kept, **_rest(len(document) - entries))
    if type(document) is list:
        more: list[Any] = list(_rest(len(document) - entries).values())
        return [_cut(item, entries) for item in document[:entries]] + more
    return document


def _rest(n_left_out: int) -> dict[str, str]:
    return (
        {ELLIPSIS: f"{n_left_out} more are not shown"} if n_left_out > 0 else {}
    )


def why(error: BaseException, limit: int = 200) -> str:
    """What a failure says, read without running a `__str__` of the notebook."""
    # str(error) of an exception class of the notebook is its code.
    said: str = next((item for item in error.args if type(item) is str), "")
    name = type_name(type(error))
    # The first line alone: a reason becomes part of one line.
    return (
        f"{name}: {text((said.splitlines() or [''])[0], limit)}"
        if said
        else name
    )
