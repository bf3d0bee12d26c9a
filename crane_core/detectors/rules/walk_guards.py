"""How try and with are run: what may catch an exception, and what is known after a part of a body has run."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from functools import partial

from crane_core.detectors.rules.bindings import bound_names
from crane_core.detectors.rules.finding import Crash
from crane_core.detectors.rules.heap import Watch, blur
from crane_core.detectors.rules.thing import Thing
from crane_core.detectors.rules.walk import EndError, LeaveError, Walk, statement
from crane_core.detectors.rules.walk_statements import assign

_LETS_PASS_WORDS = (
    "builtins torch tensorflow keras numpy pandas matplotlib seaborn warnings zipfile tarfile gzip bz2 "
    "lzma tqdm PIL h5py sklearn joblib mlflow tempfile multiprocessing concurrent sqlite3 requests "
    "urllib time io os pathlib threading _io rasterio netCDF4 xarray scipy transformers accelerate "
    "optuna dask pyspark strategy"
)
_LETS_PASS = frozenset(_LETS_PASS_WORDS.split())
_SUPPRESSES = ("Output", "ExitStack")
_LEAVES = (ast.Return, ast.Break, ast.Continue)


@statement(ast.Try)
def _try(walk: Walk, node: ast.Try) -> None:
    if any(isinstance(part, _LEAVES) for last in node.finalbody for part in ast.walk(last)):
        raise EndError
    try:
        _guarded(walk, node)
    except (LeaveError, Crash):
        walk.body(node.finalbody)
        raise
    walk.body(node.finalbody)


@statement(ast.TryStar)
def _try_star(walk: Walk, node: ast.TryStar) -> None:
    raise EndError


def _guarded(walk: Walk, node: ast.Try) -> None:
    body = [*node.body, *node.orelse]
    if not node.handlers:
        walk.body(body)
        return
    watch = Watch(walk.scopes)
    names = [name for part in body for name in bound_names(part)]
    raised: dict[int, Crash] = {}
    ways: list[Callable[[], None]] = [partial(_watched, walk, body, watch)]
    ways += [partial(_handled, walk, handler, watch, names) for handler in node.handlers]
    try:
        walk.ways([partial(_noted, walk, way, raised, at) for at, way in enumerate(ways)])
    except Crash as crash:
        raise _last_raised(crash, node.handlers, raised) from None


def _noted(walk: Walk, way: Callable[[], None], raised: dict[int, Crash], at: int) -> None:
    """Takes a way and keeps what it raises; in a handler, `raise` alone raises what the body has raised."""
    walk.handled.append(raised.get(0) if at else None)
    try:
        way()
    except Crash as crash:
        raised[at] = crash
        raise
    finally:
        walk.handled.pop()


def _last_raised(crash: Crash, handlers: list[ast.ExceptHandler], raised: dict[int, Crash]) -> Crash:
    """What leaves a try of which every way raises: what the handler raises that catches the body's exception."""
    if crash is not raised.get(0):
        return crash
    for at, handler in enumerate(handlers, 1):
        if _catches(handler, crash.exception):
            return raised.get(at, crash)
    return crash


def _catches(handler: ast.ExceptHandler, exception: str) -> bool:
    """Whether a handler certainly catches an exception of this class."""
    if handler.type is None:
        return True
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    names = [kind.id for kind in kinds if isinstance(kind, ast.Name)]
    return any(name in ("Exception", "BaseException") or _is_kind(exception, name) for name in names)


def _is_kind(exception: str, name: str) -> bool:
    raised, caught = getattr(builtins, exception, None), getattr(builtins, name, None)
    return isinstance(raised, type) and isinstance(caught, type) and issubclass(raised, caught)


def _watched(walk: Walk, body: list[ast.stmt], watch: Watch) -> None:
    """Runs the body and looks after each statement inside what has changed."""
    walk.watches.append(watch)
    try:
        walk.body(body)
    finally:
        walk.watches.pop()
        watch.look(walk.scopes)


def _handled(walk: Walk, handler: ast.ExceptHandler, watch: Watch, names: list[str]) -> None:
    blur(watch, names, walk.scope)
    if handler.name:
        walk.bind(handler.name, Thing())
    walk.body(handler.body)
    if handler.name:
        walk.unbind(handler.name)


@statement(ast.With, ast.AsyncWith)
def _with(walk: Walk, node: ast.With | ast.AsyncWith) -> None:
    if isinstance(node, ast.AsyncWith):
        raise EndError
    may_suppress = False
    for part in node.items:
        manager = walk.value(part.context_expr)
        may_suppress = may_suppress or not _lets_pass(walk, part.context_expr, manager)
        if part.optional_vars is not None:
            assign(walk, part.optional_vars, _entered(walk, manager, part.context_expr))
    if not may_suppress:
        walk.body(node.body)
        return
    watch = Watch(walk.scopes)
    names = [name for part in node.body for name in bound_names(part)]
    walk.ways([lambda: _watched(walk, node.body, watch), lambda: blur(watch, names, walk.scope)])


def _entered(walk: Walk, manager: Thing, node: ast.AST) -> Thing:
    told = walk.ask("method", manager, "__enter__", node, receiver=manager)
    if told is not None:
        return told
    return manager if manager.package == "_io" else Thing()


def _lets_pass(walk: Walk, node: ast.expr, manager: Thing) -> bool:
    """Whether exceptions certainly leave the block: the manager is of a library that is known not to hold them."""
    called = node.func if isinstance(node, ast.Call) else node
    name = called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""
    if name in _SUPPRESSES or any(word in name.lower() for word in ("raises", "suppress")):
        return False
    if manager.package in _LETS_PASS:
        return True
    known = walk.known_name(called)
    path = known.path if known is not None else ""
    if path:
        return path.partition(".")[0] in _LETS_PASS or path in (
            "contextlib.redirect_stdout",
            "contextlib.redirect_stderr",
            "contextlib.nullcontext",
            "contextlib.closing",
        )
    holder = walk.known_name(called.value) if isinstance(called, ast.Attribute) else None
    return holder is not None and holder.package in _LETS_PASS
