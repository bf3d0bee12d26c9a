"""How calls are evaluated: of library functions, methods, functions and classes of the notebook.

Knows what a call hands over and what it may change. Functions of the notebook are followed with their arguments.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from contextlib import suppress

from crane_core.detectors.rules import harmless
from crane_core.detectors.rules.finding import Crash
from crane_core.detectors.rules.following import follow
from crane_core.detectors.rules.heap import reachable
from crane_core.detectors.rules.site import Arguments
from crane_core.detectors.rules.thing import Thing
from crane_core.detectors.rules.walk import EndError, Walk, expression
from crane_core.detectors.rules.walk_classes import (
    QUIET_BASES,
    base_member,
    called_object,
    instance,
    is_not_callable,
    is_super,
    member,
    refuse_absent,
)
from crane_core.detectors.rules.walk_expressions import attribute, part_of
from crane_core.detectors.rules.walk_unpacking import iterate

_ENDS = ("builtins.exit", "builtins.quit", "sys.exit", "os._exit", "os.abort")
_DEFINES_ANY = ("builtins.exec", "builtins.eval", "builtins.globals", "builtins.vars", "builtins.locals")
_MOST_HELD = 50
_CALLERS = frozenset(["functools.reduce", *(f"builtins.{name}" for name in ("map", "filter", "sorted", "min", "max"))])
_CONSUMERS = frozenset(f"builtins.{name}" for name in ("sum", "list", "tuple", "set", "sorted", "max", "min", "dict"))


@expression(ast.Call)
def _call(walk: Walk, node: ast.Call) -> Thing:
    if isinstance(node.func, ast.Attribute):
        if is_super(node.func.value) and (told := of_bases(walk, node.func, node)) is not None:
            return told
        receiver = walk.value(node.func.value)
        return _method(walk, receiver, node.func, node)
    function = walk.value(node.func)
    if function.path in _CONSUMERS and len(node.args) == 1 and isinstance(node.args[0], ast.GeneratorExp):
        from crane_core.detectors.rules.walk_loops import comprehended

        every = comprehended(walk, node.args[0])
        keywords = arguments_of(walk, ast.Call(node.func, [], node.keywords)).keywords
        return call_thing(walk, function, Arguments((every,), keywords), node)
    told = call_thing(walk, function, arguments_of(walk, node), node)
    for part in node.args:
        if isinstance(part, ast.GeneratorExp) and any(isinstance(inner, ast.Call) for inner in ast.walk(part)):
            walk.forget(_mentioned(walk, part))
    return told


def _mentioned(walk: Walk, node: ast.AST) -> list[Thing]:
    """What the names of a piece of code stand for: a generator may change these when somebody asks for elements."""
    found = []
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            with suppress(Crash):
                found.append(walk.name(part.id, part))
    return found


def of_bases(walk: Walk, func: ast.Attribute, node: ast.Call) -> Thing | None:
    """`super().method(...)`; None if it is not known what that is."""
    found = base_member(walk, func.attr)
    if isinstance(found, Thing):
        return followed(walk, found, arguments_of(walk, node), node)
    if found is None or func.attr != "__init__" or not found <= QUIET_BASES:
        return None
    arguments_of(walk, node)
    return Thing("NoneType", literal=None)


def arguments_of(walk: Walk, node: ast.Call) -> Arguments:
    """What a call hands over, in the order in which Python evaluates it."""
    positional: list[Thing] = []
    keywords: dict[str, Thing] = {}
    is_complete = True
    for part in node.args:
        if isinstance(part, ast.Starred):
            every = iterate(walk, walk.value(part.value), part).every
            is_complete = is_complete and every is not None
            positional += every or ()
        else:
            positional.append(walk.value(part))
    for keyword in node.keywords:
        thing = walk.value(keyword.value)
        if keyword.arg is not None:
            keywords[keyword.arg] = thing
        elif thing.members is not None and all(isinstance(key, str) for key in thing.members):
            keywords.update(thing.members)
        else:
            is_complete = False
    return Arguments(tuple(positional), keywords, is_complete)


def _method(walk: Walk, receiver: Thing, func: ast.Attribute, node: ast.Call) -> Thing:
    """A call of something's attribute: a function of a module, a method of an object."""
    if receiver.path and receiver.definition is None:
        function = attribute(walk, receiver, func.attr, func)
        return call_thing(walk, function, arguments_of(walk, node), node)
    held = receiver.attributes.get(func.attr)
    if held is not None and (held.type or held.is_foreign) and not _is_bare_function(held):
        return call_thing(walk, held, arguments_of(walk, node), node)
    if (own := member(walk, receiver, func.attr)) is not None:
        return call_thing(walk, own, arguments_of(walk, node), node)
    refuse_absent(walk, receiver, func.attr, func)
    walk.ask("attribute", receiver, func.attr, func, receiver=receiver)
    arguments = arguments_of(walk, node)
    return call_method(walk, receiver, func.attr, arguments, node)


