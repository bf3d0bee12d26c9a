"""Functions of the notebook, followed with their arguments as Python binds them.

Knows plain functions, lambdas and methods. Refuses those that are decorated, that are generators or coroutines, and
calls inside calls beyond a depth.
"""

from __future__ import annotations

import ast
from collections.abc import Set
from functools import partial
from typing import Any

from crane_core.detectors.rules.abstract_value import AbstractValue, restricted
from crane_core.detectors.rules.bindings import bound_names
from crane_core.detectors.rules.finding import Crash
from crane_core.detectors.rules.heap import Scope, join, join_values, snapshot
from crane_core.detectors.rules.interpreter import RETURN, Context, ControlFlowExitError, Interpreter
from crane_core.detectors.rules.operation import Arguments

_DEEPEST = 4
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def follow(
    interpreter: Interpreter, function: AbstractValue, arguments: Arguments, node: ast.AST
) -> AbstractValue | None:
    """What a call of a function of the notebook gives; None if it cannot be followed. Raises Crash."""
    definition = function.definition
    if not isinstance(definition, _FUNCTIONS) or getattr(definition, "decorator_list", None):
        return None
    if isinstance(definition, ast.AsyncFunctionDef) or is_generator(definition):
        return AbstractValue("coroutine" if isinstance(definition, ast.AsyncFunctionDef) else "generator")
    positional = arguments.positional if function.bound_to is None else (function.bound_to, *arguments.positional)
    names = _bound(
        interpreter, definition, Arguments(positional, arguments.keywords, arguments.is_complete), function, node
    )
    if len(interpreter.calls) >= _DEEPEST or any(other is definition for other in interpreter.running):
        return None
    scope = _scope_of(definition, names, function)
    interpreter.calls.append(node)
    interpreter.running.append(definition)
    try:
        with interpreter.inside(Context((RETURN,))) as context, interpreter.within(scope):
            return _result(interpreter, definition, context)
    finally:
        interpreter.calls.pop()
        interpreter.running.pop()


def _result(interpreter: Interpreter, definition: Any, context: Context) -> AbstractValue:
    """Runs the body: what all paths return that return at all."""
    ends: list[AbstractValue] = []
    try:
        if isinstance(definition, ast.Lambda):
            ends.append(interpreter.value(definition.body))
        else:
            interpreter.body(definition.body)
            ends.append(AbstractValue("NoneType", literal=None))
    except ControlFlowExitError as leave:
        if leave.kind != RETURN:
            raise
        ends.append(leave.value)
    except Crash:
        if not context.left:
            raise
    if not context.left:
        return ends[0]
    join([*(snapshot(interpreter.scopes) for _ in ends), *(known for _, known, _ in context.left)])
    return join_values([*ends, *(value for *_, value in context.left)])


def _scope_of(definition: Any, names: dict[str, AbstractValue], function: AbstractValue) -> Scope:
    body = definition.body if isinstance(definition.body, list) else [definition.body]
    own = {name for part in body for name in bound_names(part)}
    declared = _declared(body)
    outer = function.scope
    elsewhere: dict[str, Scope | None] = {
        name: outer if is_nonlocal else None for name, is_nonlocal in declared.items()
    }
    local: dict[str, AbstractValue | None] = dict.fromkeys(sorted(own - declared.keys()))
    return Scope({**local, **names}, outer=outer, elsewhere=elsewhere)


