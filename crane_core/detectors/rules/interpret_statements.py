"""How statements are run: assignments, branches, definitions, imports, what ends a path.

Knows the order of Python's statements. Loops stand in interpret_loops.py, try and with in interpret_guards.py.
"""

import ast
import builtins

from crane_core.detectors.rules import (
    bindings,
    interpret_classes,
    interpret_expressions,
)
from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.answer import Crash
from crane_core.detectors.rules.heap import Scope
from crane_core.detectors.rules.interpret_unpacking import unpack
from crane_core.detectors.rules.interpreter import (
    BREAK,
    CONTINUE,
    RETURN,
    ControlFlowExitError,
    GiveUpError,
    Interpreter,
    statement,
)
from crane_core.detectors.rules.operation import Arguments
from crane_core.runtime.kernel_side.crane_probe.syntax.names import (
    bound_names,
    parts_in_scope,
)


@statement(ast.Expr)
def _expression(interpreter: Interpreter, node: ast.Expr) -> None:
    # What `%run other.py` or an unknown magic became when the cell was read.
    if (
        isinstance(node.value, ast.Name)
        and node.value.id == bindings.UNKNOWN_EFFECT
    ):
        interpreter.memory.havoc()
        return
    interpreter.value(node.value)


@statement(ast.Assign)
def _assign(interpreter: Interpreter, node: ast.Assign) -> None:
    unknown = node.value.id if isinstance(node.value, ast.Name) else ""
    if unknown == bindings.UNKNOWN_EFFECT:
        interpreter.memory.havoc()
    value = (
        AbstractValue()
        # `files = !ls` changes nothing else, but its result is not known.
        if unknown in (bindings.UNKNOWN_EFFECT, bindings.UNKNOWN_VALUE)
        else interpreter.value(node.value)
    )
    for target in node.targets:
        assign(interpreter, target, value)


@statement(ast.AnnAssign)
def _annotated(interpreter: Interpreter, node: ast.AnnAssign) -> None:
    # The annotation is left alone: in a function Python does not evaluate it, and in quotes it
    # may name anything (`y: 'undefined_name' = 2`).
    if node.value is not None:
        assign(interpreter, node.target, interpreter.value(node.value))


def assign(
    interpreter: Interpreter, target: ast.expr, value: AbstractValue
) -> None:
    """Give a name, an attribute, an item, or several of them a value."""
    match target:
        case ast.Name():
            interpreter.memory.bind(target.id, value)
        case ast.Tuple() | ast.List():
            unpack(interpreter, target, value, assign)
        case ast.Attribute():
            _store_attribute(
                interpreter, interpreter.value(target.value), target, value
            )
        case ast.Subscript():
            receiver = interpreter.value(target.value)
            store_item(
                interpreter,
                receiver,
                interpreter.value(target.slice),
                value,
                target,
            )
        case ast.Starred():
            assign(interpreter, target.value, value)


# `thread.name = 3` reads as '3' afterwards, and `np.ma` replaces `fill_value = None`.
# A crash derived from the value that was stored would not come.
_KEEP_WHAT_THEY_GET = frozenset(
    ["__main__", "abc", "argparse", "sklearn", "torch", "torchvision", "types"]
)
"""Packages whose objects keep what an attribute is set to; those of others may have a property for it."""


def _store_attribute(
    interpreter: Interpreter,
    receiver: AbstractValue,
    target: ast.Attribute,
    value: AbstractValue,
) -> None:
    # After `loud.__class__ = dict` or `DataFrame.extra = f`, no class here is what it was.
    if _is_patched(receiver, value) or target.attr == "__class__":
        raise GiveUpError
    known = interpreter.ask(
        "set_attribute",
        receiver,
        target.attr,
        target,
        arguments=Arguments((value,)),
    )
    # `frame.index.name = 'key'` changes the frame, of whose index no type may be known.
    if (
        known is None
        and receiver.package != "__main__"
        and interpret_expressions.changes(receiver)
    ):
        interpreter.memory.forget(
            [receiver, *_whole(interpreter, receiver, target.value)]
        )
    if not _keeps_what_it_gets(interpreter, receiver, target.attr):
        receiver.attributes.pop(target.attr, None)
    elif not receiver.path:
        receiver.attributes[target.attr] = value
        receiver.is_foreign = False


