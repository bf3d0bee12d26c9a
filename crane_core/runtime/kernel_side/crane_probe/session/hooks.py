"""Code of the notebook that Python, IPython or a library calls without a call in the cell that runs.

Knows where such code is registered. What IPython, its kernels and installed packages put there themselves is left out.
"""

from __future__ import annotations

import gc
import signal
import sys
import threading
from typing import Any, Iterator, NamedTuple

from ..absences.finders import brings_the_probe
from ..anatomy import (
    class_dict,
    instance_dict,
    is_genuine,
    is_kind,
    module_dict,
    module_of,
    mro_of,
    name_of,
)
from .origins import (
    called,
    functions_of,
    is_of_own_class,
    is_own,
    module_of_code,
)
from .shells import listed, setting

TRANSFORMER, HANDLER, CALLBACK, BUILTIN = (
    "transformer",
    "exception handler",
    "callback",
    "builtin",
)
MAGIC, AUTOCALL = "magic", "autocall"
_SHELL = frozenset(["IPython", "ipykernel"])
_OURS = "crane_core"
# Only these run around a cell; others, such as shell_initialized, are over.
_EVENTS = ("pre_execute", "pre_run_cell", "post_execute", "post_run_cell")
_RUNS = (
    "run_cell",
    "run_cell_async",
    "run_ast_nodes",
    "run_code",
    "transform_cell",
    "transform_ast",
)
_ENDS = (signal.SIGINT, signal.SIGTERM)
"""Signals after which the end of the cell no longer matters."""
# Debuggers and coverage look at lines and change nothing.
_TRACERS = frozenset(
    [
        "coverage",
        "debugpy",
        "pydevd",
        "_pydevd_bundle",
        "_pydevd_sys_monitoring",
    ]
)


class Hook(NamedTuple):
    """`what` it is of the kinds above; `name` says which."""

    what: str
    name: str


def hooks(shell: Any) -> list[Hook]:
    """All that are there."""
    # Outside IPython the rest of the process still has hooks of Python.
    found = [*_of_python(), *_of_logging(), *_of_builtins()]
    return [*found, *_of_shell(shell)] if shell is not None else found


def _of_python() -> Iterator[Hook]:
    yield from _of_tracing()
    yield from _of_output()
    yield from _of_imports()
    yield from _of_signals()
    for function in list(gc.callbacks):
        if is_own(function):
            yield Hook(
                CALLBACK,
                f"callback {called(function)} of the garbage collector",
            )


def _of_tracing() -> Iterator[Hook]:
    # threading.settrace holds for threads that begin later, so sys.gettrace does not show it.
    of_threads = [
        vars(threading).get(name) for name in ("_trace_hook", "_profile_hook")
    ]
    for function in (sys.gettrace(), sys.getprofile(), *of_threads):
        if function is not None and not _is_tracer(function):
            yield Hook(CALLBACK, f"trace function {called(function)}")


def _of_output() -> Iterator[Hook]:
    """What is called for each value that is shown, each text that is printed, each warning."""
    # A class of the notebook as sys.stdout runs its `write` with each print.
    replaced = [
        (sys, name)
        for name in ("displayhook", "unraisablehook", "stdout", "stderr")
    ]
    if "warnings" in sys.modules:
        replaced += [
            (sys.modules["warnings"], name)
            for name in ("showwarning", "formatwarning")
        ]
    for module, name in replaced:
        value = module_dict(module).get(name)
        if value is not None and (is_own(value) or is_of_own_class(value)):
            yield Hook(CALLBACK, f"{module.__name__}.{name}")


def _is_tracer(function: Any) -> bool:
    return type(function).__module__.partition(".")[
        0
    ] in _TRACERS or not is_own(function)


def _of_imports() -> Iterator[Hook]:
    for finder in [*sys.meta_path, *sys.path_hooks]:
        # The probe's own finder is there only while it looks.
        if brings_the_probe(finder):
            continue
        # A finder is an object, or a class that is used as one.
        is_class = is_kind(finder, type)
        if (
            is_own(finder)
            if is_class
            else is_of_own_class(finder) or is_own(finder)
        ):
            yield Hook(CALLBACK, f"import hook {called(finder)}")


def _of_signals() -> Iterator[Hook]:
    for number in sorted(set(signal.Signals) - set(_ENDS)):
        handler = signal.getsignal(number)
        if callable(handler) and is_own(handler):
            yield Hook(
                CALLBACK,
                f"handler {called(handler)} of {signal.Signals(number).name}",
            )


