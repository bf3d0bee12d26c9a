"""Values that source code spells out, or that the kernel holds as plain numbers, texts and lists of them.

Knows exact built-in types. Refuses to evaluate anything else: what is not known is an Unknown with its source.
"""

from __future__ import annotations

import ast
import operator
import os
import sys
from typing import Any, Callable, NamedTuple

from ..anatomy import (
    MISSING,
    class_dict,
    instance_dict,
    is_kind,
    module_dict,
    mro_of,
)
from ..kinds import CONTAINERS, INDICES, PLAIN, REAL, ROWS, Kinds
from .asked import Unknown

_JOINED = Kinds(str, list, tuple)
# Longer lists in a cell are data, not labels that a cell asks for.
_LARGEST_LIST = 400
_LONGEST_TEXT = 2_000
_LARGEST_INT = 2**63
_ARITHMETIC: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


class LoopValues(NamedTuple):
    """The values that a loop's name takes one after the other."""

    values: tuple[Any, ...]


Names = Callable[[str], Any]
"""Returns the value of a name, MISSING where it is not known."""


def known(node: ast.AST | None, names: Names) -> Any:
    """The value of an expression, an Unknown where it is not plain."""
    value = _known(node, names)
    return Unknown(source(node)) if value is MISSING else value


def path_class() -> Any:
    """pathlib.Path, where the kernel has loaded it."""
    return module_dict(sys.modules.get("pathlib")).get("Path")


def is_path_object(value: Any) -> bool:
    """True for a path of pathlib itself, which is never changed and asks no file of its name."""
    held = module_dict(sys.modules.get("pathlib"))
    return any(
        type(value) is held.get(name) for name in ("PosixPath", "WindowsPath")
    )


def is_plain(value: Any) -> bool:
    """True for a number, a text, None, and for a list, tuple or set of them that is not too long."""
    kind = type(value)
    if kind in CONTAINERS:
        # Pairs count, as labels of columns with two levels are.
        return len(value) <= _LARGEST_LIST and all(
            _is_word(item) or _is_pair(item) for item in value
        )
    return _is_word(value) or kind is slice


def _is_word(value: Any) -> bool:
    """True for a plain value that is short enough to be spelled, and that equals itself: a NaN does not."""
    kind = type(value)
    if kind is float:
        # A label that does not equal itself is found by no look-up.
        return bool(value == value)
    if kind is int:
        return bool(-_LARGEST_INT < value < _LARGEST_INT)
    return kind in PLAIN and (
        kind is not str and kind is not bytes or len(value) <= _LONGEST_TEXT
    )


def _is_pair(value: Any) -> bool:
    return (
        type(value) is tuple and len(value) <= 8 and all(map(_is_word, value))
    )


def source(node: ast.AST | None) -> str:
    """The source of an expression, short."""
    unparse = getattr(ast, "unparse", None)  # from Python 3.9 on
    if node is None or unparse is None:
        return "" if node is None else type(node).__name__
    text: str = unparse(node)
    return text if len(text) <= 80 else text[:79] + "\u2026"


def _known(node: ast.AST | None, names: Names) -> Any:
    if node is None:
        return None
    reader = _READERS.get(type(node).__name__)
    return MISSING if reader is None else reader(node, names)


def _constant(node: Any, names: Names) -> Any:
    return node.value if _is_word(node.value) else MISSING


def _name(node: Any, names: Names) -> Any:
    value = names(node.id)
    # A value of the kernel counts only if it is plain: anything else could change in between.
    is_kept = type(value) is LoopValues or is_path_object(value)
    return value if is_kept or is_plain(value) else MISSING


def _sequence(node: Any, names: Names) -> Any:
    """A list or tuple; what is not known in it stays as an Unknown, as in `frame.loc[mask, "a"]`."""
    items: list[Any] = []
    for element in node.elts:
        if isinstance(element, ast.Starred):
            inner = _known(element.value, names)
            if type(inner) not in ROWS:
                return MISSING
            items.extend(inner)
        else:
            items.append(known(element, names))
    if any(type(item) is LoopValues for item in items) and len(items) > 1:
        # Two loops in one subscript go in step or not: unknown.
        items = [
            Unknown("a loop's name") if type(item) is LoopValues else item
            for item in items
        ]
    return tuple(items) if isinstance(node, ast.Tuple) else items


def _dict(node: Any, names: Names) -> Any:
    # `{**other}` has None for a key.
    keys = [_known(key, names) if key else MISSING for key in node.keys]
    if any(type(key) not in PLAIN and not _is_pair(key) for key in keys):
        return MISSING
    return {key: known(value, names) for key, value in zip(keys, node.values)}


def _slice(node: Any, names: Names) -> Any:
    parts = [known(part, names) for part in (node.lower, node.upper, node.step)]
    return slice(*parts)


def _index(node: Any, names: Names) -> Any:
    return _known(node.value, names)


def _extended(node: Any, names: Names) -> Any:
    return tuple(known(part, names) for part in node.dims)


