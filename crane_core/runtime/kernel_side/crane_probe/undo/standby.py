"""A copy of the kernel that waits, so that what a cell changed can be looked up in it; it ends with its kernel.

Knows fork on Linux, how the copy is kept apart, and the few words that kernel and copy exchange. Refuses to wait
without end: a copy that does not answer in time is ended.
"""

from __future__ import annotations

import gc
import os
import pickle
import select
import signal
import struct
import sys
import time
from pathlib import Path
from typing import Any, Sequence

from ..kernel_copy import calls, forked, handles, memory, processors
from ..session.processes import STANDBY_NAME
from . import walk as walks
from .differences import Differences, bindings

ANSWER_S = 60.0
WALK_S = 20.0
_WORDS = struct.Struct("<Q")
_MORE_MEMORY = 4 * 2**30
_SET_NAME = 15
_PIECE = 2**20
_READY, _FAILED, _GO = b"r", b"f", b"g"
_FIRST_TO_GO = "1000"


class StandbyError(Exception):
    """There is no copy, or it did not answer; the text says why."""


class Standby:
    """One waiting copy, as its kernel sees it. Raises StandbyError if there can be none."""

    def __init__(
        self, names: dict[str, Any], first: Sequence[str], start_s: float
    ) -> None:
        """`first` are names that the cell may use; it waits `start_s` for the copy to be kept apart."""
        theirs, self._writer = os.pipe()
        self._reader, mine = os.pipe()
        collects = gc.isenabled()
        # A collection in the copy would touch, and so copy, all pages of the kernel.
        gc.disable()
        try:
            self.process = forked.fork()
            if self.process == 0:
                _live(names, first, theirs, mine)
        finally:
            if collects:
                gc.enable()
        os.close(theirs)
        os.close(mine)
        try:
            # Files must have their own positions before the cell reads on.
            until = time.monotonic() + start_s
            if self._read(1, until) != _READY:
                raise StandbyError(self._why(until))
        except BaseException:
            self.end()
            raise

    def _why(self, until: float) -> str:
        size = _WORDS.unpack(self._read(_WORDS.size, until))[0]
        return self._read(size, until).decode("utf-8", "replace")

    def differences(
        self, walk: walks.ObjectWalk, held: Sequence[Any], seconds: float
    ) -> bytes:
        """What the kernel has to restore, as the copy sends it. Raises StandbyError.

        `walk` is the kernel's, which has not gone yet: both walk at the same time. It goes to the objects `held`, too.
        """
        until = time.monotonic() + seconds
        try:
            os.write(self._writer, _GO)
            walk.go((), held)
            message = pickle.dumps(
                (walk.packed(), bindings(walk.names), walk.complete), 4
            )
            self._write(_WORDS.pack(len(message)) + message, until)
            size = _WORDS.unpack(self._read(_WORDS.size, until))[0]
            return self._read(size, until)
        except (OSError, struct.error) as error:
            raise StandbyError(f"the copy has ended ({error})") from error

    def _write(self, message: bytes, until: float) -> None:
        left = memoryview(message)
        os.set_blocking(self._writer, False)
        while left:
            wait = max(0.0, until - time.monotonic())
            if not select.select([], [self._writer], [], wait)[1]:
                raise StandbyError("the copy did not answer in time")
            left = left[os.write(self._writer, left[:_PIECE]) :]

    def _read(self, size: int, until: float) -> bytes:
        found = bytearray()
        while len(found) < size:
            wait = max(0.0, until - time.monotonic())
            if not select.select([self._reader], [], [], wait)[0]:
                raise StandbyError("the copy did not answer in time")
            piece = os.read(self._reader, min(_PIECE, size - len(found)))
            if not piece:
                raise StandbyError("the copy has ended")
            found += piece
        return bytes(found)

    def end(self) -> None:
        """Drop the copy."""
        process, self.process = self.process, 0
        if process:
            forked.end(process)
            os.close(self._reader)
            os.close(self._writer)


# In the copy


def _live(
    names: dict[str, Any], first: Sequence[str], reader: int, writer: int
) -> None:
    """Keep apart, wait, tell, end; never comes back."""
    # TakenApart now, as the notebook may have replaced it by the time of the undo.
    leave = os._exit
    try:
        try:
            _seclude(reader, writer)
        except Exception as error:  # noqa: BLE001 - whatever it is, there is no copy, and the kernel says why
            text = f"{type(error).__name__}: {error}".encode("utf-8", "replace")
            os.write(writer, _FAILED + _WORDS.pack(len(text)) + text)
            return
        os.write(writer, _READY)
        if os.read(reader, 1) == _GO:
            _answer(names, first, reader, writer)
    finally:
        # No exit handlers: they belong to the notebook, whose kernel goes on.
        leave(0)


def _seclude(reader: int, writer: int) -> None:
    gc.disable()
    # Its own group, so that an interrupt of the kernel does not reach it.
    os.setpgid(0, 0)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    _be_named()
    nowhere = os.open(os.devnull, os.O_RDWR)
    kept = (reader, writer, nowhere)
    handles.cut_off(kept, nowhere)
    handles.open_again(kept, nowhere, ())
    forked._silence(nowhere)
    memory.make_private(is_run_in=False)
    memory.bound(_MORE_MEMORY)
    sys.dont_write_bytecode = True
    calls.prepare()
    # Last, as everything above uses calls that are refused from here on.
    calls.restrict(may_write=False)


def _be_named() -> None:
    """A look at the kernel must not take the copy for a program of the notebook; and short memory ends it first."""
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(ctypes.c_int(_SET_NAME), STANDBY_NAME.encode(), 0, 0, 0)
    Path("/proc/self/oom_score_adj").write_text(_FIRST_TO_GO)


def _answer(
    names: dict[str, Any], first: Sequence[str], reader: int, writer: int
) -> None:
    processors.one_each()
    walk = walks.ObjectWalk(names, WALK_S)
    walk.go(first)
    with os.fdopen(reader, "rb") as orders:
        (size,) = _WORDS.unpack(orders.read(_WORDS.size))
        order = pickle.loads(orders.read(size))  # noqa: S301 - from its own kernel
    packed, bound, complete = order
    theirs = walks.unpacked(packed)
    told = Differences(walk, theirs, bound, set(complete)).packed()
    left = memoryview(_WORDS.pack(len(told)) + told)
    while left:
        left = left[os.write(writer, left[:_PIECE]) :]