def _keeps_what_it_gets(
    interpreter: Interpreter, receiver: AbstractValue, name: str
) -> bool:
    """Whether an attribute is what it was set to: nothing of its class may be a property, descriptor or hook for it."""
    if not isinstance(definition := receiver.definition, ast.ClassDef):
        return receiver.package in _KEEP_WHAT_THEY_GET
    classes, paths = interpret_classes.lineage(interpreter, definition)
    are_known = (
        not definition.bases
        or paths is not None
        and {path.partition(".")[0] for path in paths} <= _KEEP_WHAT_THEY_GET
    )
    return (
        are_known
        and not interpret_classes.has_hooks(classes)
        and all(map(_is_plain, interpret_classes.members(classes, name)))
    )


def _is_plain(statement: ast.stmt) -> bool:
    """Whether a class has a plain value or method by a name, which an object's own attribute hides."""
    # A class attribute made by a call may be a descriptor with `__set__` (`kept = Text()`).
    if isinstance(statement, ast.Assign | ast.AnnAssign):
        return statement.value is None or isinstance(
            statement.value, ast.Constant
        )
    return (
        isinstance(statement, ast.FunctionDef) and not statement.decorator_list
    )


def _is_patched(receiver: AbstractValue, value: AbstractValue) -> bool:
    """Code of a library or class is replaced: from here on its objects are others than they were."""
    is_class = isinstance(
        receiver.definition, ast.ClassDef
    ) and not receiver.type.startswith("__main__.")
    is_code = (
        bool(value.path)
        or value.definition is not None
        or value.type in ("", "function", "method", "property")
    )
    return (
        is_class
        or receiver.path == "builtins"
        or bool(receiver.path)
        and is_code
    )


def _whole(
    interpreter: Interpreter, part: AbstractValue, node: ast.expr
) -> list[AbstractValue]:
    """What a part of unknown type was taken from by name: `frame` of `frame.index`."""
    if part.type:
        return []
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    whole = interpreter.memory.known_name(node)
    return (
        [whole]
        if whole is not None and whole is not part and not whole.path
        else []
    )


def store_item(
    interpreter: Interpreter,
    receiver: AbstractValue,
    index: AbstractValue,
    value: AbstractValue,
    target: ast.AST,
) -> None:
    """Perform `receiver[index] = value`. Raises Crash."""
    known = interpreter.ask(
        "set_item", receiver, "", target, arguments=Arguments((index, value))
    )
    if known is None and interpret_expressions.changes(receiver):
        held_in = (
            _whole(interpreter, receiver, target.value)
            if isinstance(target, ast.Subscript)
            else []
        )
        interpreter.memory.forget([receiver, *held_in])


@statement(ast.AugAssign)
def _augmented(interpreter: Interpreter, node: ast.AugAssign) -> None:
    symbol = interpret_expressions.OPERATORS[type(node.op)]
    match node.target:
        case ast.Name(id=name):
            left = interpreter.value(node.target)
            interpreter.memory.bind(
                name,
                _computed(interpreter, left, symbol, node),
            )
        case ast.Attribute() as target:
            receiver = interpreter.value(target.value)
            left = interpret_expressions.attribute(
                interpreter, receiver, target.attr, target
            )
            value = _computed(interpreter, left, symbol, node)
            _store_attribute(interpreter, receiver, target, value)
        # Python evaluates receiver and index once: `rows[next(places)] += 1`.
        case ast.Subscript() as target:
            receiver, index = (
                interpreter.value(target.value),
                interpreter.value(target.slice),
            )
            left = interpret_expressions.item(
                interpreter, receiver, index, target
            )
            value = _computed(interpreter, left, symbol, node)
            store_item(interpreter, receiver, index, value, target)


