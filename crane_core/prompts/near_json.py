"""Objects that are meant as JSON and are not: line ends within strings, trailing commas, Python's quotes and words.

Knows where an object ends, and what both notations share. Refuses to complete anything: an object without its end is
none, and nothing is evaluated but literals.
"""

import ast
import json
from collections.abc import Iterator
from typing import Any

_LONGEST = 60_000
_DEEPEST = 20
_MOST_TRIES = 200
_WORDS = {"true": True, "false": False, "null": None}
_LINE_ENDS = {"\n": "\\n", "\r": "\\r"}


def near_objects(text: str) -> Iterator[list[tuple[str, Any]]]:
    """The members of each object in turn, outermost objects first, names in lower case. Never raises."""
    start = text.find("{")
    # Bounded, because a reply of opening braces would be read from each of them to its end.
    for _ in range(_MOST_TRIES):
        if start < 0:
            return
        source = _whole(text, start)
        members = _members(source[0]) if source else None
        if source and members is not None:
            yield members
        start = text.find(
            "{", source[1] if source and members is not None else start + 1
        )


def _whole(text: str, start: int) -> tuple[str, int] | None:
    """The object that begins here, line ends within its strings escaped, and where it ends; None if it has no end."""
    parts: list[str] = []
    quote, depth, is_escaped = "", 0, False
    for place, letter in enumerate(text[start : start + _LONGEST], start):
        # Models write long reasonings with raw line ends, which JSON allows nowhere in a string.
        parts.append(_LINE_ENDS.get(letter, letter) if quote else letter)
        if quote:
            if is_escaped:
                is_escaped = False
            elif letter == "\\":
                is_escaped = True
            elif letter == quote:
                quote = ""
        elif letter in "\"'":
            quote = letter
        elif letter in "{[":
            depth += 1
        elif letter in "}]":
            depth -= 1
        if depth == 0 or depth > _DEEPEST:
            return ("".join(parts), place + 1) if depth == 0 else None
    return None


def _members(source: str) -> list[tuple[str, Any]] | None:
    # JSON first: `true` and `null` are plain names to Python.
    for read in (_of_json, _of_python):
        try:
            return [(name.lower(), value) for name, value in read(source)]
        except (
            ValueError,
            SyntaxError,
            TypeError,
            AttributeError,
            RecursionError,
            MemoryError,
        ):
            continue
    return None


def _of_json(source: str) -> list[tuple[str, Any]]:
    return list(json.loads(source).items())


def _of_python(source: str) -> list[tuple[str, Any]]:
    tree = ast.parse(source, mode="eval").body
    if not isinstance(tree, ast.Dict):
        raise ValueError
    pairs = zip(tree.keys, tree.values, strict=True)
    return [
        (ast.literal_eval(key), _value(value))
        for key, value in pairs
        if key is not None
    ]


def _value(node: ast.expr) -> Any:
    # Some replies mix both notations: single quotes, and yet `true`.
    if isinstance(node, ast.Name) and node.id in _WORDS:
        return _WORDS[node.id]
    return ast.literal_eval(node)
