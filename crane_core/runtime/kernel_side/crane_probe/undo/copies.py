"""The waiting copies of one kernel, the newest last, and an undo of one or several cells.

Knows when a copy is made, kept and dropped. The kernel itself keeps no data of the notebook for it: only functions,
classes and modules that names held, and the small state of the session.

Whether one may be kept depends on the system, a GPU, waiting for processes, and memory. In an undo the objects of the
kernel get the content that they have in the copy, its names their values.
"""

from __future__ import annotations

import ast
import contextlib
import gc
import os
import pickle
import signal
import threading
import time
import types
from pathlib import Path
from typing import Any, Iterator, NamedTuple

from ..kernel_copy import calls, forked, processors
from ..kinds import Kinds
from . import attributes
from .differences import is_lost, is_of_notebook
from .of_containers import HASHING
from .outside import ELSEWHERE, Outside
from .parts import BY_NAME, restore
from .session_state import SessionState
from .standby import ANSWER_S, WALK_S, Standby, StandbyError
from .transfer import StateUnpickler
from .walk import ObjectWalk

_CODE = Kinds(types.FunctionType, types.ModuleType)
_UNSEEN_WAYS = ("exec(", "eval(", "globals(", "get_ipython", "%", "!")
"""With one of these a cell may use any name."""
_WAITS_FOR_CHILDREN = ("os.wait", "os.fork", "SIGCHLD")
_USUAL = (signal.SIG_DFL, signal.SIG_IGN, None)
_LEAST_FREE = 500 * 2**20
_SHARE = 0.25


class Restored(NamedTuple):
    """Names by their outcome; `stays` has name and reason of what did not come back."""

    bound: list[str]
    removed: list[str]
    changed: list[str]
    stays: list[tuple[str, str]]


class UnreadableError(Exception):
    """What the copy sent cannot be read in the kernel."""


class KeptCopy(NamedTuple):
    """What is known of the kernel before one cell."""

    standby: Standby
    session: SessionState
    outside: Outside
    held: list[Any]
    """Functions, classes and modules that names were bound to: they keep their addresses."""