def _computed(
    interpreter: Interpreter,
    left: AbstractValue,
    symbol: str,
    node: ast.AugAssign,
) -> AbstractValue:
    """The result of `left += right`: by the rules of "+=" if there are any, else of "+"; the left may change."""
    right = interpreter.value(node.value)
    known = interpreter.ask(
        "operator", left, f"{symbol}=", node, arguments=Arguments((right,))
    )
    if known is None:
        try:
            known = interpret_expressions.evaluate_operator(
                interpreter, symbol, [left, right], node
            )
        except Crash as crash:
            if left.package == "torch" and crash.exception not in (
                "RuntimeError",
                "TypeError",
            ):
                raise GiveUpError from None  # a leaf that requires a gradient is refused before, in place
            raise
        # Other names of the object see it: `loud += 1` runs `__iadd__`, which appends to `calls`.
        if interpret_expressions.changes(left) and left.type not in (
            "int",
            "float",
            "str",
            "tuple",
            "bool",
        ):
            interpreter.memory.forget([left])
    return known


@statement(ast.Delete)
def _delete(interpreter: Interpreter, node: ast.Delete) -> None:
    for target in node.targets:
        match target:
            case ast.Name(id=name):
                interpreter.name(name, target)
                interpreter.memory.unbind(name)
            case ast.Subscript():
                receiver, index = (
                    interpreter.value(target.value),
                    interpreter.value(target.slice),
                )
                known = interpreter.ask(
                    "del_item",
                    receiver,
                    "",
                    target,
                    arguments=Arguments((index,)),
                )
                if known is None:
                    interpreter.memory.forget([receiver])
            case ast.Attribute():
                receiver = interpreter.value(target.value)
                receiver.attributes.pop(target.attr, None)
                # `del box.rows` may run a __delattr__ of the notebook.
                interpreter.memory.forget([receiver])


@statement(ast.If)
def _if(interpreter: Interpreter, node: ast.If) -> None:
    known = interpret_expressions.condition(interpreter, node.test)
    if known is not None:
        interpreter.body(node.body if known else node.orelse)
        return
    interpreter.branches(
        [
            lambda: interpreter.body(node.body),
            lambda: interpreter.body(node.orelse),
        ]
    )


@statement(ast.Pass, ast.Global, ast.Nonlocal)
def _nothing(interpreter: Interpreter, node: ast.stmt) -> None:
    """Does nothing when it runs; a class may declare names too, which is rare."""
    # `class K: global last; last = 0` binds a global name, which no scope here follows.
    if interpreter.memory.scope.is_class and not isinstance(node, ast.Pass):
        raise GiveUpError


@statement(ast.Return)
def _return(interpreter: Interpreter, node: ast.Return) -> None:
    raise ControlFlowExitError(RETURN, interpreter.value(node.value))


@statement(ast.Break)
def _break(interpreter: Interpreter, node: ast.Break) -> None:
    raise ControlFlowExitError(BREAK, AbstractValue())


@statement(ast.Continue)
def _continue(interpreter: Interpreter, node: ast.Continue) -> None:
    raise ControlFlowExitError(CONTINUE, AbstractValue())


@statement(ast.Raise)
def _raise(interpreter: Interpreter, node: ast.Raise) -> None:
    interpreter.value(node.exc)
    named = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
    match interpreter.memory.known_name(named) if named is not None else None:
        case AbstractValue(
            # Only with an empty body: an own `__init__` may refuse the arguments,
            # and `raise Own()` is then a TypeError.
            definition=ast.ClassDef(
                name=name, bases=[_, *_], body=[ast.Pass() | ast.Expr()]
            )
        ):
            pass
        case AbstractValue(path=path):
            name = path.rpartition(".")[2]
            # `raise IOError('x')` raises OSError, of which IOError is another name.
            name = (
                getattr(vars(builtins)[name], "__name__", "")
                if name in vars(builtins)
                else name
            )
        case _:
            name = ""
    # SystemExit ends a cell without an error. `raise err` raises an object whose class is not
    # known, and `raise NotImplemented` is a TypeError.
    if name in ("SystemExit", "KeyboardInterrupt") or not name[:1].isupper():
        raise GiveUpError
    fact, remedy = (
        "every path leads to this statement",
        "Handle the case before it, or remove the statement.",
    )
    interpreter.crash(
        node, name, f"the code raises {name} here", fact=fact, remedy=remedy
    )


