"""Code broken in the ways in which cells of notebooks break: a wrong label, a renamed variable, a wrong shape, no fit.

Knows syntax alone. Whether the broken code raises at all is seen by running it.
"""

from __future__ import annotations

import ast
import copy
import random
from collections.abc import Callable, Iterator
from typing import NamedTuple


class Broken(NamedTuple):
    """The code after one change, and the name of the change."""

    kind: str
    code: str


Change = Callable[[ast.AST], bool]
"""Changes a node in place; False if it does not apply."""


def broken(code: str, seed: int, most: int = 6) -> list[Broken]:
    """Some of the ways to break a piece of code, each by one change, the same for the same seed."""
    every = list(_every(code))
    random.Random(seed).shuffle(every)
    kinds: dict[str, Broken] = {}
    for one in every:
        kinds.setdefault(one.kind, one)
    return list(kinds.values())[:most]


def _every(code: str) -> Iterator[Broken]:
    tree = ast.parse(code)
    nodes = list(ast.walk(tree))
    for kind, change in CHANGES.items():
        for at in range(len(nodes)):
            other = copy.deepcopy(tree)
            if change(list(ast.walk(other))[at]):
                yield Broken(kind, ast.unparse(ast.fix_missing_locations(other)))


def _wrong_label(node: ast.AST) -> bool:
    if (
        isinstance(node, ast.Subscript)
        and isinstance(node.slice, ast.Constant)
        and isinstance(node.slice.value, str)
    ):
        node.slice.value += "_x"
        return True
    return False


def _index_out_of_range(node: ast.AST) -> bool:
    if (
        isinstance(node, ast.Subscript)
        and isinstance(node.slice, ast.Constant)
        and type(node.slice.value) is int
    ):
        node.slice.value += 1000
        return True
    return False


def _renamed_variable(node: ast.AST) -> bool:
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        node.id += "_old"
        return True
    return False


def _misspelt_attribute(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
        node.attr += "s" if not node.attr.endswith("s") else "_"
        return True
    return False


def _wrong_text(node: ast.AST) -> bool:
    """A text among the arguments: a column, a mode, a method."""
    for argument in _arguments(node):
        if (
            isinstance(argument, ast.Constant)
            and isinstance(argument.value, str)
            and argument.value
        ):
            argument.value += "_x"
            return True
    return False


def _wrong_axis(node: ast.AST) -> bool:
    for keyword in node.keywords if isinstance(node, ast.Call) else ():
        if keyword.arg in ("axis", "dim") and isinstance(keyword.value, ast.Constant):
            keyword.value = ast.Constant(7)
            return True
    return False


def _text_for_number(node: ast.AST) -> bool:
    for argument in _arguments(node):
        if isinstance(argument, ast.Constant) and type(argument.value) in (int, float):
            argument.value = "three"
            return True
    return False


def _none_for_value(node: ast.AST) -> bool:
    if (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and isinstance(node.ctx, ast.Load)
    ):
        node.value = ast.Constant(None)
        return True
    return False


def _other_size(node: ast.AST) -> bool:
    """A size among the arguments: of a layer, a new shape, a range."""
    for argument in _arguments(node):
        sizes = argument.elts if isinstance(argument, ast.Tuple) else [argument]
        for size in sizes:
            if isinstance(size, ast.Constant) and type(size.value) is int:
                size.value += 1
                return True
    return False


def _shorter_list(node: ast.AST) -> bool:
    for argument in _arguments(node):
        if isinstance(argument, ast.List) and len(argument.elts) > 1:
            argument.elts.pop()
            return True
    return False


def _extra_argument(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        node.args += [ast.Constant(1), ast.Constant(2), ast.Constant(3)]
        return True
    return False


def _missing_argument(node: ast.AST) -> bool:
    if isinstance(node, ast.Call) and node.args:
        node.args.pop()
        return True
    return False


def _wrong_keyword(node: ast.AST) -> bool:
    for keyword in node.keywords if isinstance(node, ast.Call) else ():
        if keyword.arg:
            keyword.arg += "_x"
            return True
    return False


def _no_fit(node: ast.AST) -> bool:
    """`Model().fit(X).predict(X)` without its fit."""
    for name in ("value", "func"):
        inner = getattr(node, name, None)
        if (
            isinstance(inner, ast.Call)
            and isinstance(inner.func, ast.Attribute)
            and inner.func.attr == "fit"
        ):
            setattr(node, name, inner.func.value)
            return True
    return False


def _text_as_operand(node: ast.AST) -> bool:
    if isinstance(node, ast.BinOp):
        node.right = ast.Constant("x")
        return True
    return False


def _called_object(node: ast.AST) -> bool:
    if (
        isinstance(node, ast.Subscript)
        and isinstance(node.ctx, ast.Load)
        and isinstance(node.value, ast.Name)
    ):
        node.value = ast.Call(node.value, [], [])
        return True
    return False


def _method_not_called(node: ast.AST) -> bool:
    for name in ("value", "left"):
        inner = getattr(node, name, None)
        if isinstance(node, (ast.Attribute, ast.Subscript, ast.BinOp)) and isinstance(
            inner, ast.Call
        ):
            setattr(node, name, inner.func)
            return True
    return False


def _arguments(node: ast.AST) -> list[ast.expr]:
    return (
        [*node.args, *(keyword.value for keyword in node.keywords)]
        if isinstance(node, ast.Call)
        else []
    )


CHANGES: dict[str, Change] = {
    "wrong label": _wrong_label,
    "index out of range": _index_out_of_range,
    "renamed variable": _renamed_variable,
    "misspelt attribute": _misspelt_attribute,
    "wrong text": _wrong_text,
    "wrong axis": _wrong_axis,
    "text for number": _text_for_number,
    "None for value": _none_for_value,
    "other size": _other_size,
    "shorter list": _shorter_list,
    "extra arguments": _extra_argument,
    "missing argument": _missing_argument,
    "wrong keyword": _wrong_keyword,
    "no fit": _no_fit,
    "text as operand": _text_as_operand,
    "called object": _called_object,
    "method not called": _method_not_called,
}
