"""The notebook's cells as syntax trees: where names are given values, and the trees of its functions.

Knows which cells ran and in which order. Parses a cell only when it can hold what is looked for.
"""

from __future__ import annotations

import ast
import linecache
from types import FunctionType
from typing import Any, Iterator, Mapping, NamedTuple

from . import magics
from .names import FUNCTIONS, names_bound_here, nodes_in_scope, parameters

_FUNCTIONS = (*FUNCTIONS, ast.Lambda)


class CodePlace(NamedTuple):
    """A code cell, counted from 0 in the notebook, and a line of it, counted from 1."""

    cell: int
    line: int

    def to_json(self) -> dict[str, int]:
        """The place as a dict, as states hold it."""
        return {"cell": self.cell, "line": self.line}


class GivenName(NamedTuple):
    """A name that the top level of a cell assigns or deletes."""

    name: str
    line: int
    is_deleted: bool = False


class Sources:
    """The code cells of a notebook."""

    def __init__(self, cells: list[Mapping[str, Any]]) -> None:
        ran = [
            (number, cell)
            for number, cell in enumerate(cells)
            if cell.get("executed")
        ]
        # Cells without a number ran in a kernel that is gone: they come last, in the notebook's
        # order.
        in_order = sorted(
            ran,
            key=lambda one: (
                one[1].get("order") is None,
                one[1].get("order") or 0,
                one[0],
            ),
        )
        self.executed = [cell for _, cell in in_order]
        """Cells that ran, in the order in which they ran."""
        self.not_executed = [cell for cell in cells if not cell.get("executed")]
        self._trees: dict[str, ast.Module] = {}

    def assigned(self, name: str) -> CodePlace | None:
        """Where the name was last given a value among the cells that ran."""
        for cell in reversed(self.executed):
            for given in reversed(self._given(cell, name)):
                if not given.is_deleted:
                    return CodePlace(cell["notebook_index"], given.line)
        return None

    def deleted(self, name: str) -> CodePlace | None:
        """Where the name was deleted after it was last given a value, among the cells that ran."""
        for cell in reversed(self.executed):
            for given in reversed(self._given(cell, name)):
                # Only the last mention counts: deleted, then given again, is not deleted.
                return (
                    CodePlace(cell["notebook_index"], given.line)
                    if given.is_deleted
                    else None
                )
        return None

    def would_define(self, name: str) -> list[CodePlace]:
        """Where cells that did not run would give the name a value."""
        return [
            CodePlace(cell["notebook_index"], given.line)
            for cell in self.not_executed
            for given in self._given(cell, name)
            if not given.is_deleted
        ]

    def function(self, function: FunctionType) -> Any | None:
        """The syntax tree of a function of the notebook: the last one that fits, then what IPython kept of it."""
        for cell in reversed(self.executed):
            # A search in the text is far cheaper than parsing all cells.
            if (
                function.__code__.co_name in cell["code"]
                or function.__code__.co_name == "<lambda>"
            ):
                found = _fitting(self._tree(cell["code"]), function)
                if found is not None:
                    return found
        # A cell that was edited since: IPython keeps the text that ran in linecache.
        kept = linecache.cache.get(function.__code__.co_filename)
        lines = kept[2] if kept is not None and len(kept) > 2 else []
        return _fitting(self._tree("".join(lines)), function)

    def _given(self, cell: Mapping[str, Any], name: str) -> list[GivenName]:
        # Most cells do not mention the name at all.
        if name not in cell["code"]:
            return []
        return [
            given
            for given in _given_by(self._tree(cell["code"]))
            if given.name == name
        ]

    def _tree(self, code: str) -> ast.Module:
        if code not in self._trees:
            self._trees[code] = magics.parsed(code).tree
        return self._trees[code]


def _fitting(tree: ast.Module, function: FunctionType) -> Any | None:
    """The function in a tree that has the name and the parameters, best the one that begins at the same line."""
    code = function.__code__
    # By parameters as well: a function may have been defined twice under one name.
    n_parameters = code.co_argcount + code.co_kwonlyargcount
    found = [
        node
        for node in ast.walk(tree)
        if isinstance(node, _FUNCTIONS) and _name(node) == code.co_name
    ]
    fitting = [
        node
        for node in found
        if parameters(node)[:n_parameters] == code.co_varnames[:n_parameters]
    ]
    at_line = [
        node for node in fitting if _first_line(node) == code.co_firstlineno
    ]
    # The last definition is the one that the name refers to.
    best = at_line or fitting
    return best[-1] if best else None


def _name(node: Any) -> str:
    return "<lambda>" if isinstance(node, ast.Lambda) else node.name


def _first_line(node: Any) -> int:
    # A code object begins at its first decorator, a node of a tree at `def` (since Python 3.8).
    lines: list[int] = [
        node.lineno,
        *(part.lineno for part in getattr(node, "decorator_list", [])),
    ]
    return min(lines)


def _given_by(tree: ast.Module) -> Iterator[GivenName]:
    """Names that the statements of a cell give values, in the order of the text."""
    for node in nodes_in_scope(tree):
        # Behind its handler the name of an exception is gone.
        if not isinstance(node, ast.ExceptHandler):
            is_deleted = isinstance(getattr(node, "ctx", None), ast.Del)
            for name in names_bound_here(node):
                yield GivenName(name, getattr(node, "lineno", 0), is_deleted)
