"""The code of a pair in other words: other names of variables and columns, other numbers; layout and comments stay.

Knows syntax alone. A name is renamed only where it is plain that nothing else refers to it: not one that is imported,
a parameter, a member of a class, or inside an f-string, whose positions Python 3.11 does not state. Whether the copy
still does the same is for its execution to show.
"""

import ast
import builtins
import keyword
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from crane_core.errors import NotebookError

SMALLEST_NUMBER = 10
"""Smaller integers are positions, axes and dimensions more often than data."""
_BUILTINS = frozenset(dir(builtins))


class Variation(NamedTuple):
    """What is replaced in every cell of both notebooks: old to new."""

    names: dict[str, str]
    columns: dict[str, str]
    numbers: dict[int, int]

    @property
    def n_changes(self) -> int:
        """How many different names, columns and numbers are replaced."""
        return len(self.names) + len(self.columns) + len(self.numbers)


class _Edit(NamedTuple):
    """A span of one line, in bytes of UTF-8, and what replaces it."""

    line: int
    start: int
    end: int
    text: str


def variation_of(cells: Sequence[str]) -> Variation:
    """What can be replaced in the code cells of both notebooks. Raises NotebookError if one is not plain Python."""
    trees = [_parsed(code) for code in cells]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    strings = _strings(nodes)
    attributes = {
        node.attr for node in nodes if isinstance(node, ast.Attribute)
    }
    taken = _identifiers(nodes) | strings | attributes
    names = _stored(nodes) - _kept(nodes) - strings - _BUILTINS
    # A column that is also an attribute, an argument or a part of a longer text has uses that are not seen here.
    arguments = {
        node.arg for node in nodes if isinstance(node, ast.keyword) and node.arg
    }
    columns = {
        name
        for name in _subscripts(nodes) & _dictionary_keys(nodes)
        if name.isidentifier()
        and not any(name in text for text in strings - {name})
    }
    return Variation(
        _renamed(sorted(names), taken),
        _renamed(sorted(columns - attributes - arguments), taken),
        {number: number + 1 for number in _numbers(nodes)},
    )


def varied(code: str, variation: Variation) -> str:
    """The code with everything replaced. Raises NotebookError if it is not plain Python."""
    lines = code.encode().splitlines(keepends=True)
    hidden = _hidden(ast.walk(_parsed(code)))
    edits = {
        edit
        for node in ast.walk(_parsed(code))
        if (edit := _edit(node, lines, variation)) is not None
        and edit[:2] not in hidden
    }
    # From the end, so that earlier positions stay what they are.
    for edit in sorted(edits, reverse=True):
        line = lines[edit.line]
        lines[edit.line] = (
            line[: edit.start] + edit.text.encode() + line[edit.end :]
        )
    return b"".join(lines).decode()


def _parsed(code: str) -> ast.Module:
    try:
        return ast.parse(code)
    except (SyntaxError, ValueError) as error:
        raise NotebookError(
            "A code cell is not plain Python.",
            remedy="Cells with magics or shell commands have no copy.",
        ) from error


def _edit(
    node: ast.AST, lines: Sequence[bytes], variation: Variation
) -> _Edit | None:
    old = _replaceable(node)
    if old is None or not isinstance(node, ast.Name | ast.Constant):
        return None
    if node.end_lineno != node.lineno or node.end_col_offset is None:
        return None
    span = node.lineno - 1, node.col_offset, node.end_col_offset
    written = lines[span[0]][span[1] : span[2]].decode()
    if isinstance(node, ast.Name):
        new = variation.names.get(node.id)
        return None if new is None else _Edit(*span, new)
    if isinstance(old, int):
        number = variation.numbers.get(old)
        # 1_000 and 0x10 are left as they are.
        is_plain = number is not None and written == str(old)
        return _Edit(*span, str(number)) if is_plain else None
    column = variation.columns.get(old)
    if column is None or written[1:-1] != old:
        return None
    return _Edit(*span, f"{written[0]}{column}{written[-1]}")


def _replaceable(node: ast.AST) -> str | int | None:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Constant) and type(node.value) in (str, int):
        return node.value  # type: ignore[return-value]
    return None


def _hidden(nodes: Iterable[ast.AST]) -> set[tuple[int, int]]:
    """Line and column of everything inside an f-string, as far as Python 3.11 states them."""
    return {
        (inner.lineno - 1, inner.col_offset)
        for node in nodes
        if isinstance(node, ast.JoinedStr)
        for inner in ast.walk(node)
        if isinstance(inner, ast.expr)
    }


def _identifiers(nodes: Sequence[ast.AST]) -> set[str]:
    return {node.id for node in nodes if isinstance(node, ast.Name)} | _kept(
        nodes
    )


def _stored(nodes: Sequence[ast.AST]) -> set[str]:
    return {
        node.id
        for node in nodes
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }


def _kept(nodes: Sequence[ast.AST]) -> set[str]:
    """Names that something refers to in another way than by a `Name`."""
    kept: set[str] = set()
    for node in nodes:
        kept.update(_bound_by(node))
    return kept


def _bound_by(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Import() | ast.ImportFrom():
            for alias in node.names:
                yield (alias.asname or alias.name).partition(".")[0]
        case ast.ClassDef():
            yield node.name
            yield from _stored(list(ast.walk(node)))
        case ast.arg():
            yield node.arg
        case ast.Global() | ast.Nonlocal():
            yield from node.names
        case ast.JoinedStr():
            for inner in ast.walk(node):
                if isinstance(inner, ast.Name):
                    yield inner.id
        case ast.MatchMapping():
            yield node.rest or ""
        # Functions, handlers of exceptions and patterns of `match`: a name that is a plain string.
        case _:
            name = getattr(node, "name", None)
            yield name if isinstance(name, str) else ""


def _strings(nodes: Sequence[ast.AST]) -> set[str]:
    return {
        node.value
        for node in nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def _subscripts(nodes: Sequence[ast.AST]) -> set[str]:
    return _strings(
        [node.slice for node in nodes if isinstance(node, ast.Subscript)]
    )


def _dictionary_keys(nodes: Sequence[ast.AST]) -> set[str]:
    """Columns of frames that the code itself makes; those of files keep their names."""
    keys = [
        key for node in nodes if isinstance(node, ast.Dict) for key in node.keys
    ]
    return _strings([key for key in keys if key is not None])


def _numbers(nodes: Sequence[ast.AST]) -> set[int]:
    return {
        node.value
        for node in nodes
        if isinstance(node, ast.Constant)
        and type(node.value) is int
        and node.value >= SMALLEST_NUMBER
    }


def _renamed(names: Sequence[str], taken: set[str]) -> dict[str, str]:
    """The words of a name in the other order, or with `my_` before them: code is not to become harder to read."""
    new_of: dict[str, str] = {}
    for name in names:
        if name.startswith("_"):
            continue
        turned = "_".join(reversed(name.split("_")))
        for new in (turned, f"my_{name}"):
            is_name = new.isidentifier() and not keyword.iskeyword(new)
            is_free = new not in taken and new not in new_of.values()
            if is_name and is_free:
                new_of[name] = new
                break
    return new_of
