"""How try and with are run: what may catch an exception, and what is known after a part of a body has run."""

import ast
from functools import partial

from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.answer import Crash
from crane_core.detectors.rules.heap import BranchWatch, widen
from crane_core.detectors.rules.interpret_statements import assign
from crane_core.detectors.rules.interpreter import (
    ControlFlowExitError,
    GiveUpError,
    Interpreter,
    statement,
)
from crane_core.runtime.kernel_side.crane_probe.syntax.names import (
    bound_names,
    called_name,
)

# Packages whose context managers hold no exception back.
# An unknown manager may: `with Open():` returns True from `__exit__`, and the cell runs on.
_LETS_PASS_WORDS = (
    "builtins torch tensorflow keras numpy pandas matplotlib seaborn warnings zipfile tarfile gzip bz2 "
    "lzma tqdm PIL h5py sklearn joblib mlflow tempfile multiprocessing concurrent sqlite3 requests "
    "urllib time io os pathlib threading _io rasterio netCDF4 xarray scipy transformers accelerate "
    "optuna dask pyspark strategy"
)
_LETS_PASS = frozenset(_LETS_PASS_WORDS.split())
# Not all of contextlib, as `suppress` and `ExitStack` are in it.
_MANAGERS = tuple(
    f"contextlib.{name}"
    for name in ("redirect_stdout", "redirect_stderr", "nullcontext", "closing")
)
# `with Output():` of ipywidgets shows the exception in the widget, and the cell goes on.
_SUPPRESSES = ("Output", "ExitStack")
_LEAVES = (ast.Return, ast.Break, ast.Continue)


@statement(ast.Try)
def _try(interpreter: Interpreter, node: ast.Try) -> None:
    # A `return` or `break` in `finally` drops the exception that was on its way.
    if any(
        isinstance(part, _LEAVES)
        for last in node.finalbody
        for part in ast.walk(last)
    ):
        raise GiveUpError
    try:
        _guarded(interpreter, node)
    except (ControlFlowExitError, Crash):
        interpreter.body(node.finalbody)
        raise
    interpreter.body(node.finalbody)


@statement(ast.TryStar)
def _try_star(interpreter: Interpreter, node: ast.TryStar) -> None:
    raise GiveUpError


def _guarded(interpreter: Interpreter, node: ast.Try) -> None:
    body = [*node.body, *node.orelse]
    if not node.handlers:
        interpreter.body(body)
        return
    watch = BranchWatch(interpreter.memory.scopes)
    names = list(bound_names(*body))
    branches = [partial(_watched, interpreter, body, watch)]
    branches += [
        partial(_handled, interpreter, handler, watch, names)
        for handler in node.handlers
    ]
    try:
        interpreter.branches(branches)
    except Crash:  # of several exceptions, nobody knows which leaves
        raise GiveUpError from None


def _watched(
    interpreter: Interpreter, body: list[ast.stmt], watch: BranchWatch
) -> None:
    """Runs the body and looks after each statement inside what has changed."""
    interpreter.watches.append(watch)
    try:
        interpreter.body(body)
    finally:
        interpreter.watches.pop()
        watch.look(interpreter.memory.scopes)


def _handled(
    interpreter: Interpreter,
    handler: ast.ExceptHandler,
    watch: BranchWatch,
    names: list[str],
) -> None:
    # The exception may come after any statement of the body, so the handler starts with what all
    # of them may have changed.
    widen(watch, names, interpreter.memory.scope)
    if handler.name:
        interpreter.memory.bind(handler.name, AbstractValue())
    interpreter.body(handler.body)
    if handler.name:
        # Python deletes the name when the handler ends: `error` is a NameError behind it.
        interpreter.memory.unbind(handler.name)


@statement(ast.With, ast.AsyncWith)
def _with(interpreter: Interpreter, node: ast.With | ast.AsyncWith) -> None:
    if isinstance(node, ast.AsyncWith):
        raise GiveUpError
    may_suppress = False
    for part in node.items:
        manager = interpreter.value(part.context_expr)
        may_suppress = may_suppress or not _lets_pass(
            interpreter, part.context_expr, manager
        )
        if part.optional_vars is not None:
            assign(
                interpreter,
                part.optional_vars,
                _entered(interpreter, manager, part.context_expr),
            )
    if not may_suppress:
        interpreter.body(node.body)
        return
    watch = BranchWatch(interpreter.memory.scopes)
    names = list(bound_names(*node.body))
    interpreter.branches(
        [
            lambda: _watched(interpreter, node.body, watch),
            lambda: widen(watch, names, interpreter.memory.scope),
        ]
    )


def _entered(
    interpreter: Interpreter, manager: AbstractValue, node: ast.AST
) -> AbstractValue:
    known = interpreter.ask("method", manager, "__enter__", node)
    if known is not None:
        return known
    return manager if manager.package == "_io" else AbstractValue()


def _is_named_for_suppressing(node: ast.AST) -> bool:
    name = called_name(node)
    # By its name, as such helpers come from anywhere: `pytest.raises`, `assertRaises`.
    return name in _SUPPRESSES or any(
        word in name.lower() for word in ("raises", "suppress")
    )


def _lets_pass(
    interpreter: Interpreter, node: ast.expr, manager: AbstractValue
) -> bool:
    """Whether exceptions certainly leave the block: the manager is of a library that is known not to hold them."""
    if _is_named_for_suppressing(node):
        return False
    if manager.package in _LETS_PASS:
        return True
    called = node.func if isinstance(node, ast.Call) else node
    known = interpreter.memory.known_name(called)
    path = known.path if known is not None else ""
    if path:
        return path.partition(".")[0] in _LETS_PASS or path in _MANAGERS
    holder = (
        interpreter.memory.known_name(called.value)
        if isinstance(called, ast.Attribute)
        else None
    )
    return holder is not None and holder.package in _LETS_PASS
