"""State of the session beside the notebook's names: random numbers, folder, environment, options of libraries.

Small and plain, so the kernel keeps what it was by itself. Imports no library: one that the notebook has not loaded has
no state.
"""

from __future__ import annotations

import decimal
import gc
import logging
import os
import random
import signal
import sys
import types
import warnings
from typing import Any, Callable

from ..kinds import Kinds
from . import session_libraries
from .session_libraries import SessionPart


def _put_environment(was: Any) -> None:
    for name in [name for name in os.environ if name not in was]:
        del os.environ[name]
    os.environ.update(was)


def _put_in_place(held: list[Any]) -> Callable[[Any], None]:
    # In place: others hold this very list.
    def put(was: Any) -> None:
        held[:] = was

    return put


def _filters() -> Any:
    return list(warnings.filters)


def _put_filters(was: Any) -> None:
    warnings.filters[:] = was  # type: ignore[index]
    # Python remembers per module which warnings the filters let through.
    getattr(warnings, "_filters_mutated", lambda: None)()


def _decimals() -> Any:
    context = decimal.getcontext()
    return context.prec, context.rounding, dict(context.traps)


def _put_decimals(was: Any) -> None:
    context = decimal.getcontext()
    context.prec, context.rounding = was[:2]
    for kind, is_trapped in was[2].items():
        context.traps[kind] = is_trapped


def _loggers() -> dict[str, logging.Logger]:
    known = logging.Logger.manager.loggerDict
    found = {
        name: logger
        for name, logger in list(known.items())
        if isinstance(logger, logging.Logger)
    }
    found[""] = logging.getLogger()
    return found


_SILENT: Any = (0, True, [])
"""Level, passing on, and handlers of a new logger."""


def _logging() -> Any:
    found = {
        name: (logger.level, logger.propagate, list(logger.handlers))
        for name, logger in _loggers().items()
    }
    # A logger that was only made says nothing.
    told = {name: state for name, state in found.items() if state != _SILENT}
    return logging.Logger.manager.disable, told


def _put_logging(was: Any) -> None:
    logging.disable(was[0])
    for name, logger in _loggers().items():
        level, propagate, handlers = was[1].get(name, _SILENT)
        logger.setLevel(level)
        logger.propagate = propagate
        logger.handlers[:] = handlers


def _handlers() -> Any:
    return {
        number: signal.getsignal(number) for number in signal.valid_signals()
    }


def _put_handlers(was: Any) -> None:
    now = _handlers()
    for number, handler in was.items():
        # None is a handler that was not set from Python, and cannot be.
        if handler is not None and now[number] is not handler:
            signal.signal(number, handler)


def _collection() -> Any:
    return gc.isenabled(), gc.get_threshold()


def _put_collection(was: Any) -> None:
    gc.set_threshold(*was[1])
    if was[0]:
        gc.enable()
    else:
        gc.disable()


def _output() -> Any:
    return sys.stdout, sys.stderr


def _put_output(was: Any) -> None:
    sys.stdout, sys.stderr = was


_PARTS: dict[str, tuple[str, SessionPart]] = {
    "random numbers of Python": (
        "random",
        SessionPart(
            lambda: random.getstate(), lambda was: random.setstate(was)
        ),
    ),
    "working folder": ("os", SessionPart(os.getcwd, os.chdir)),
    "environment variables": (
        "os",
        SessionPart(lambda: dict(os.environ), _put_environment),
    ),
    "sys.path": (
        "sys",
        SessionPart(
            lambda: list(sys.path), lambda was: _put_in_place(sys.path)(was)
        ),
    ),
    "filters of warnings": ("warnings", SessionPart(_filters, _put_filters)),
    "context of decimal": ("decimal", SessionPart(_decimals, _put_decimals)),
    "logging": ("logging", SessionPart(_logging, _put_logging)),
    "recursion limit": (
        "sys",
        SessionPart(sys.getrecursionlimit, sys.setrecursionlimit),
    ),
    "signal handlers": ("signal", SessionPart(_handlers, _put_handlers)),
    "garbage collection": ("gc", SessionPart(_collection, _put_collection)),
    "sys.stdout and sys.stderr": ("sys", SessionPart(_output, _put_output)),
    **session_libraries.PARTS,
}
"""As those of libraries."""


class SessionState:
    """What the session was at one moment."""

    def __init__(self, names: dict[str, Any]) -> None:
        """`names` are the notebook's; library modules among them are looked at for names that a cell replaces."""
        self._was: dict[str, Any] = {}
        self._unread: dict[str, str] = {}
        for title, (module, part) in _PARTS.items():
            if module not in sys.modules:
                continue
            try:
                self._was[title] = part.read()
            except Exception as error:  # noqa: BLE001 - another release of a library; told when it matters
                self._unread[title] = f"{type(error).__name__}: {error}"
        self._modules = _held_of_modules(names)

    def put_back(self) -> tuple[list[str], list[tuple[str, str]]]:
        """What differed and is as it was again, and with a reason what is not."""
        done, failed = [], list(self._unread.items())
        for title, was in self._was.items():
            part = _PARTS[title][1]
            try:
                if _same(part.read(), was):
                    continue
                part.put(was)
                if _same(part.read(), was):
                    done.append(title)
                else:
                    failed.append((title, "it could not be put back whole"))
            except Exception as error:  # noqa: BLE001 - told by name; the rest is put back
                failed.append((title, f"{type(error).__name__}: {error}"[:200]))
        return done + self._put_modules(), failed

    def _put_modules(self) -> list[str]:
        done = []
        for module, held in self._modules:
            names = vars(module)
            for name, value in held.items():
                if names.get(name, _MISSING) is not value:
                    names[name] = value
                    done.append(f"{module.__name__}.{name}")
        return done


_MISSING = object()
_REPLACEABLE = Kinds(types.FunctionType, types.BuiltinFunctionType, type)


def _held_of_modules(names: dict[str, Any]) -> list[tuple[Any, dict[str, Any]]]:
    """Functions and classes of modules that the notebook can name: a cell may put others in their place."""
    found = {
        id(value): value
        for value in [*names.values(), sys.modules["builtins"]]
        if type(value) is types.ModuleType
    }
    return [
        (
            module,
            {
                name: value
                for name, value in vars(module).items()
                if type(value) in _REPLACEABLE and not name.startswith("_")
            },
        )
        for module in found.values()
    ]


def _same(now: Any, was: Any) -> bool:
    """Equal in content; arrays are compared by their bytes."""
    if type(now) is not type(was):
        return False
    if isinstance(now, dict):
        return now.keys() == was.keys() and all(
            _same(now[name], was[name]) for name in now
        )
    if isinstance(now, (list, tuple)):
        return len(now) == len(was) and all(map(_same, now, was))
    if hasattr(now, "tobytes"):
        return bool(now.tobytes() == was.tobytes())
    return bool(now is was or now == was)
