"""How calls are evaluated: of library functions, methods, functions and classes of the notebook.

Knows what a call hands over and what it may change. Functions of the notebook are followed with their arguments.
"""

import ast
from collections.abc import Iterable

from crane_core.detectors.rules import (
    harmless,
    interpret_classes,
    interpret_expressions,
)
from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.extending import may_extend
from crane_core.detectors.rules.following import follow
from crane_core.detectors.rules.heap import reachable
from crane_core.detectors.rules.interpret_loops import comprehended
from crane_core.detectors.rules.interpreter import (
    Callee,
    GiveUpError,
    Interpreter,
    call_of,
    expression,
)
from crane_core.detectors.rules.operation import Arguments

# The cell ends here on purpose: what follows is never reached, so no crash in it comes.
_ENDS = ("builtins.exit", "builtins.quit", "sys.exit", "os._exit", "os.abort")
_LOADS_AGAIN = (
    "importlib.reload",
    "imp.reload",
    "runpy.run_path",
    "runpy.run_module",
    "code.interact",
)
"""Functions that run files of which nothing is known here; a reloaded one may be another than was imported."""
# `globals()['made'] = 1` and `exec` assign names that no statement spells.
_DEFINES_ANY = (
    "builtins.exec",
    "builtins.eval",
    "builtins.globals",
    "builtins.vars",
    "builtins.locals",
)
# These take every element, so `list(row['x'] for row in rows)` raises on its own line.
# `any` and `all` are left out: they stop early, as in `any(x == 3 or x.missing for x in rows)`.
_CONSUMERS = frozenset(
    f"builtins.{name}"
    for name in ("sum", "list", "tuple", "set", "sorted", "max", "min", "dict")
)


@expression(ast.Call)
def _call(interpreter: Interpreter, node: ast.Call) -> AbstractValue:
    given = _called(interpreter, node)
    interpreter.memory.let_others_act()
    return given


def _called(interpreter: Interpreter, node: ast.Call) -> AbstractValue:
    interpreter.results.pop(node, None)
    if not isinstance(node.func, ast.Attribute):
        return _plain_call(interpreter, interpreter.value(node.func), node)
    if interpret_classes.is_super(node.func.value):
        return _of_bases(
            interpreter, node.func.attr, arguments_of(interpreter, node)
        )
    receiver = interpreter.value(node.func.value)
    return _method(interpreter, receiver, node.func, node)


def _of_bases(
    interpreter: Interpreter, name: str, arguments: Arguments
) -> AbstractValue:
    """`super().name(...)`: it is not followed, but the __init__ of some libraries' classes runs nothing."""
    if name == "__init__" and interpret_classes.has_quiet_bases(interpreter):
        return AbstractValue("NoneType", literal=None)
    # Not followed on purpose: `super().grow()` may append to the list that the next line indexes.
    interpreter.memory.havoc(arguments.values)
    return AbstractValue()


def _plain_call(
    interpreter: Interpreter, function: AbstractValue, node: ast.Call
) -> AbstractValue:
    if (
        function.path in _CONSUMERS
        and len(node.args) == 1
        and isinstance(node.args[0], ast.GeneratorExp)
    ):
        every = comprehended(interpreter, node.args[0])
        keywords = arguments_of(
            interpreter, ast.Call(node.func, [], node.keywords)
        ).keywords
        return interpreter.call(function, Arguments((every,), keywords), node)
    return interpreter.call(function, arguments_of(interpreter, node), node)


def arguments_of(interpreter: Interpreter, node: ast.Call) -> Arguments:
    """What a call hands over, in the order in which Python evaluates it."""
    positional, is_complete = interpret_expressions.known_elements(
        interpreter, node.args
    )
    keywords: dict[str, AbstractValue] = {}
    for keyword in node.keywords:
        value = interpreter.value(keyword.value)
        if keyword.arg is not None:
            keywords[keyword.arg] = value
        elif value.members is not None and all(
            isinstance(key, str) for key in value.members
        ):
            keywords.update(value.members)
        else:
            is_complete = False
    return Arguments(tuple(positional), keywords, is_complete)


def _method(
    interpreter: Interpreter,
    receiver: AbstractValue,
    func: ast.Attribute,
    node: ast.Call,
) -> AbstractValue:
    """A call of something's attribute: a function of a module, a method of an object."""
    if receiver.path and receiver.definition is None:
        function = interpret_expressions.attribute(
            interpreter, receiver, func.attr, func
        )
        return interpreter.call(function, arguments_of(interpreter, node), node)
    held = receiver.attributes.get(func.attr)
    # An attribute that was set on the object hides the method of its class.
    if (
        held is not None
        and (held.type or held.is_foreign)
        and not _is_bare_function(held)
    ):
        return interpreter.call(held, arguments_of(interpreter, node), node)
    if (
        own := interpret_classes.member(interpreter, receiver, func.attr)
    ) is not None:
        return interpreter.call(own, arguments_of(interpreter, node), node)
    # Before the arguments, as Python looks a method up first: `rows.push(absent)` lacks `push`.
    interpret_classes.refuse_absent(interpreter, receiver, func.attr, func)
    interpreter.ask("attribute", receiver, func.attr, func)
    arguments = arguments_of(interpreter, node)
    return call_method(interpreter, receiver, func.attr, arguments, node)


def _is_bare_function(value: AbstractValue) -> bool:
    """A function of which the state tells no more, as libraries keep them in objects: rules of the method know more."""
    return (
        value.type in ("function", "method")
        and value.definition is None
        and not value.path
    )


