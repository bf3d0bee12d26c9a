"""Functions of the notebook, followed with their arguments as Python binds them.

Knows plain functions, lambdas and methods. Refuses those that are decorated, that are generators or coroutines, and
calls inside calls beyond a depth.
"""

from __future__ import annotations

import ast
from typing import Any

from crane_core.detectors.rules.abstract_value import AbstractValue
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
    ends: list[tuple[Any, AbstractValue]] = []
    try:
        if isinstance(definition, ast.Lambda):
            ends.append((None, interpreter.value(definition.body)))
        else:
            interpreter.body(definition.body)
            ends.append((None, AbstractValue("NoneType", literal=None)))
    except ControlFlowExitError as leave:
        if leave.kind != RETURN:
            raise
        ends.append((None, leave.value))
    except Crash:
        if not context.left:
            raise
    if not context.left:
        return ends[0][1]
    snapshots = [snapshot(interpreter.scopes) for _ in ends] + [known for _, known, _ in context.left]
    join(snapshots)
    return join_values([value for _, value in ends] + [value for *_, value in context.left])


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
    ordered = [argument.arg for argument in (*spec.posonlyargs, *spec.args)]
    names: dict[str, AbstractValue] = dict(zip(ordered, arguments.positional, strict=False))
    extra = arguments.positional[len(ordered) :]
    keywords = dict(arguments.keywords)
    if arguments.is_complete:
        _check(interpreter, definition, arguments, function, node)
    allowed = {argument.arg for argument in (*spec.args, *spec.kwonlyargs)}
    names.update({name: keywords.pop(name) for name in list(keywords) if name in allowed})
    if spec.vararg is not None:
        names[spec.vararg.arg] = AbstractValue("tuple", items=extra if arguments.is_complete else None)
    if spec.kwarg is not None:
        names[spec.kwarg.arg] = AbstractValue("dict", members=keywords if arguments.is_complete else None)
    if not arguments.is_complete:
        given = len(arguments.positional)
        names.update({name: AbstractValue() for name in [*ordered[given:], *allowed] if name not in names})
    return {**_defaults(spec, function), **names}


def _defaults(spec: ast.arguments, function: AbstractValue) -> dict[str, AbstractValue]:
    """What parameters get by default. Those of the target were evaluated; of others only plain values are known."""
    ordered = [argument.arg for argument in (*spec.posonlyargs, *spec.args)]
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
    ordered = [argument.arg for argument in (*spec.posonlyargs, *spec.args)]
    n_bound = 0 if function.bound_to is None else 1
    written = f"{name}({ast.unparse(spec)})"
    if spec.vararg is None and len(arguments.positional) > len(ordered):
        interpreter.crash(
            node,
            "TypeError",
            f"{name}() takes {len(ordered) - n_bound} positional arguments, {len(arguments.positional) - n_bound} are"
            " given",
            fact=f"the notebook defines {written}",
            remedy=f"Pass the arguments that {name} takes.",
        )
    taken = set(ordered[: len(arguments.positional)])
    accepted = {argument.arg for argument in (*spec.args, *spec.kwonlyargs)}
    for keyword in arguments.keywords:
        is_twice = keyword in taken and keyword in accepted
        if is_twice or keyword not in accepted and spec.kwarg is None:
            why = "is given twice" if is_twice else "is not one of its parameters"
            interpreter.crash(
                node,
                "TypeError",
                f"the argument {keyword} of {name}() {why}",
                fact=f"the notebook defines {written}",
                remedy=f"Remove {keyword}, or use the intended parameter.",
            )
    _check_missing(interpreter, definition, taken | set(arguments.keywords), written, node)


def _check_missing(interpreter: Interpreter, definition: Any, given: set[str], written: str, node: ast.AST) -> None:
    spec: ast.arguments = definition.args
    ordered = [argument.arg for argument in (*spec.posonlyargs, *spec.args)]
    needed = ordered[: len(ordered) - len(spec.defaults)]
    needed += [
        argument.arg for argument, default in zip(spec.kwonlyargs, spec.kw_defaults, strict=True) if default is None
    ]
    missing = [name for name in needed if name not in given]
    if missing:
        name = getattr(definition, "name", "the lambda")
        interpreter.crash(
            node,
            "TypeError",
            f"{name}() missing required arguments: {', '.join(missing)}",
            fact=f"the notebook defines {written}",
            remedy=f"Pass {name} a value for {', '.join(missing)}.",
        )