class Copies:
    """Of one shell."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._process = os.getpid()
        self._kept: list[KeptCopy] = []
        self._is_open = False
        self.most = 1
        """Cells that can be undone; 0 keeps no copy."""
        self.start_s = 1.0
        """A cell waits no longer for its copy."""
        self.why_none = ""
        """Why there is no copy before the last cell."""
        self.took_s = 0.0
        """How long the last cell waited for its copy."""

    def __len__(self) -> int:
        return len(self._kept)

    def begin(self, code: str) -> None:
        """A cell is about to run: keep a copy of the kernel before it, or say in `why_none` why not."""
        if not self.most or os.getpid() != self._process:
            return
        started = time.perf_counter()
        try:
            self._keep(code)
        finally:
            self.took_s = time.perf_counter() - started

    def _keep(self, code: str) -> None:
        self._is_open = True
        names = self._shell.user_ns
        self.why_none = hindered(code) or ""
        # Made before the oldest one goes would be one copy more than was allowed.
        self._drop(self.most - 1)
        if self.why_none:
            # An older copy would undo this cell as well, unseen.
            self._drop(0)
            return
        session, outside = SessionState(names), Outside()
        held = [
            value
            for value in names.values()
            # isinstance would read `__class__` of the object, which may be code.
            if type(value) in _CODE or issubclass(type(value), type)
        ]
        try:
            standby = Standby(names, _names_used(code, names), self.start_s)
        except (StandbyError, OSError) as error:
            self.why_none = f"no copy could be made: {error}"
            self._drop(0)
            return
        self._kept.append(KeptCopy(standby, session, outside, held))

    def ended(self, *, has_failed: bool) -> None:
        """The cell that began has ended. After a success a single copy is of no use."""
        if not self._is_open or os.getpid() != self._process:
            return
        self._is_open = False
        if not has_failed and self.most == 1:
            self._drop(0)

    def _drop(self, n_left: int) -> None:
        while len(self._kept) > n_left:
            self._kept.pop(0).standby.end()

    def end(self) -> None:
        """Keep nothing."""
        # A process that the notebook forked has the list, but the copies are not its children.
        if os.getpid() == self._process:
            self._drop(0)

    def undo(self, n_cells: int) -> dict[str, Any]:
        """Put the kernel back to before the last `n_cells` cells; what was put back and what was not, by name.

        `refused` says why nothing was undone; the kernel is as it was then.
        """
        try:
            return self._undone(n_cells)
        except (StandbyError, UnreadableError) as error:
            return {"refused": str(error)}

    def _undone(self, n_cells: int) -> dict[str, Any]:
        kept = self._copy(n_cells)
        names = self._shell.user_ns
        walk = ObjectWalk(names, WALK_S)
        collects = gc.isenabled()
        # Addresses count, so nothing may be freed and reused meanwhile.
        gc.disable()
        try:
            packed = kept.standby.differences(walk, kept.held, ANSWER_S)
            unseen = walk.unfinished()
            with _uninterrupted():
                restored = put_back(walk, packed, self._shell.user_ns_hidden)
        finally:
            if collects:
                gc.enable()
            # Younger copies know a kernel that is no more.
            undone = self._kept[-n_cells:]
            del self._kept[-n_cells:]
            for each in undone:
                each.standby.end()
        session, failed = kept.session.put_back()
        stays = [*restored.stays, *failed, *kept.outside.since()]
        stays += [(name, "not compared: too many objects") for name in unseen]
        return {
            "n_cells": n_cells,
            "bound": restored.bound,
            "removed": restored.removed,
            "changed": restored.changed,
            "session": session,
            "stays": [
                {"name": name, "why": why} for name, why in dict.fromkeys(stays)
            ],
            "elsewhere": ELSEWHERE,
        }

    def _copy(self, n_cells: int) -> KeptCopy:
        if not self._kept:
            why = f" ({self.why_none})" if self.why_none else ""
            raise StandbyError(f"there is nothing to undo{why}")
        if n_cells > len(self._kept):
            raise StandbyError(
                f"copies are kept of {len(self._kept)} cells, not of {n_cells}"
            )
        return self._kept[-n_cells]


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """An interrupt must not leave half of the objects restored; only the main thread gets one."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)


def _names_used(code: str, names: dict[str, Any]) -> list[str]:
    """Names that the cell itself may use, as far as its text tells: all of them where it has other ways."""
    try:
        tree: ast.AST | None = ast.parse(code)
    except (SyntaxError, ValueError):
        tree = None
    if tree is None or any(way in code for way in _UNSEEN_WAYS):
        return [name for name in names if type(name) is str]
    return [
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and node.id in names
    ]


def hindered(code: str) -> str | None:
    """Why no copy is kept before a cell, None where one can be."""
    if not (forked.is_possible() and calls.is_possible()):
        return "this system cannot make a copy of a process and keep it apart"
    if processors.uses_gpu():
        return "a GPU is in use, which a copy of the kernel cannot share"
    # A copy is a child: these would wait for it, or be told of its end.
    if any(word in code for word in _WAITS_FOR_CHILDREN):
        return "the cell waits for processes, and the copy is one"
    handler = signal.getsignal(signal.SIGCHLD)
    # By identity: an object of the notebook may answer `==` as it likes.
    if not any(handler is usual for usual in _USUAL):
        return "the notebook handles the end of processes itself"
    return _short_of_memory()


def _short_of_memory() -> str | None:
    """A page that the cell changes takes memory twice."""
    page = os.sysconf("SC_PAGE_SIZE")
    resident = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    needed = max(_SHARE * resident * page, _LEAST_FREE)
    free = min(_free_of_machine(), *_free_of_groups())
    if free >= needed:
        return None
    mb = 2**20
    return f"memory is short: {free / mb:,.0f} MB free, {needed / mb:,.0f} MB wanted"


def _free_of_machine() -> float:
    for line in Path("/proc/meminfo").read_text("ascii").splitlines():
        name, _, rest = line.partition(":")
        if name == "MemAvailable":
            return float(rest.split()[0]) * 1024
    return float("inf")


