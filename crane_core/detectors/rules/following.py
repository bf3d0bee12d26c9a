"""Functions of the notebook, followed with their arguments as Python binds them.

Knows plain functions, lambdas and methods. Refuses those that are decorated, that are generators or coroutines, and
calls inside calls beyond a depth.
"""

import ast
from inspect import Parameter, Signature
from typing import Any

from crane_core.detectors.rules import harmless
from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.answer import Crash
from crane_core.detectors.rules.heap import Scope, join, join_values, snapshot
from crane_core.detectors.rules.interpreter import (
    RETURN,
    Context,
    ControlFlowExitError,
    Interpreter,
)
from crane_core.detectors.rules.operation import Arguments, signature_of
from crane_core.runtime.kernel_side.crane_probe.syntax.names import (
    is_generator,
    local_names,
    own_nodes,
)

_DEEPEST = 4
_COLLECTED: dict[Any, str] = {
    Parameter.VAR_POSITIONAL: "tuple",
    Parameter.VAR_KEYWORD: "dict",
}
"""What a parameter is that takes several arguments."""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def follow(
    interpreter: Interpreter,
    function: AbstractValue,
    arguments: Arguments,
    node: ast.AST,
) -> AbstractValue | None:
    """The result of a call of a function of the notebook; None if it cannot be followed. Raises Crash."""
    definition = function.definition
    # `@decorated` may replace the function: its own body raises, and the call returns 1.
    if not isinstance(definition, _FUNCTIONS) or getattr(
        definition, "decorator_list", None
    ):
        return None
    if isinstance(definition, ast.AsyncFunctionDef) or is_generator(definition):
        kind = (
            "coroutine"
            if isinstance(definition, ast.AsyncFunctionDef)
            else "generator"
        )
        # The arguments stay held: the first turn of `for row in rows_of(numbers)` changes them.
        return AbstractValue(
            kind,
            {"part_of": arguments.values},
            definition=definition,
            bound_to=function.bound_to,
        )
    try:
        names = _bound(interpreter, function, arguments, node)
    except ValueError:  # no Python compiles such parameters
        return None
    # `def f(n): return f(n + 1)` never ends, so a function inside of itself is not followed.
    if len(interpreter.calls) >= _DEEPEST or any(
        other is definition for other in interpreter.running
    ):
        return None
    scope = _scope_of(definition, names, function)
    interpreter.calls.append(node)
    interpreter.running.append(definition)
    try:
        with (
            interpreter.inside(Context((RETURN,))) as context,
            interpreter.memory.within(scope),
        ):
            return _result(interpreter, definition, context)
    finally:
        interpreter.calls.pop()
        interpreter.running.pop()


def _result(
    interpreter: Interpreter, definition: Any, context: Context
) -> AbstractValue:
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
        # A path that has returned before may be the right one: `if x in long: return 1`.
        if not context.left:
            raise
    if not context.left:
        return ends[0]
    join(
        [
            *(snapshot(interpreter.memory.scopes) for _ in ends),
            *(known for _, known, _ in context.left),
        ]
    )
    return join_values([*ends, *(value for *_, value in context.left)])


def _scope_of(
    definition: Any, names: dict[str, AbstractValue], function: AbstractValue
) -> Scope:
    elsewhere: dict[str, Scope | None] = {}
    for node in own_nodes(definition):
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            elsewhere |= dict.fromkeys(
                node.names,
                function.scope if isinstance(node, ast.Nonlocal) else None,
            )
    # Python decides by the whole body which names are local: a name that is read above its
    # assignment raises UnboundLocalError, although a global has the same name.
    local: dict[str, AbstractValue | None] = dict.fromkeys(
        sorted(local_names(definition))
    )
    return Scope({**local, **names}, outer=function.scope, elsewhere=elsewhere)


def _bound(
    interpreter: Interpreter,
    function: AbstractValue,
    arguments: Arguments,
    node: ast.AST,
) -> dict[str, AbstractValue]:
    """The parameters with what they get. Raises Crash where the arguments do not fit."""
    signature = signature_of(function.definition.args)
    positional = arguments.positional
    if function.bound_to is not None:
        positional = (function.bound_to, *positional)
    names = _defaults(signature, function)
    # With a star of unknown length, any number of arguments may fit, and any parameter get one.
    if not arguments.is_complete:
        handed = [*positional, *arguments.keywords.values()]
        for name, parameter in signature.parameters.items():
            names[name] = AbstractValue(_COLLECTED.get(parameter.kind, ""))
            harmless.link(names[name], handed)
        return names
    try:
        given = signature.bind(*positional, **arguments.keywords).arguments
    except TypeError as error:
        name = getattr(function.definition, "name", "the lambda")
        fact = f"the notebook defines {name}({ast.unparse(function.definition.args)})"
        remedy = f"Pass the arguments that {name} takes."
        interpreter.crash(
            node, "TypeError", f"{name}(): {error}", fact=fact, remedy=remedy
        )
    for name, parameter in signature.parameters.items():
        if parameter.kind is Parameter.VAR_POSITIONAL:
            names[name] = AbstractValue("tuple", items=given.get(name, ()))
        elif parameter.kind is Parameter.VAR_KEYWORD:
            names[name] = AbstractValue("dict", members=given.get(name, {}))
        elif name in given:
            names[name] = given[name]
    return names


def _defaults(
    signature: Signature, function: AbstractValue
) -> dict[str, AbstractValue]:
    """What parameters get by default. Those of the target were evaluated; of others only plain values are known."""
    parts = {
        name: part.default
        for name, part in signature.parameters.items()
        if part.default is not Parameter.empty
    }
    known = function.facts.get("defaults")
    if isinstance(known, list) and len(known) == len(parts):
        return dict(zip(parts, known, strict=True))
    return {name: _plain(default) for name, default in parts.items()}


def _plain(node: ast.expr) -> AbstractValue:
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        return AbstractValue()
    # A list as default keeps what earlier calls have appended: `def f(x, acc=[])`.
    is_fixed = value is None or isinstance(value, (str, int, float, bool))
    return (
        AbstractValue(type(value).__name__, literal=value)
        if is_fixed
        else AbstractValue()
    )
