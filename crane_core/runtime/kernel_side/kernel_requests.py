"""What is done in a kernel besides running its cells: asking what it is, evaluating, bringing the probe in for a look.

Sent as text and run in its own namespace, so that no name appears in the notebook's. Python 3.8, standard library.
"""

from __future__ import annotations

import sys

# Before anything else is imported here: what is new is taken out again afterwards.
_BEFORE = frozenset(sys.modules)

# ruff: noqa: E402 - what is imported from here on is new to the notebook
import base64
import contextlib
import gc
import hashlib
import importlib
import importlib.abc
import importlib.util
import json
import marshal
import math
import os
import threading
import time
from typing import Any, Iterator, Mapping

_NEW = [
    name
    for name in sys.builtin_module_names
    if name in sys.modules and name not in _BEFORE
]
"""Modules that the notebook had not loaded; the probe may load them again for its look."""

for _name in _NEW:
    del sys.modules[_name]

PACKAGE = "crane_probe"
MAX_REPR = 2_000
# JSON readers take 64 bits; others meet the integer as text.
LARGEST_INT = 2**63 - 1


def answer(namespace: dict[str, Any], order: str) -> str:
    """Do what the order says; the answer as JSON in ASCII. What was imported for it is taken out again."""
    try:
        return _done(namespace, json.loads(order))
    finally:
        for name in _NEW:
            sys.modules.pop(name, None)


def _done(namespace: dict[str, Any], asked: dict[str, Any]) -> str:
    # Greeted before the first cell, so before the notebook can register a callback.
    if asked["do"] == "greet":
        hold_callbacks()
        return json.dumps(greeting())
    if asked["do"] == "evaluate":
        return json.dumps(
            [evaluated(text, namespace) for text in asked["expressions"]]
        )
    if asked["magic"] not in (None, greeting()["magic"]):
        return json.dumps(
            {"magic": greeting()["magic"]}
        )  # bytecode of another Python would end this one
    if asked["do"] == "rehearse":
        return rehearsed(asked["modules"], asked["request"])
    return inspect_state(namespace, asked["modules"], asked["request"])


def greeting() -> dict[str, Any]:
    """Which Python this is, its bytecode's number, and the threads that run, by identity and name."""
    # Only the number: the full text names the compiler and the day.
    return {
        "python": sys.version.split()[0],
        "version": list(sys.version_info[:2]),
        "magic": importlib.util.MAGIC_NUMBER.hex(),
        "threads": [
            [thread.ident, thread.name] for thread in threading.enumerate()
        ],
    }


def hold_callbacks() -> None:
    """From now on what a notebook registers with IPython's events is not called for silent requests: those are ours.

    IPython calls `pre_execute` and `post_execute` for every request, though nothing of the notebook runs.
    """
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    events = getattr(shell, "events", None)
    # A second greeting would wrap the wrapper.
    if events is None or "trigger" in vars(events):
        return
    trigger = events.trigger

    def for_cells(event: str, *arguments: Any, **named: Any) -> None:
        if not _is_silent(shell):
            trigger(event, *arguments, **named)

    events.trigger = for_cells


def _is_silent(shell: Any) -> bool:
    """Whether the request that is being answered asked for silence."""
    parent = (
        # Older releases of IPython keep the request's header in an attribute.
        shell.get_parent()
        if hasattr(shell, "get_parent")
        else getattr(shell, "parent_header", None)
    )
    # A test or another front end may have no request at all.
    content = parent.get("content") if isinstance(parent, dict) else None
    return isinstance(content, dict) and content.get("silent") is True


def evaluated(expression: str, namespace: dict[str, Any]) -> Any:
    """The value of an expression that was requested: a number, string or boolean, else its repr, cut.

    What is cut ends in the hash of the whole, so that equal answers are equal values.
    """
    try:
        value = eval(expression, namespace)
        # Readers of JSON take a larger one for a float, which equals its neighbours.
        if (
            value is None
            or type(value) in (bool, int)
            and abs(value) <= LARGEST_INT
        ):
            return value
        # JSON has neither NaN nor infinities.
        if type(value) is float and math.isfinite(value):
            return value
        return _cut(value if type(value) is str else repr(value))
    except Exception as error:  # noqa: BLE001 - an expression may raise anything, and that is its answer
        # The name alone: str(error) may be code of the notebook.
        return {"raised": type(error).__name__}


def _cut(text: str) -> str:
    # A lone surrogate cannot be sent.
    data = text.encode("utf-8", "backslashreplace")
    if len(data) <= MAX_REPR:
        return data.decode("utf-8")
    digest = hashlib.sha256(data).hexdigest()
    shown = data[:MAX_REPR].decode("utf-8", "ignore")
    return f"{shown}... ({len(data)} bytes, sha256 {digest})"