def _declared(body: list[ast.AST]) -> dict[str, bool]:
    """Names declared global (False) or nonlocal (True), not in functions inside."""
    found: dict[str, bool] = {}
    waiting = list(body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            found.update(dict.fromkeys(node.names, isinstance(node, ast.Nonlocal)))
        if not isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            waiting += ast.iter_child_nodes(node)
    return found


def is_generator(definition: ast.AST) -> bool:
    waiting = list(ast.iter_child_nodes(definition))
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            waiting += ast.iter_child_nodes(node)
    return False


def _bound(
    interpreter: Interpreter, definition: Any, arguments: Arguments, function: AbstractValue, node: ast.AST
) -> dict[str, AbstractValue]:
    """The parameters with what they get. Raises Crash where the arguments do not fit."""
    spec: ast.arguments = definition.args
    ordered, allowed = _by_position(spec), _by_keyword(spec)
    if arguments.is_complete:
        _check(interpreter, definition, arguments, function, node)
    names = dict(zip(ordered, arguments.positional, strict=False)) | restricted(arguments.keywords, allowed)
    if not arguments.is_complete:
        given = len(arguments.positional)
        names |= {name: AbstractValue() for name in [*ordered[given:], *allowed] if name not in names}
    return {**_defaults(spec, function), **names, **_collected(spec, arguments)}


def _collected(spec: ast.arguments, arguments: Arguments) -> dict[str, AbstractValue]:
    """The parameters that take all further arguments, by position and by keyword, with what they get."""
    names, found = set(_by_keyword(spec)), {}
    extra = arguments.positional[len(_by_position(spec)) :]
    others = {name: value for name, value in arguments.keywords.items() if name not in names}
    if spec.vararg is not None:
        found[spec.vararg.arg] = AbstractValue("tuple", items=extra if arguments.is_complete else None)
    if spec.kwarg is not None:
        found[spec.kwarg.arg] = AbstractValue("dict", members=others if arguments.is_complete else None)
    return found


def _by_position(spec: ast.arguments) -> list[str]:
    return [argument.arg for argument in (*spec.posonlyargs, *spec.args)]


def _by_keyword(spec: ast.arguments) -> list[str]:
    return [argument.arg for argument in (*spec.args, *spec.kwonlyargs)]


def _defaults(spec: ast.arguments, function: AbstractValue) -> dict[str, AbstractValue]:
    """What parameters get by default. Those of the target were evaluated; of others only plain values are known."""
    ordered = _by_position(spec)
    pairs = list(zip(ordered[len(ordered) - len(spec.defaults) :], spec.defaults, strict=True))
    pairs += [
        (argument.arg, default)
        for argument, default in zip(spec.kwonlyargs, spec.kw_defaults, strict=True)
        if default is not None
    ]
    known = function.facts.get("defaults")
    if isinstance(known, list) and len(known) == len(pairs):
        return {name: value for (name, _), value in zip(pairs, known, strict=True)}
    return {name: _plain(default) for name, default in pairs}


def _plain(node: ast.expr) -> AbstractValue:
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        return AbstractValue()
    is_fixed = value is None or isinstance(value, (str, int, float, bool))
    return AbstractValue(type(value).__name__, literal=value) if is_fixed else AbstractValue()


def _check(
    interpreter: Interpreter, definition: Any, arguments: Arguments, function: AbstractValue, node: ast.AST
) -> None:
    """Say where arguments and parameters do not fit."""
    spec: ast.arguments = definition.args
    name = getattr(definition, "name", "the lambda")
    ordered, n_given = _by_position(spec), len(arguments.positional)
    n_bound = int(function.bound_to is not None)
    refuse = partial(interpreter.crash, node, "TypeError", fact=f"the notebook defines {name}({ast.unparse(spec)})")
    if spec.vararg is None and n_given > len(ordered):
        refuse(
            f"{name}() takes {len(ordered) - n_bound} positional arguments, {n_given - n_bound} are given",
            remedy=f"Pass the arguments that {name} takes.",
        )
    taken, accepted = set(ordered[:n_given]), set(_by_keyword(spec))
    for keyword in arguments.keywords:
        is_twice = keyword in taken and keyword in accepted
        if is_twice or keyword not in accepted and spec.kwarg is None:
            why = "is given twice" if is_twice else "is not one of its parameters"
            refuse(
                f"the argument {keyword} of {name}() {why}",
                remedy=f"Remove {keyword}, or use the intended parameter.",
            )
    if missing := ", ".join(_lacking(spec, taken | arguments.keywords.keys())):
        refuse(f"{name}() missing required arguments: {missing}", remedy=f"Pass {name} a value for {missing}.")


def _lacking(spec: ast.arguments, given: Set[str]) -> list[str]:
    """The parameters that get nothing and have no default."""
    ordered, only_named = _by_position(spec), zip(spec.kwonlyargs, spec.kw_defaults, strict=True)
    needed = ordered[: len(ordered) - len(spec.defaults)]
    needed += [argument.arg for argument, default in only_named if default is None]
    return [name for name in needed if name not in given]
