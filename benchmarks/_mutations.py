"""Code broken in the ways in which cells of notebooks break: a wrong label, a renamed variable, a wrong shape, no fit.

Knows syntax alone. Whether the broken code raises at all is seen by running it.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator
from typing import Any, NamedTuple


class Broken(NamedTuple):
    """The code after one change, and the name of the change."""

    kind: str
    code: str


class Edit(NamedTuple):
    """A change of one field of one node of the syntax tree."""

    kind: str
    node: ast.AST
    field: str
    value: Any


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
    edits = [edit for node in ast.walk(tree) for edit in _edits(node)]
    for edit in edits:
        before = getattr(edit.node, edit.field)
        setattr(edit.node, edit.field, edit.value)
        yield Broken(edit.kind, ast.unparse(tree))
        setattr(edit.node, edit.field, before)


def _edits(node: ast.AST) -> Iterator[Edit]:
    match node:
        case ast.Subscript():
            yield from _of_subscript(node)
        case ast.Name(ctx=ast.Load()):
            yield Edit("renamed variable", node, "id", f"{node.id}_old")
        case ast.Attribute(ctx=ast.Load()):
            ending = "_" if node.attr.endswith("s") else "s"
            yield Edit("misspelt attribute", node, "attr", node.attr + ending)
            yield from _of_holder(node)
        case ast.Call():
            yield from _of_call(node)
        case ast.BinOp():
            yield Edit("text as operand", node, "right", ast.Constant("x"))


def _of_holder(node: ast.Attribute) -> Iterator[Edit]:
    """`Model().fit(X).predict(X)` without its fit; a method that is used and was not called."""
    match node.value:
        case ast.Name():
            yield Edit("None for value", node, "value", ast.Constant(None))
        case ast.Call(func=ast.Attribute(value=model, attr="fit")):
            yield Edit("no fit", node, "value", model)
        case ast.Call(func=method):
            yield Edit("method not called", node, "value", method)


def _of_subscript(node: ast.Subscript) -> Iterator[Edit]:
    match node.slice:
        case ast.Constant(value=str(label)):
            yield Edit("wrong label", node.slice, "value", f"{label}_x")
        case ast.Constant(value=place) if _is_integer(place):
            yield Edit("index out of range", node.slice, "value", place + 1000)
    match node:
        case ast.Subscript(value=ast.Name() as named, ctx=ast.Load()):
            called = ast.Call(named, [], [])
            yield Edit("called object", node, "value", called)


def _of_call(node: ast.Call) -> Iterator[Edit]:
    extra = [ast.Constant(number) for number in (1, 2, 3)]
    yield Edit("extra arguments", node, "args", [*node.args, *extra])
    if node.args:
        yield Edit("missing argument", node, "args", node.args[:-1])
    for keyword in node.keywords:
        if keyword.arg:
            yield Edit("wrong keyword", keyword, "arg", f"{keyword.arg}_x")
        match keyword:
            case ast.keyword(arg="axis" | "dim", value=ast.Constant()):
                yield Edit("wrong axis", keyword, "value", ast.Constant(7))
    values = [keyword.value for keyword in node.keywords]
    for argument in [*node.args, *values]:
        yield from _of_argument(argument)


def _of_argument(argument: ast.expr) -> Iterator[Edit]:
    """A text is a column, a mode or a method; a number the size of a layer, a new shape or a range."""
    sizes = argument.elts if isinstance(argument, ast.Tuple) else [argument]
    for size in sizes:
        match size:
            case ast.Constant(value=number) if _is_integer(number):
                yield Edit("other size", size, "value", number + 1)
    match argument:
        case ast.Constant(value=str(text)) if text:
            yield Edit("wrong text", argument, "value", f"{text}_x")
        case ast.Constant(value=value) if type(value) in (int, float):
            yield Edit("text for number", argument, "value", "three")
        case ast.List(elts=[_, _, *_] as items):
            yield Edit("shorter list", argument, "elts", items[:-1])


def _is_integer(value: Any) -> bool:
    """Not a boolean, which Python counts among integers."""
    return type(value) is int