def _is_bare_function(thing: Thing) -> bool:
    """A function of which the state tells no more, as libraries keep them in objects: rules of the method know more."""
    return thing.type in ("function", "method") and thing.definition is None and not thing.path


def call_method(walk: Walk, receiver: Thing, name: str, arguments: Arguments, node: ast.AST) -> Thing:
    """A method that is not code of the notebook."""
    before = facts_of([receiver, *given(arguments)])
    told = walk.ask("method", receiver, name, node, receiver=receiver, arguments=arguments)
    if told is None and not harmless.method_changes_nothing(receiver, name, arguments):
        _nobody_knows(walk, [receiver, *given(arguments)])
    shake_changed(walk, before)
    return told if told is not None else part_of(receiver, _result_of(receiver, name))


def _result_of(receiver: Thing, name: str) -> str:
    return f"the result of {receiver.words}.{name}(...)" if receiver.words else ""


def call_thing(walk: Walk, function: Thing, arguments: Arguments, node: ast.AST) -> Thing:
    """A call of whatever stands before the parentheses."""
    if function.bound_to is not None and function.definition is None and not function.path:
        return _of_bound(walk, function, arguments, node)
    if function.definition is not None:
        if function.type in ("type", "abc.ABCMeta", "") and isinstance(function.definition, ast.ClassDef):
            return instance(walk, function, arguments, node)
        if function.type in ("function", "method", "") and not isinstance(function.definition, ast.ClassDef):
            return followed(walk, function, arguments, node)
    if function.path and function.type != "module":
        return _library(walk, function, arguments, node)
    if function.package == "__main__" and (own := called_object(walk, function)) is not None:
        return followed(walk, own, arguments, node)
    if function.package == "__main__" and is_not_callable(walk, function):
        walk.crash(
            node,
            "TypeError",
            f"an object of {function.class_name} is not callable",
            fact=f"the notebook's class {function.class_name} has no __call__",
            remedy="Call one of its methods, or give the class a __call__.",
        )
    return _object(walk, function, arguments, node)


def _of_bound(walk: Walk, function: Thing, arguments: Arguments, node: ast.AST) -> Thing:
    """`f = frame.head; f(2)`: only the name of the method is not kept, so nothing is known of the call."""
    _nobody_knows(walk, [function, *given(arguments)])
    return Thing()


def followed(walk: Walk, function: Thing, arguments: Arguments, node: ast.AST) -> Thing:
    told = follow(walk, function, arguments, node)
    if told is None:
        walk.havoc()
        walk.forget(given(arguments))
    return told if told is not None else Thing()


def _library(walk: Walk, function: Thing, arguments: Arguments, node: ast.AST) -> Thing:
    if function.path in _ENDS:
        raise EndError
    before = facts_of(given(arguments))
    told = walk.ask("call", function.path, "", node, receiver=function, arguments=arguments)
    if function.path in _DEFINES_ANY and told is None:
        walk.havoc()
    elif told is None and not harmless.function_changes_nothing(function.path, arguments):
        _nobody_knows(walk, given(arguments))
    if told is not None:
        _called_back(walk, function.path, given(arguments))
    shake_changed(walk, before)
    return told if told is not None else _foreign_of(given(arguments), complete=arguments.is_complete)