def _negated(node: Any, names: Names) -> Any:
    value = _known(node.operand, names)
    is_number = type(value) in REAL
    return -value if isinstance(node.op, ast.USub) and is_number else MISSING


def _computed(node: Any, names: Names) -> Any:
    left, right = _known(node.left, names), _known(node.right, names)
    if isinstance(node.op, ast.Div):
        is_joined = is_path_object(left) and (
            type(right) is str or is_path_object(right)
        )
        return left / right if is_joined else MISSING
    operation = _ARITHMETIC.get(type(node.op))
    if operation is None or not _may_compute(node.op, left, right):
        return MISSING
    try:
        return operation(left, right)
    except ZeroDivisionError:
        return MISSING


def _may_compute(kind: ast.operator, left: Any, right: Any) -> bool:
    if type(left) is int and type(right) is int:
        # Bounded: a product of products would grow without end.
        return abs(left) < _LARGEST_INT and abs(right) < _LARGEST_INT
    return (
        isinstance(kind, ast.Add)
        and type(left) is type(right)
        and type(left) in _JOINED
    )


def _formatted(node: Any, names: Names) -> Any:
    parts = [_part(part, names) for part in node.values]
    return MISSING if any(part is MISSING for part in parts) else "".join(parts)


def _part(node: Any, names: Names) -> Any:
    if isinstance(node, ast.FormattedValue):
        value = _known(node.value, names)
        return (
            str(value)
            if type(value) in INDICES
            and node.format_spec is None
            and node.conversion == -1
            else MISSING
        )
    return node.value


def _attribute(node: Any, names: Names) -> Any:
    """A plain attribute of a settings object: `CFG.target` by what the object or its class stores."""
    if not isinstance(node.value, ast.Name):
        return MISSING
    holder = names(node.value.id)
    if holder is MISSING or type(holder) is LoopValues:
        return MISSING
    for held in _places(holder):
        if node.attr in held:
            return held[node.attr] if is_plain(held[node.attr]) else MISSING
    return MISSING


def _places(holder: Any) -> list[Any]:
    if is_kind(holder, type):
        return [class_dict(kind) for kind in mro_of(holder)]
    return [
        instance_dict(holder),
        *(class_dict(kind) for kind in mro_of(type(holder))),
    ]


def _subscript(node: Any, names: Names) -> Any:
    """An entry of a settings dict or a list: `CONFIG["target"]`."""
    holder = _held(node.value, names)
    key = _known(node.slice, names)
    if type(key) not in PLAIN:
        return MISSING
    if type(holder) is dict and PLAIN.hold_all(holder):
        value = holder.get(key, MISSING)
        return value if is_plain(value) else MISSING
    if (
        type(holder) in ROWS
        and type(key) is int
        and -len(holder) <= key < len(holder)
    ):
        return holder[key] if is_plain(holder[key]) else MISSING
    return MISSING


def _call(node: Any, names: Names) -> Any:
    """`len(x)`, `list(x)`, `os.path.join(a, b)` and `Path(a)` of what is known."""
    if node.args and not node.keywords and (join := _joiner(node.func, names)):
        parts = [_known(part, names) for part in node.args]
        are_paths = all(
            type(part) is str or is_path_object(part) for part in parts
        )
        return join(*parts) if are_paths else MISSING
    is_of_one = isinstance(node.func, ast.Name) and len(node.args) == 1
    # A notebook may have its own `len`.
    if not is_of_one or node.keywords or names(node.func.id) is not MISSING:
        return MISSING
    value, name = _held(node.args[0], names), node.func.id
    if name == "len" and (type(value) in CONTAINERS or type(value) is str):
        return len(value)
    is_row = type(value) in ROWS and is_plain(value)
    return (
        list(value) if is_row and name in ("list", "tuple", "set") else MISSING
    )


def _joiner(function: Any, names: Names) -> Callable[..., Any] | None:
    """os.path.join or pathlib.Path, by whatever name; None of another function."""
    links: list[str] = []
    while isinstance(function, ast.Attribute):
        links.append(function.attr)
        function = function.value
    if not isinstance(function, ast.Name):
        return None
    found = names(function.id)
    # Of modules alone, as reading an attribute of another object may run its code.
    for link in reversed(links):
        found = module_dict(found).get(link)
    is_joiner = found is os.path.join or found is path_class()
    joiner: Callable[..., Any] | None = found if is_joiner else None
    return joiner


def _held(node: Any, names: Names) -> Any:
    """As _known; of a bare name also what is too large to be spelled."""
    return names(node.id) if isinstance(node, ast.Name) else _known(node, names)


_READERS: dict[str, Callable[[Any, Names], Any]] = {
    "Constant": _constant,
    "Name": _name,
    "List": _sequence,
    "Tuple": _sequence,
    "Dict": _dict,
    "Slice": _slice,
    # Python 3.8 wraps subscripts in these two; later trees do not.
    "Index": _index,
    "ExtSlice": _extended,
    "UnaryOp": _negated,
    "BinOp": _computed,
    "JoinedStr": _formatted,
    "Attribute": _attribute,
    "Subscript": _subscript,
    "Call": _call,
}
