"""The waiting copies of one kernel, the newest last, and an undo of one or several cells.

Knows when a copy is made, kept and dropped. The kernel itself keeps no data of the notebook for it: only functions,
classes and modules that names held, and the small state of the session.
"""

from __future__ import annotations

import ast
import contextlib
import gc
import os
import signal
import threading
import time
import types
from typing import Any, Iterator, NamedTuple

from ..kinds import Kinds
from .outside import ELSEWHERE, Outside
from .permission import hindered
from .putting_back import UnreadableError, put_back
from .session_state import SessionState
from .standby import ANSWER_S, WALK_S, Standby, StandbyError
from .walk import ObjectWalk

_CODE = Kinds(types.FunctionType, types.ModuleType)
_UNSEEN_WAYS = ("exec(", "eval(", "globals(", "get_ipython", "%", "!")
"""With one of these a cell may use any name."""


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
