"""The value that a path such as `vars.instance` or `resps[0][1]` names in a row of another tool's file.

Knows objects, lists, and JSON inside of strings, which several tools write into a column. Refuses to know files.
"""

import re
from collections.abc import Iterator
from typing import Any

from crane_core.importers.reading import UnreadableFileError, parse_json

LONGEST_PATH = 200
"""Characters of a path."""
LARGEST_EMBEDDED = 2**20
"""Characters of a string that is read as JSON."""
DOCUMENT = "$."
"""Begins a path that starts at the top of the file, or at its first line, in place of the row."""
_STEP = r"\[(?:(?P<at>-?\d{1,6})|(?P<member>\w+)=(?P<text>[^\[\]]*)|(?P<part>key|value))\]"
_PLACE = re.compile(rf"{_STEP}\.?")
_LEGAL = re.compile(
    r"[^\[\]]*(\[(-?\d{1,6}|\w+=[^\[\]]*|key|value)\][^\[\]]*)*"
)


def is_path(text: str) -> bool:
    """Whether the text can be a path: not empty, not too long, and every bracket holds a step.

    A step is an integer, NAME=TEXT for the first element of a list whose member says so, or key or value for the first
    of an object, as tools write a chosen label.
    """
    is_bounded = 0 < len(text) <= LONGEST_PATH
    return is_bounded and _LEGAL.fullmatch(text) is not None


def value_at(value: Any, path: str) -> Any:
    """The value at the path; None where a step of it is absent or null."""
    if not path:
        return value
    if isinstance(value, str):
        value = embedded_json(value)
    place = _PLACE.match(path)
    if isinstance(value, dict) and place is None:
        for name, rest in _splits(path):
            if name in value:
                return value_at(value[name], rest)
        return None
    if place is None:
        return None
    return value_at(_at_place(value, place), path[place.end() :])


def _at_place(value: Any, place: re.Match[str]) -> Any:
    """The element of a list, or the first name or value of an object, that a step in brackets means."""
    if isinstance(value, dict) and place["part"] and value:
        first = next(iter(value.items()))
        return first[0] if place["part"] == "key" else first[1]
    if not isinstance(value, list):
        return None
    if place["member"]:
        wanted = (
            one
            for one in value
            if isinstance(one, dict)
            and str(one.get(place["member"])) == place["text"]
        )
        return next(wanted, None)
    at = int(place["at"] or 0)
    is_there = place["at"] and -len(value) <= at < len(value)
    return value[at] if is_there else None


def _splits(path: str) -> Iterator[tuple[str, str]]:
    """Every beginning of the path that can be a name, with the rest of it, the longest first."""
    yield path, ""
    # A column's name may have dots itself, as those of Phoenix do: `attributes.input.value`.
    for at in range(len(path) - 1, 0, -1):
        if path[at] in ".[":
            yield path[:at], path[at:].removeprefix(".")


def embedded_json(text: str) -> Any:
    """The JSON that a string holds; None if it holds none."""
    if len(text) > LARGEST_EMBEDDED or not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return parse_json(text.encode("utf-8", "replace"), "", "")
    except UnreadableFileError:
        return None