def inspect_state(
    namespace: dict[str, Any],
    modules: Mapping[str, Any],
    request: dict[str, Any],
    kept: dict[str, Any] | None = None,
) -> str:
    """The probe's state, and the seconds that looking took, bringing the probe in and taking it out not counted.

    The cyclic garbage collector waits meanwhile: a collection would run finalizers of the notebook. Who looks often
    hands over `kept`, where the probe's modules stay between looks: loading them again leaves garbage each time.
    """
    with _brought_in(modules, kept):
        probe = importlib.import_module(PACKAGE + ".look")
        # Taken after the import, which costs the first look several times as much.
        started = time.perf_counter()
        state = probe.look(namespace, request)
        seconds = round(time.perf_counter() - started, 6)
    return f'{{"seconds": {seconds!r}, "state": {state}}}'


def rehearsed(
    modules: Mapping[str, Any],
    request: dict[str, Any],
    kept: dict[str, Any] | None = None,
    shell: Any = None,
) -> str:
    """What the target comes to in a copy of the kernel; there it finds the modules and the path of the notebook.

    `shell` is IPython's, without it the kernel's own.
    """
    # Only the import: the copy brings the modules in by itself where it looks.
    with _brought_in(modules, kept):
        probe = importlib.import_module(PACKAGE + ".rehearsal")

    def look(namespace: dict[str, Any], asked: dict[str, Any]) -> Any:
        return json.loads(inspect_state(namespace, modules, asked))["state"]

    told: str = probe.rehearse(request, shell, look)
    return told


def undo_copies(
    modules: Mapping[str, Any], kept: dict[str, Any], shell: Any
) -> Any:
    """The copies of this kernel that wait for an undo (crane_probe/undo/copies.py), none yet."""
    with _brought_in(modules, kept):
        probe = importlib.import_module(PACKAGE + ".undo.copies")
    return probe.Copies(shell)


@contextlib.contextmanager
def _brought_in(
    modules: Mapping[str, Any], kept: dict[str, Any] | None
) -> Iterator[None]:
    """The probe's modules can be imported meanwhile, and are the only ones of that name."""
    brought = _Brought(modules)
    own = {
        name: sys.modules.pop(name)
        for name in list(sys.modules)
        # A notebook may have a module of this name; it gets its own back.
        if str(name).partition(".")[0] == PACKAGE
    }
    path, collects = list(sys.path), gc.isenabled()
    gc.disable()
    # First, so that no finder of the notebook hears of these names.
    sys.meta_path.insert(0, brought)
    # A file of the notebook's folder that is called as a module of the library must not be run for it.
    sys.path[:] = _without_own_folder(path)
    sys.modules.update(kept or {})
    try:
        yield
    finally:
        # In place: the notebook may hold this very list.
        sys.path[:] = path
        sys.meta_path.remove(brought)
        loaded = {
            name: sys.modules.pop(name)
            for name in modules
            if name in sys.modules
        }
        sys.modules.update(own)
        # Taken out of sys.modules, but kept here: loading again would leave garbage each time.
        if kept is not None:
            kept.update(loaded)
        if collects:
            gc.enable()


def _without_own_folder(path: list[Any]) -> list[Any]:
    """The path without the working folder, which may have been removed, however it is spelled."""
    try:
        own = os.path.realpath(os.getcwd())  # noqa: PTH109 - pathlib may not be loaded here
    # The working folder was removed: only "" can still mean it.
    except OSError:
        return [entry for entry in path if entry != ""]
    return [
        entry
        for entry in path
        # An entry may be a Path, which Python ignores.
        if type(entry) is not str or entry and os.path.realpath(entry) != own
    ]


class _Brought(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Modules that came as text, as bytecode where this Python has the sender's, or are loaded already."""

    def __init__(self, modules: Mapping[str, Any]) -> None:
        self._modules = modules
        self._packages = {name.rpartition(".")[0] for name in modules}

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name not in self._modules:
            return None
        return importlib.util.spec_from_loader(
            name, self, is_package=name in self._packages
        )

    def exec_module(self, module: Any) -> None:
        source = self._modules[module.__name__]
        if "loaded" in source:
            code = source["loaded"]
        elif "code" in source:
            code = marshal.loads(base64.b64decode(source["code"]))
        else:
            # The name in angle brackets is how is_own_function knows code of the probe.
            code = compile(source["text"], f"<{module.__name__}>", "exec")
        exec(code, vars(module))