def _of_logging() -> Iterator[Hook]:
    """Handlers, filters and formatters of the notebook's classes: logging anything runs them."""
    # Never imported for this: a notebook without logging has no handlers.
    logging = sys.modules.get("logging")
    if logging is None:
        return
    root = vars(logging)["root"]
    manager = instance_dict(vars(logging)["Logger"].manager)
    others = list(manager["loggerDict"].values())
    for logger in [root, *others]:
        if is_of_own_class(logger):
            yield Hook(CALLBACK, f"logger {name_of(type(logger))}")
        # A logger that only has children is a placeholder of logging, with no handlers.
        held = instance_dict(logger)
        for part in [*held.get("handlers", ()), *held.get("filters", ())]:
            inner = instance_dict(part)
            parts = [part, inner.get("formatter"), *inner.get("filters", ())]
            own = next(
                (
                    each
                    for each in parts
                    if each is not None
                    and (is_of_own_class(each) or is_own(each))
                ),
                None,
            )
            if own is not None:
                yield Hook(CALLBACK, f"logging's {called(own)}")


def _of_builtins() -> Iterator[Hook]:
    """Python's own names that the notebook has given other functions, and names that it has added to them."""
    # Python's own displayhook puts `_` there.
    for name, value in sorted(vars(sys.modules["builtins"]).items()):
        if (
            type(name) is str
            and not name.startswith("_")
            and (is_own(value) or is_of_own_class(value))
        ):
            yield Hook(BUILTIN, name)
    # It begins with an underscore, but is what every import runs.
    if is_own(vars(sys.modules["builtins"])["__import__"]):
        yield Hook(CALLBACK, "builtins.__import__")


def _of_shell(shell: Any) -> Iterator[Hook]:
    yield from _of_transformers(shell)
    yield from _of_magics(setting(shell, "magics_manager"))
    held = instance_dict(shell)
    for exception in held.get("custom_exceptions", ()):
        if is_kind(exception, type):
            yield Hook(HANDLER, name_of(exception))
    events = instance_dict(held.get("events")).get("callbacks", {})
    for event in _EVENTS:
        for callback in filter(is_own, listed(events.get(event))):
            yield Hook(CALLBACK, f"{event} callback {called(callback)}")
    displays = setting(shell, "displayhook")
    if displays is not None and is_of_own_class(displays):
        yield Hook(CALLBACK, "displayhook of the shell")
    # A dict with a __getitem__ of its own may give names that are not in it.
    if type(setting(shell, "user_ns")) is not dict:
        yield Hook(CALLBACK, "namespace of its own class")
    # %autocall makes a call of `f x`, and so another program of the cell.
    if setting(shell, "autocall"):
        yield Hook(AUTOCALL, "%autocall")


def _of_transformers(shell: Any) -> Iterator[Hook]:
    """What makes another program of a cell than its text says."""
    for transformer in listed(setting(shell, "ast_transformers")):
        # The guard's own transformer leaves the cell as it is; a class of its name does not count.
        if module_of(type(transformer)).partition(".")[
            0
        ] != _OURS or not is_genuine(type(transformer)):
            yield Hook(TRANSFORMER, called(transformer))
    yield from _of_inputs(setting(shell, "input_transformer_manager"))
    for transform in listed(setting(shell, "input_transformers_post")):
        if not _is_of_shell(transform):
            yield Hook(TRANSFORMER, called(transform))
    yield from _patched(shell, instance_dict(shell))


def _of_magics(manager: Any) -> Iterator[Hook]:
    """Magics that the notebook wrote, which may hide one of IPython's."""
    known = setting(manager, "magics") if manager is not None else None
    for kind in ("line", "cell"):
        # Wrapped by a magic of the notebook, a name such as %time means something else.
        for name, function in sorted((known or {}).get(kind, {}).items()):
            if is_own(function):
                yield Hook(MAGIC, name)


def _of_inputs(manager: Any) -> Iterator[Hook]:
    """What turns the text of a cell into another, beside IPython's own."""
    held = instance_dict(manager) if manager is not None else {}
    for group in (
        "cleanup_transforms",
        "line_transforms",
        "token_transformers",
    ):
        for transform in listed(held.get(group)):
            if not _is_of_shell(transform):
                yield Hook(TRANSFORMER, called(transform))


def _is_of_shell(transform: Any) -> bool:
    if is_kind(transform, type):
        return module_of(transform).partition(".")[0] in _SHELL and is_genuine(
            transform
        )
    modules = [
        module_of_code(function) if function is not None else ""
        for function in functions_of(transform)
    ]
    return bool(modules) and all(
        module.partition(".")[0] in _SHELL for module in modules
    )


def _patched(shell: Any, held: dict[str, Any]) -> Iterator[Hook]:
    """Methods of the shell that run cells, replaced on it or on its class."""
    for name in _RUNS:
        # The first that is found is the method that runs, as on any object.
        of_classes = [
            class_dict(kind)[name]
            for kind in mro_of(type(shell))
            if name in class_dict(kind)
        ]
        found = held.get(name, of_classes[0] if of_classes else None)
        if found is not None and not _is_of_shell(found):
            yield Hook(TRANSFORMER, called(found))