def _free_of_groups() -> list[float]:
    """What the control group leaves, where one bounds the memory (containers)."""
    most = _number("/sys/fs/cgroup/memory.max")
    used = _number("/sys/fs/cgroup/memory.current")
    # The page cache counts as used, though the system frees it on demand.
    cached = _inactive()
    return [float("inf"), most - used + cached]


def _number(path: str) -> float:
    try:
        return float(Path(path).read_text("ascii"))
    except (OSError, ValueError):
        return float("inf") if path.endswith("max") else 0.0


def _inactive() -> float:
    try:
        text = Path("/sys/fs/cgroup/memory.stat").read_text("ascii")
    except OSError:
        return 0.0
    for line in text.splitlines():
        name, _, rest = line.partition(" ")
        if name == "inactive_file":
            return float(rest)
    return 0.0


def put_back(
    walk: ObjectWalk, packed: bytes, hidden: dict[str, Any]
) -> Restored:
    """Restore what a copy sent. `hidden` are IPython's own names with their first values.

    Raises UnreadableError if an object cannot be made again; nothing is changed then.
    """
    content, stays = pickle.loads(packed)  # noqa: S301 - from the kernel's own copy
    kept = {address: record.value for address, record in walk.records.items()}
    try:
        told = StateUnpickler(content, kept, walk.names).load()
    except Exception as error:
        raise UnreadableError(f"{type(error).__name__}: {error}") from error
    failed: list[tuple[str, str]] = list(stays)
    changed = _restore_objects(walk, told["changed"], kept, failed)
    bound = _bind(walk.names, told["names"], failed)
    removed = _remove(walk.names, set(told["all"]), hidden)
    if told["changed"]:
        _drop_caches(walk)
    return Restored(bound, removed, changed, failed)


def _restore_objects(
    walk: ObjectWalk,
    changed: list[Any],
    kept: dict[int, Any],
    failed: list[tuple[str, str]],
) -> list[str]:
    roots: dict[str, None] = {}
    done = []
    named = {id(value): name for name, value in walk.names.items()}
    # Last those that ask their keys for a hash, which may depend on what the others restore.
    ordered = sorted(changed, key=lambda each: each[1] in HASHING)
    for address, kind, root, state, digest in ordered:
        value = kept[address]
        root = named.get(address, root)
        try:
            restore(value, BY_NAME[kind], state)
        except Exception as error:  # noqa: BLE001 - told by name, and the rest is restored
            what = f"{type(value).__name__}: {error}"
            failed.append((root, what[:200]))
            continue
        roots[root] = None
        done.append((value, root, kind, state, digest))
    # Looked at again once all is done, as a view shows what its array was given.
    for value, root, kind, state, digest in done:
        is_back = (
            walk.digest_of(value) == digest
            if digest is not None
            # A set of new objects has another order, so that its parts cannot be compared one by one.
            else kind in HASHING or walk.has_become(value, state)
        )
        if not is_back:
            what = f"{type(value).__name__}: it did not become what it was"
            failed.append((root, what))
    return [root for root in roots if is_of_notebook(root)]


def _bind(
    names: dict[str, Any], wanted: dict[str, Any], failed: list[tuple[str, str]]
) -> list[str]:
    found = []
    for name, value in wanted.items():
        if is_lost(value):
            failed.append((name, value.what))
            continue
        names[name] = value
        found.append(name)
    return found


def _remove(
    names: dict[str, Any], known: Any, hidden: dict[str, Any]
) -> list[str]:
    found = []
    for name in [name for name in names if is_of_notebook(name)]:
        if name in known:
            continue
        if name in hidden:
            names[name] = hidden[name]
        else:
            del names[name]
        found.append(name)
    return found


def _drop_caches(walk: ObjectWalk) -> None:
    """What pandas computed from the content that is gone."""
    for record in walk.records.values():
        names = attributes.cached_in(type(record.value))
        held = attributes.dict_of(record.value) if names else None
        for name in names:
            if held is not None and type(held.get(name)) is dict:
                held[name].clear()