def call_method(
    interpreter: Interpreter,
    receiver: AbstractValue,
    name: str,
    arguments: Arguments,
    node: ast.AST,
) -> AbstractValue:
    """A method that is not code of the notebook."""
    known = interpreter.ask("method", receiver, name, node, arguments=arguments)
    if known is None and not harmless.method_changes_nothing(
        receiver, name, arguments
    ):
        _forget_escaped(interpreter, [receiver, *arguments.values])
    # The result may be a part of the object: `made.get(key).append(3)` changes what `made` holds.
    return (
        known
        if known is not None
        else interpret_expressions.part_of(receiver, _result_of(receiver, name))
    )


def _result_of(receiver: AbstractValue, name: str) -> str:
    return (
        f"the result of {receiver.words}.{name}(...)" if receiver.words else ""
    )


@call_of(Callee.BOUND_METHOD)
def _of_bound(
    interpreter: Interpreter,
    function: AbstractValue,
    arguments: Arguments,
    node: ast.AST,
) -> AbstractValue:
    """`f = frame.head; f(2)`: only the name of the method is not kept, so nothing is known of the call."""
    # `p = lst.append; p(4)` changes the list, without naming it.
    interpreter.memory.run_back(arguments.values)
    _forget_escaped(interpreter, [function, *arguments.values])
    return AbstractValue()


@call_of(Callee.FUNCTION)
def followed(
    interpreter: Interpreter,
    function: AbstractValue,
    arguments: Arguments,
    node: ast.AST,
) -> AbstractValue:
    """The result of a call of a function of the notebook. Raises Crash.

    If it cannot be followed, the result is unknown, and so is all that it may change.
    """
    known = follow(interpreter, function, arguments, node)
    # A decorator, `__new__` or `suppress` may keep a function's crash from the cell.
    # So nothing is concluded from its body, and all that it may have changed is unknown.
    if known is None:
        interpreter.memory.havoc(arguments.values)
    return known if known is not None else AbstractValue()


@call_of(Callee.LIBRARY)
def _library(
    interpreter: Interpreter,
    function: AbstractValue,
    arguments: Arguments,
    node: ast.AST,
) -> AbstractValue:
    if function.path in (*_ENDS, *_LOADS_AGAIN):
        raise GiveUpError
    known = interpreter.ask(
        "call", function.path, "", node, receiver=function, arguments=arguments
    )
    if function.path in _DEFINES_ANY and known is None:
        interpreter.memory.havoc()
    elif known is None and may_extend([function.path]):
        # A file beside the notebook, or a package that is not known: it may do anything.
        interpreter.memory.havoc(arguments.values)
    elif known is None and not harmless.function_changes_nothing(
        function.path, arguments
    ):
        _forget_escaped(interpreter, arguments.values)
    return (
        known
        if known is not None
        else _foreign_of(arguments.values, complete=arguments.is_complete)
    )


def _foreign_of(
    values: Iterable[AbstractValue], *, complete: bool
) -> AbstractValue:
    """The result of a library's function, of which no more is known; it may hold what the function was given."""
    values = list(values)
    made = AbstractValue()
    harmless.link(made, values)
    # `functools.partial(rows.append, 1)` is made by a library and still runs code of the notebook.
    made.is_foreign = complete and all(
        _runs_no_code(value) for value in reachable(values)
    )
    return made


def _runs_no_code(value: AbstractValue) -> bool:
    """Whether a value certainly is not code of the notebook, and has none."""
    if not value.type and not value.path:
        return value.is_foreign
    # A list of unknown elements may hold functions: `fillers = [rows.append]; fillers[0](1)`.
    is_opened = (
        value.items is not None or value.members is not None or value.is_literal
    )
    is_closed = value.type in ("list", "tuple", "dict", "set") and not is_opened
    return not harmless.may_run_notebook_code(value) and not is_closed


@call_of(Callee.OWN_OBJECT)
def _own_object(
    interpreter: Interpreter,
    function: AbstractValue,
    arguments: Arguments,
    node: ast.AST,
) -> AbstractValue:
    """A call of an object of the notebook's classes: its __call__."""
    own = interpret_classes.called_object(interpreter, function)
    if own is not None:
        return followed(interpreter, own, arguments, node)
    return _object(interpreter, function, arguments, node)


@call_of(Callee.OBJECT)
def _object(
    interpreter: Interpreter,
    function: AbstractValue,
    arguments: Arguments,
    node: ast.AST,
) -> AbstractValue:
    """A call of an object: what its type makes of it."""
    known = interpreter.ask(
        "method", function, "__call__", node, arguments=arguments
    )
    if known is None:
        is_quiet = function.is_foreign and all(
            _runs_no_code(value) for value in reachable(arguments.values)
        )
        # It may be a function of the notebook by another name: `adder = add_col`, `fillers[0]`.
        if (
            function.type in ("", "function", "method")
            and not is_quiet
            or function.package == "__main__"
        ):
            interpreter.memory.havoc()
        _forget_escaped(interpreter, [function, *arguments.values])
    return known if known is not None else AbstractValue()


def _forget_escaped(
    interpreter: Interpreter, values: Iterable[AbstractValue]
) -> None:
    """An unknown call: its arguments may change, and anything where it may run code that is not seen."""
    values = list(values)
    _mark_may_call_back(values)
    interpreter.memory.forget(values)
    if any(
        harmless.may_run_notebook_code(value) and not _is_seen(value)
        for value in values
    ):
        interpreter.memory.havoc()


def _mark_may_call_back(values: list[AbstractValue]) -> None:
    """A library's object that may have been given code of the notebook may run it later."""
    # `functools.partial(lambda each: each.on_end(), Seen())()` runs a method when it is called.
    if not all(_runs_no_code(value) for value in reachable(values)):
        for value in values:
            value.is_foreign = False


def _is_seen(value: AbstractValue) -> bool:
    """Whether what a function of the notebook may change is known: it is forgotten wherever the function is given."""
    return value.definition is not None and value.package != "__main__"
