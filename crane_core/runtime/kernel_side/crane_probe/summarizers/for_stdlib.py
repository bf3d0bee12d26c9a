"""Small values of the standard library: dates, decimals, fractions, paths, patterns, files.

Knows these classes themselves. Refuses to read a file or move in it.
"""

from __future__ import annotations

import os
from typing import Any

from ..anatomy import module_of, mro_of, name_of
from ..bounds import Facts

_SPELLED = (
    "datetime",
    "date",
    "time",
    "timedelta",
    "timezone",
    "Decimal",
    "Fraction",
    "UUID",
    "PurePath",
)


def plain(value: Any) -> Any:
    """The value as text; other values unchanged."""
    # Through the class that defines it: str(value) of a subclass is its own __str__.
    kind = next(
        (each for each in mro_of(type(value)) if name_of(each) in _SPELLED),
        None,
    )
    return (
        value
        if kind is None
        else str(
            vars(kind)["__str__"](value) if "__str__" in vars(kind) else value
        )
    )


def spelled(value: Any, look: Any) -> Facts:
    """A date, decimal, fraction, UUID or path: as Python writes it."""
    return {"plus": {"values": {"value": look.scalar(plain(value))}}}


def path(value: Any, look: Any) -> Facts:
    """A path and whether something is there."""
    # os.fspath of a path is a stored text; the file itself is not opened.
    text = os.fspath(value)
    return {
        "plus": {
            "values": {
                "value": look.text(text),
                "exists": os.path.lexists(text),
            }
        }
    }


def pattern(value: Any, look: Any) -> Facts:
    """A compiled regular expression: its text and its number of groups."""
    return {
        "plus": {
            "values": {
                "pattern": look.scalar(value.pattern),
                "n_groups": value.groups,
            }
        }
    }


def file(value: Any, look: Any) -> Facts:
    """An open or closed file of text or bytes."""
    inner = vars(type(value)).get("buffer") or vars(type(value)).get("raw")
    # Only layers of C: a file that a class of the notebook wraps would run its code.
    below = (
        inner.__get__(value)
        if inner is not None and module_of(type(value)) == "_io"
        else value
    )
    if module_of(type(below)) != "_io":
        return {}
    return {"plus": {"values": {"closed": bool(value.closed)}}}


SCALAR = plain
SUMMARIZERS = {
    **dict.fromkeys(_SPELLED, spelled),
    "Path": path,
    "Pattern": pattern,
    **dict.fromkeys(
        (
            "TextIOWrapper",
            "BufferedReader",
            "BufferedWriter",
            "FileIO",
            "StringIO",
            "BytesIO",
        ),
        file,
    ),
}
