"""What a piece of code names, by its syntax tree: the names that it assigns, parameters, and what it calls.

Shared by the probe, which reads what a target needs of the kernel, and by the rules, which interpret it.
"""

from __future__ import annotations

import ast
from typing import Any, Iterable, Iterator

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DEFINITIONS = (*FUNCTIONS, ast.ClassDef)
HAS_ITS_OWN_NAMES = (*DEFINITIONS, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
# By the names of their types, as those of `match` are of Python 3.10.
_HOLD_A_TEXT = ("ExceptHandler", "MatchAs", "MatchStar", "MatchMapping")
"""Nodes that give a name a value and spell it as a text."""


def bound_names(*nodes: ast.AST) -> Iterator[str]:
    """The names that statements assign or delete, in their scope."""
    for node in nodes:
        for part in nodes_in_scope(node):
            yield from names_bound_here(part)


def names_bound_here(node: ast.AST) -> Iterator[str]:
    """The names that a node alone assigns, deletes, defines or imports; what is inside it is left out."""
    if isinstance(node, DEFINITIONS):
        yield node.name
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        yield from map(name_of_import, node.names)
    elif isinstance(node, ast.Name):
        if not isinstance(node.ctx, ast.Load):
            yield node.id
    elif type(node).__name__ in _HOLD_A_TEXT:
        # Of a mapping in a pattern the rest gets the name.
        name = getattr(node, "name", None) or getattr(node, "rest", None)
        if name is not None:
            yield name


def name_of_import(alias: ast.alias) -> str:
    """The name that an import binds: `import a.b` binds `a`."""
    return alias.asname or alias.name.partition(".")[0]


def nodes_in_scope(node: ast.AST) -> Iterator[ast.AST]:
    """A node and what is inside it, but for what has a separate scope."""
    yield node
    for part in parts_in_scope(node):
        yield from nodes_in_scope(part)


def parts_in_scope(node: Any) -> Iterable[Any]:
    """The parts that run in its scope; of a comprehension only := binds names in that."""
    if isinstance(node, ast.ClassDef):
        return [
            *node.decorator_list,
            *node.bases,
            *(keyword.value for keyword in node.keywords),
        ]
    if isinstance(node, FUNCTIONS):
        # Defaults and decorators are evaluated where the function is defined, its body is not.
        return [
            *node.decorator_list,
            *node.args.defaults,
            *filter(None, node.args.kw_defaults),
        ]
    if isinstance(node, _COMPREHENSIONS):
        return [
            inner.target
            for inner in ast.walk(node)
            if isinstance(inner, ast.NamedExpr)
        ]
    return () if isinstance(node, ast.Lambda) else ast.iter_child_nodes(node)


def own_nodes(definition: Any) -> Iterator[ast.AST]:
    """The nodes of the body of a function or class that are in its own scope."""
    body = definition.body
    for statement in body if isinstance(body, list) else [body]:
        yield from nodes_in_scope(statement)


def local_names(definition: Any) -> frozenset[str]:
    """The names of its own scope: parameters and what its body assigns, but for names that it declares of another."""
    given: set[str] = set()
    declared: set[str] = set()
    for node in own_nodes(definition):
        given.update(names_bound_here(node))
        # `global x` in a function binds the name of the module.
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            declared.update(node.names)
    return frozenset({*parameters(definition), *(given - declared)})


def is_generator(definition: Any) -> bool:
    """Whether a function has a `yield`, those of functions inside it left out."""
    return any(
        isinstance(node, (ast.Yield, ast.YieldFrom))
        for node in own_nodes(definition)
    )


def by_position(node: Any) -> list[Any]:
    """The parameters that may be given by position; Python 3.7 wrote no trees of those that must be."""
    return [*getattr(node.args, "posonlyargs", []), *node.args.args]


def parameters(node: Any) -> tuple[str, ...]:
    """The names of a function's parameters, in order; those that take the rest last. A class has none."""
    if isinstance(node, ast.ClassDef):
        return ()
    arguments = node.args
    named = [*by_position(node), *arguments.kwonlyargs]
    rest = [arguments.vararg, arguments.kwarg]
    return tuple(
        argument.arg for argument in [*named, *rest] if argument is not None
    )


def called_name(node: Any) -> str:
    """The last part of the name of what is called, or of a name."""
    node = node.func if isinstance(node, ast.Call) else node
    return str(getattr(node, "attr", getattr(node, "id", "")))


def arguments_of(call: ast.Call) -> list[ast.expr]:
    """By position and by name."""
    return [*call.args, *(keyword.value for keyword in call.keywords)]