def _called_back(walk: Walk, path: str, things: Iterable[Thing]) -> None:
    """A function that the rules know may run functions that it was given: `map(fill, rows)`."""
    if walk.world.reach is None:
        return
    for thing in things:
        if thing.type in ("function", "method") and not thing.path and thing.definition is not None:
            walk.forget_mentioned(thing.definition)
        if path in _CALLERS and thing.bound_to is not None and not thing.type:
            walk.forget([thing.bound_to])


def _foreign_of(things: Iterable[Thing], *, complete: bool) -> Thing:
    """What a library's function gives of which no more is known; it may hold what the function was given."""
    things = list(things)
    held = [thing for thing in things if _can_be_held(thing)]
    made = Thing("", {"part_of": held[:_MOST_HELD]} if held else {})
    made.is_foreign = complete and all(_runs_no_code(thing) for thing in reachable(things))
    return made


def _can_be_held(thing: Thing) -> bool:
    is_fixed = thing.type in harmless.IMMUTABLE and thing.items is None
    return not (thing.path or is_fixed or harmless.may_share_memory(thing))


def _runs_no_code(thing: Thing) -> bool:
    """Whether a thing certainly is not code of the notebook, and has none."""
    if not thing.type and not thing.path:
        return thing.is_foreign
    is_opened = thing.items is not None or thing.members is not None or thing.is_literal
    is_closed = thing.type in ("list", "tuple", "dict", "set") and not is_opened
    return not harmless.may_run_notebook_code(thing) and not is_closed


def _object(walk: Walk, function: Thing, arguments: Arguments, node: ast.AST) -> Thing:
    """A call of an object: what its type makes of it."""
    before = facts_of([function, *given(arguments)])
    told = walk.ask("method", function, "__call__", node, receiver=function, arguments=arguments)
    if told is None:
        is_quiet = function.is_foreign and all(_runs_no_code(thing) for thing in reachable(given(arguments)))
        if function.type in ("", "function", "method") and not is_quiet or function.package == "__main__":
            walk.havoc()
        _nobody_knows(walk, [function, *given(arguments)])
    shake_changed(walk, before)
    return told if told is not None else Thing()


def _nobody_knows(walk: Walk, things: Iterable[Thing]) -> None:
    """A call that nobody knows: what it was given may change, and what the functions that it was given touch."""
    things = list(things)
    _entrust(things)
    walk.forget(things)
    for thing in things:
        if harmless.may_run_notebook_code(thing):
            run_back(walk, thing)


def _entrust(things: list[Thing]) -> None:
    """A library's object that may have been given code of the notebook may run it later."""
    if not all(_runs_no_code(thing) for thing in reachable(things)):
        for thing in things:
            thing.is_foreign = False


def run_back(walk: Walk, thing: Thing) -> None:
    """A function of the notebook may be called, nobody knows how: what it mentions may change."""
    if thing.definition is None or thing.type.startswith("__main__") or walk.world.reach is not None:
        walk.havoc()
        return
    if any(isinstance(part, (ast.Global, ast.Nonlocal)) for part in ast.walk(thing.definition)):
        walk.havoc()
        return
    names = {part.id for part in ast.walk(thing.definition) if isinstance(part, ast.Name)}
    for scope in (walk.module, walk.scope):
        walk.forget(known for name in names if (known := scope.names.get(name)) is not None)


def given(arguments: Arguments) -> list[Thing]:
    return [*arguments.positional, *arguments.keywords.values()]


def facts_of(things: Iterable[Thing]) -> list[tuple[Thing, dict[str, object]]]:
    """Arrays with their facts before a step, to see whether it changed them."""
    return [(thing, dict(thing.facts)) for thing in things if harmless.may_share_memory(thing)]


def shake_changed(walk: Walk, before: Iterable[tuple[Thing, dict[str, object]]]) -> None:
    """What a rule has changed in place may be seen through other names, and attributes told before are out of date."""
    for thing, facts in before:
        if thing.facts != facts:
            thing.attributes = {}
            walk.shake(thing)


__all__ = ["arguments_of", "call_method", "call_thing", "facts_of", "given", "shake_changed"]
