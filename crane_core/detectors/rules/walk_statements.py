"""How statements are run: assignments, branches, definitions, imports, what ends a way.

Knows the order of Python's statements. Loops stand in walk_loops.py, try and with in walk_guards.py.
"""

from __future__ import annotations

import ast

from crane_core.detectors.rules import harmless
from crane_core.detectors.rules.bindings import UNKNOWN_EFFECT, UNKNOWN_VALUE, bound_names, import_paths
from crane_core.detectors.rules.heap import Scope
from crane_core.detectors.rules.site import Arguments
from crane_core.detectors.rules.thing import Thing
from crane_core.detectors.rules.walk import BREAK, CONTINUE, RETURN, EndError, LeaveError, Walk, statement
from crane_core.detectors.rules.walk_calls import facts_of, shake_changed
from crane_core.detectors.rules.walk_expressions import (
    OPERATORS,
    attribute,
    changes,
    item,
    operation,
    truth,
)
from crane_core.detectors.rules.walk_unpacking import unpack


@statement(ast.Expr)
def _expression(walk: Walk, node: ast.Expr) -> None:
    if isinstance(node.value, ast.Name) and node.value.id == UNKNOWN_EFFECT:
        walk.havoc()
        return
    walk.value(node.value)


@statement(ast.Assign)
def _assign(walk: Walk, node: ast.Assign) -> None:
    unknown = node.value.id if isinstance(node.value, ast.Name) else ""
    if unknown == UNKNOWN_EFFECT:
        walk.havoc()
    thing = Thing() if unknown in (UNKNOWN_EFFECT, UNKNOWN_VALUE) else walk.value(node.value)
    for target in node.targets:
        assign(walk, target, thing)


@statement(ast.AnnAssign)
def _annotated(walk: Walk, node: ast.AnnAssign) -> None:
    if node.value is not None:
        assign(walk, node.target, walk.value(node.value))


def assign(walk: Walk, target: ast.expr, thing: Thing) -> None:
    """Give a name, an attribute, an item, or several of them a value."""
    match target:
        case ast.Name():
            walk.bind(target.id, thing)
        case ast.Tuple() | ast.List():
            unpack(walk, target, thing, assign)
        case ast.Attribute():
            _store_attribute(walk, walk.value(target.value), target, thing)
        case ast.Subscript():
            receiver = walk.value(target.value)
            store_item(walk, receiver, walk.value(target.slice), thing, target)
        case ast.Starred():
            assign(walk, target.value, thing)


_TURN_WHAT_THEY_GET = frozenset(["builtins", "numpy", "pandas", "scipy", "matplotlib", "tensorflow", "datetime", "PIL"])
"""Libraries whose objects give another value for an attribute than was stored: a column for a list."""


def _store_attribute(walk: Walk, receiver: Thing, target: ast.Attribute, thing: Thing) -> None:
    if _is_patched(receiver, thing):
        raise EndError
    before = facts_of([receiver])
    told = walk.ask("set_attribute", receiver, target.attr, target, receiver=receiver, arguments=Arguments((thing,)))
    if told is None and receiver.package != "__main__" and changes(receiver):
        walk.forget([receiver, *_whole(walk, receiver, target.value)])
    shake_changed(walk, before)
    if receiver.package in _TURN_WHAT_THEY_GET:
        receiver.attributes.pop(target.attr, None)
    elif not receiver.path:
        receiver.attributes[target.attr] = thing
        receiver.is_foreign = False


def _is_patched(receiver: Thing, thing: Thing) -> bool:
    """Code of a library or class is replaced: from here on its objects are others than they were."""
    is_class = isinstance(receiver.definition, ast.ClassDef) and not receiver.type.startswith("__main__.")
    is_code = bool(thing.path) or thing.definition is not None or thing.type in ("", "function", "method", "property")
    return is_class or receiver.path == "builtins" or bool(receiver.path) and is_code


def _whole(walk: Walk, part: Thing, node: ast.expr) -> list[Thing]:
    """What a part of unknown type was taken from by name: `frame` of `frame.index`."""
    if part.type:
        return []
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    whole = walk.known_name(node)
    return [whole] if whole is not None and whole is not part and not whole.path else []


def store_item(walk: Walk, receiver: Thing, index: Thing, thing: Thing, target: ast.AST) -> None:
    before = facts_of([receiver])
    told = walk.ask("set_item", receiver, "", target, receiver=receiver, arguments=Arguments((index, thing)))
    if told is None and changes(receiver):
        held_in = _whole(walk, receiver, target.value) if isinstance(target, ast.Subscript) else []
        walk.forget([receiver, *held_in])
    shake_changed(walk, before)


@statement(ast.AugAssign)
def _augmented(walk: Walk, node: ast.AugAssign) -> None:
    symbol = OPERATORS[type(node.op)]
    match node.target:
        case ast.Name(id=name):
            left = walk.name(name, node.target)
            _in_place(walk, left, walk.value(node.value), symbol, node, lambda thing: walk.bind(name, thing))
        case ast.Attribute() as target:
            receiver = walk.value(target.value)
            left = attribute(walk, receiver, target.attr, target)
            thing = _computed(walk, left, walk.value(node.value), symbol, node)
            _store_attribute(walk, receiver, target, thing)
        case ast.Subscript() as target:
            receiver, index = walk.value(target.value), walk.value(target.slice)
            left = item(walk, receiver, index, target)
            thing = _computed(walk, left, walk.value(node.value), symbol, node)
            store_item(walk, receiver, index, thing, target)


def _in_place(walk: Walk, left: Thing, right: Thing, symbol: str, node: ast.AugAssign, bind: object) -> None:
    thing = _computed(walk, left, right, symbol, node)
    if callable(bind):
        bind(thing)


