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
                yield Broken(
                    kind, ast.unparse(ast.fix_missing_locations(other))
                )


def _wrong_label(node: ast.AST) -> bool:
    match node:
        case ast.Subscript(slice=ast.Constant(value=str()) as label):
            label.value += "_x"
            return True
    return False


def _index_out_of_range(node: ast.AST) -> bool:
    match node:
        case ast.Subscript(slice=ast.Constant() as index) if _is_integer(index):
            index.value += 1000
            return True
    return False


def _renamed_variable(node: ast.AST) -> bool:
    match node:
        case ast.Name(ctx=ast.Load()):
            node.id += "_old"
            return True
    return False


def _misspelt_attribute(node: ast.AST) -> bool:
    match node:
        case ast.Attribute(ctx=ast.Load()):
            node.attr += "_" if node.attr.endswith("s") else "s"
            return True
    return False


def _wrong_text(node: ast.AST) -> bool:
    """A text among the arguments: a column, a mode, a method."""
    for argument in _arguments(node):
        match argument:
            case ast.Constant(value=str(text)) if text:
                argument.value += "_x"
                return True
    return False


def _wrong_axis(node: ast.AST) -> bool:
    for keyword in _keywords(node):
        match keyword:
            case ast.keyword(arg="axis" | "dim", value=ast.Constant()):
                keyword.value = ast.Constant(7)
                return True
    return False


def _text_for_number(node: ast.AST) -> bool:
    for argument in _arguments(node):
        if isinstance(argument, ast.Constant) and type(argument.value) in (
            int,
            float,
        ):
            argument.value = "three"
            return True
    return False


def _none_for_value(node: ast.AST) -> bool:
    match node:
        case ast.Attribute(value=ast.Name(), ctx=ast.Load()):
            node.value = ast.Constant(None)
            return True
    return False


def _other_size(node: ast.AST) -> bool:
    """A size among the arguments: of a layer, a new shape, a range."""
    for argument in _arguments(node):
        sizes = argument.elts if isinstance(argument, ast.Tuple) else [argument]
        for size in sizes:
            if isinstance(size, ast.Constant) and _is_integer(size):
                size.value += 1
                return True
    return False


def _shorter_list(node: ast.AST) -> bool:
    for argument in _arguments(node):
        match argument:
            case ast.List(elts=[_, _, *_] as items):
                items.pop()
                return True
    return False


def _extra_argument(node: ast.AST) -> bool:
    match node:
        case ast.Call(args=arguments):
            arguments += [ast.Constant(number) for number in (1, 2, 3)]
            return True
    return False


def _missing_argument(node: ast.AST) -> bool:
    match node:
        case ast.Call(args=[_, *_] as arguments):
            arguments.pop()
            return True
    return False


def _wrong_keyword(node: ast.AST) -> bool:
    for keyword in _keywords(node):
        if keyword.arg:
            keyword.arg += "_x"
            return True
    return False


def _no_fit(node: ast.AST) -> bool:
    """`Model().fit(X).predict(X)` without its fit."""
    for name in ("value", "func"):
        match getattr(node, name, None):
            case ast.Call(func=ast.Attribute(value=model, attr="fit")):
                setattr(node, name, model)
                return True
    return False


def _text_as_operand(node: ast.AST) -> bool:
    match node:
        case ast.BinOp():
            node.right = ast.Constant("x")
            return True
    return False


def _called_object(node: ast.AST) -> bool:
    match node:
        case ast.Subscript(value=ast.Name() as named, ctx=ast.Load()):
            node.value = ast.Call(named, [], [])
            return True
    return False


def _method_not_called(node: ast.AST) -> bool:
    if not isinstance(node, (ast.Attribute, ast.Subscript, ast.BinOp)):
        return False
    for name in ("value", "left"):
        match getattr(node, name, None):
            case ast.Call(func=method):
                setattr(node, name, method)
                return True
    return False


def _is_integer(constant: ast.Constant) -> bool:
    """Not a boolean, which Python counts among integers."""
    return type(constant.value) is int


def _keywords(node: ast.AST) -> list[ast.keyword]:
    return node.keywords if isinstance(node, ast.Call) else []


def _arguments(node: ast.AST) -> list[ast.expr]:
    values = [keyword.value for keyword in _keywords(node)]
    return [*node.args, *values] if isinstance(node, ast.Call) else []


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