@statement(ast.Assert)
def _assert(interpreter: Interpreter, node: ast.Assert) -> None:
    known = interpret_expressions.condition(interpreter, node.test)
    if known is False:
        # The message is evaluated first: `assert n == 6, rec['nope']` raises KeyError.
        interpreter.value(node.msg)
        remedy = "Correct the value, or the assertion."
        why = f"{ast.unparse(node.test)} is false"
        interpreter.crash(
            node,
            "AssertionError",
            why,
            fact="its parts are known",
            remedy=remedy,
        )
    # An assertion may raise first, so no class is certain behind `assert df.a.sum() > 100`.
    if known is None:
        raise GiveUpError


@statement(ast.FunctionDef, ast.AsyncFunctionDef)
def _define(
    interpreter: Interpreter, node: ast.FunctionDef | ast.AsyncFunctionDef
) -> None:
    parts = [interpreter.value(part) for part in parts_in_scope(node)]
    n_decorators = len(node.decorator_list)
    decorators, defaults = parts[:n_decorators], parts[n_decorators:]
    # `@kept def more(): ...` runs `kept` now, which may append to a list of the notebook.
    interpreter.memory.run_back(decorators)
    plain = AbstractValue(
        "function",
        {"defaults": defaults},
        definition=node,
        scope=interpret_expressions.seen_from(interpreter),
        words=node.name,
    )
    # A decorated name may be anything: `@decorated` of the tests returns a lambda that returns 1.
    interpreter.memory.bind(
        node.name, AbstractValue(words=node.name) if decorators else plain
    )


@statement(ast.ClassDef)
def _define_class(interpreter: Interpreter, node: ast.ClassDef) -> None:
    parts = parts_in_scope(node)
    # `class J(K):` runs `K.__init_subclass__`, and `a = K()` in its body `__set_name__`.
    interpreter.memory.run_back([interpreter.value(part) for part in parts])
    outer = interpret_expressions.seen_from(interpreter)
    with interpreter.memory.within(Scope(outer=outer, is_class=True)):
        interpreter.body(node.body)
    kind = AbstractValue("type", definition=node, words=node.name)
    interpreter.memory.bind(
        node.name,
        kind
        # A decorator or a metaclass may make anything of the class.
        if not node.decorator_list and not node.keywords
        else AbstractValue(words=node.name),
    )


@statement(ast.Import, ast.ImportFrom)
def _import(
    interpreter: Interpreter, node: ast.Import | ast.ImportFrom
) -> None:
    for name, path in bindings.import_paths(node).items():
        interpreter.memory.bind(name, _imported(node, path))
    # A star may bind every name, and hide a builtin: `from math import *` brings `pow`.
    if any(alias.name == "*" for alias in node.names):
        interpreter.memory.havoc()
    elif isinstance(node, ast.ImportFrom) and (node.level or not node.module):
        for alias in node.names:
            interpreter.memory.bind(alias.asname or alias.name, AbstractValue())


def _imported(node: ast.Import | ast.ImportFrom, path: str) -> AbstractValue:
    return (
        AbstractValue("module", path=path, words=path)
        if isinstance(node, ast.Import)
        else interpret_expressions.of_path(path)
    )


@statement(ast.Match)
def _match(interpreter: Interpreter, node: ast.Match) -> None:
    """Which case fits is not known; each may run, or none."""
    interpreter.value(node.subject)
    for case in node.cases:
        for name in bound_names(case.pattern):
            interpreter.memory.bind(name, AbstractValue())
    interpreter.branches(
        [
            *(
                (lambda case=case: interpreter.body(case.body))
                for case in node.cases
            ),
            lambda: None,
        ]
    )