def _computed(walk: Walk, left: Thing, right: Thing, symbol: str, node: ast.AugAssign) -> Thing:
    """What `left += right` gives: the rules of "+=" where there are some, else those of "+"; the left may change."""
    told = walk.ask("operator", left, f"{symbol}=", node, receiver=left, arguments=Arguments((right,)))
    if told is None:
        told = operation(walk, symbol, [left, right], node)
        if changes(left) and left.type not in ("int", "float", "str", "tuple", "bool"):
            walk.forget([left])
    return told


@statement(ast.Delete)
def _delete(walk: Walk, node: ast.Delete) -> None:
    for target in node.targets:
        match target:
            case ast.Name(id=name):
                walk.name(name, target)
                walk.unbind(name)
            case ast.Subscript():
                receiver, index = walk.value(target.value), walk.value(target.slice)
                told = walk.ask("del_item", receiver, "", target, receiver=receiver, arguments=Arguments((index,)))
                if told is None:
                    walk.forget([receiver])
            case ast.Attribute():
                receiver = walk.value(target.value)
                receiver.attributes.pop(target.attr, None)
                walk.forget([receiver])


@statement(ast.If)
def _if(walk: Walk, node: ast.If) -> None:
    known = truth(walk, walk.value(node.test), node.test)
    if known is not None:
        walk.body(node.body if known else node.orelse)
        return
    walk.ways([lambda: walk.body(node.body), lambda: walk.body(node.orelse)])


@statement(ast.Pass, ast.Global, ast.Nonlocal)
def _nothing(walk: Walk, node: ast.stmt) -> None:
    """Does nothing when it runs."""


@statement(ast.Return)
def _return(walk: Walk, node: ast.Return) -> None:
    raise LeaveError(RETURN, walk.value(node.value))


@statement(ast.Break)
def _break(walk: Walk, node: ast.Break) -> None:
    raise LeaveError(BREAK, Thing())


@statement(ast.Continue)
def _continue(walk: Walk, node: ast.Continue) -> None:
    raise LeaveError(CONTINUE, Thing())


@statement(ast.Raise)
def _raise(walk: Walk, node: ast.Raise) -> None:
    raised = "an exception"
    if node.exc is None and walk.handled and (crash := walk.handled[-1]) is not None:
        raise crash
    if node.exc is not None:
        walk.value(node.exc)
        named = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        raised = named.id if isinstance(named, ast.Name) else named.attr if isinstance(named, ast.Attribute) else raised
    name = raised if raised != "an exception" else "Exception"
    if name in ("SystemExit", "KeyboardInterrupt"):
        from crane_core.detectors.rules.walk import EndError

        raise EndError
    walk.crash(
        node,
        name,
        f"the code raises {raised} here",
        fact="every path leads to this statement",
        remedy="Handle the case before it, or remove the statement.",
    )


@statement(ast.Assert)
def _assert(walk: Walk, node: ast.Assert) -> None:
    known = truth(walk, walk.value(node.test), node.test)
    if known is False:
        walk.crash(
            node,
            "AssertionError",
            f"{ast.unparse(node.test)} is false",
            fact="its parts are known",
            remedy="Correct the value, or the assertion.",
        )


@statement(ast.FunctionDef, ast.AsyncFunctionDef)
def _define(walk: Walk, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    decorators = [walk.value(decorator) for decorator in node.decorator_list]
    parts = [*node.args.defaults, *(part for part in node.args.kw_defaults if part is not None)]
    defaults = [walk.value(part) for part in parts]
    scope = None if walk.scope is walk.module else walk.scope
    plain = Thing("function", {"defaults": defaults}, definition=node, scope=scope, words=node.name)
    walk.bind(node.name, Thing(words=node.name) if decorators else plain)


@statement(ast.ClassDef)
def _define_class(walk: Walk, node: ast.ClassDef) -> None:
    for part in [*node.decorator_list, *node.bases, *(keyword.value for keyword in node.keywords)]:
        walk.value(part)
    names = {name for part in node.body for name in bound_names(part)}
    with walk.within(Scope(outer=walk.scope if walk.scope is not walk.module else None, is_class=True)) as scope:
        walk.body(node.body)
    attributes = {
        name: thing
        for name in names
        if (thing := scope.names.get(name)) is not None and not _is_function(thing) and not node.bases
        if thing.type in harmless.IMMUTABLE or not changes(thing)
    }
    kind = Thing("type", definition=node, attributes=attributes, words=node.name)
    walk.bind(node.name, kind if not node.decorator_list and not node.keywords else Thing(words=node.name))


def _is_function(thing: Thing) -> bool:
    return thing.type == "function" or thing.definition is not None


@statement(ast.Import, ast.ImportFrom)
def _import(walk: Walk, node: ast.Import | ast.ImportFrom) -> None:
    for name, path in import_paths(node).items():
        walk.bind(name, _imported(node, path))
    if any(alias.name == "*" for alias in node.names):
        walk.havoc()
    elif isinstance(node, ast.ImportFrom) and (node.level or not node.module):
        for alias in node.names:
            walk.bind(alias.asname or alias.name, Thing())


def _imported(node: ast.Import | ast.ImportFrom, path: str) -> Thing:
    from crane_core.detectors.rules.walk_expressions import of_path

    return Thing("module", path=path, words=path) if isinstance(node, ast.Import) else of_path(path)


@statement(ast.Match)
def _match(walk: Walk, node: ast.Match) -> None:
    """Which case fits is not known; each may run, or none."""
    walk.value(node.subject)
    for case in node.cases:
        for name in bound_names(case.pattern):
            walk.bind(name, Thing())
    walk.ways([*((lambda case=case: walk.body(case.body)) for case in node.cases), lambda: None])
