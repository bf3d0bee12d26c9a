"""A rehearsal: the target cell runs in a copy of the kernel, which is dropped; the kernel itself does not run it.

    rehearse({"target": code, "seconds": 2.0, "memory_bytes": n, "disk_bytes": n, "again": None}) -> JSON text

With `start_s` the copy has so many seconds to be kept apart, before its own time begins, as a cell waits for it.
With `again` the kernel is a fresh one, and the copy runs the cells before the target first (see
kernel_copy/rehearsed.py).

Knows the order of the work, and what the end of a copy means. Says crash, ran through or still running only where
the copy's own limits cannot have had a part in it; else unknown, with the reason.
"""

from __future__ import annotations

import gc
import io
import json
import os
import random
import select
import signal
import sys
import time
import warnings
from pathlib import Path
from typing import Any, Mapping

from . import bounds
from .bounds import Facts
from .kernel_copy import (
    calls,
    forked,
    handles,
    isolation,
    memory,
    processors,
    rehearsed,
)
from .kernel_copy.refusals import Refusals

STILL_RUNNING = "still running"
# Cutting off is slow where the kernel has many files open or much shared memory.
_START_S = 15.0
"""For the copy to be kept apart; its own time begins when the cell does."""
_TICK_S = 0.05
# At the end, because a cell may wait at first (for a file) and work later.
_TAIL = 0.25
"""Share of the time, at its end, in which a cell that still runs has used the processor."""
_LEAST_USE = 0.05
_LEAST_READY = 0.5
"""Or in which it was ready to run for so long, and had to wait for its turn on a busy machine."""
_MOST_ANSWER = 20_000
_TEMPORARY = "/tmp"  # noqa: S108 - nothing is written there: its changes are dropped
_LOCKS = "/dev/shm"  # noqa: S108 - as above
_NO_SHELL = "the kernel is not IPython's"
_NO_COPY = "this system cannot make a copy of a process and keep it apart"
_GPU = "a GPU is in use, which a copy of the kernel cannot share"
_ASKS_GPU = "the cell asks for the GPU"
_WAITS = "the copy waited without using the processor: for a lock or thread that it lacks, or only for time"
_LEFT = "the cell ended the process"
# The system ends a copy for these without a word (SIGSYS), so the reason cannot be narrower.
_BY_SYSTEM = (
    "the cell asked the system for a program, a connection, a file or a change to other processes,"
    " which a copy is not given"
)


def rehearse(
    request: Mapping[str, Any], shell: Any, look: rehearsed.Look
) -> str:
    """What the target comes to in a copy, run by this shell of IPython, or by the kernel's."""
    collects = gc.isenabled()
    # A collection in the copy would touch, and so copy, all pages of the kernel.
    gc.disable()
    try:
        return bounds.dumps(
            bounds.safe(
                _told(request, shell or _shell(), look),
                rehearsed.MOST_MESSAGE + 100,
            )
        )
    finally:
        if collects:
            gc.enable()


def _told(
    request: Mapping[str, Any], shell: Any, look: rehearsed.Look
) -> Facts:
    # Asked before anything is forked: with a GPU or without IPython a copy is of no use.
    why = _hindered(shell)
    if why:
        return _unknown(why)
    # Those that the cell may wait for; a second kernel starts them again and so has them.
    others = processors.of_the_notebook()
    if others:
        return _lacking(
            f"a copy lacks the notebook's own threads: {', '.join(others)[:100]}"
        )
    return _in_a_copy(shell, request, look)


def _hindered(shell: Any) -> str | None:
    """Why there can be no rehearsal, None where there can."""
    if not (forked.is_possible() and calls.is_possible()):
        return _NO_COPY
    if shell is None:
        return _NO_SHELL
    return _GPU if processors.uses_gpu() else None


def _shell() -> Any:
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython is not None else None


def _unknown(why: str) -> Facts:
    return {"outcome": rehearsed.UNKNOWN, "why": why}


def _lacking(why: str) -> Facts:
    """Unknown, perhaps for want of threads: a process that ran the cells itself would have them."""
    return dict(_unknown(why), lacks_threads=True)


# In the kernel


def _in_a_copy(
    shell: Any, request: Mapping[str, Any], look: rehearsed.Look
) -> Facts:
    reader, writer = os.pipe()
    # A fork draws new seeds for `random`, and forgets the loop that runs.
    draws, loop = random.getstate(), _running_loop()
    copy = forked.fork()
    if copy == 0:
        _live(shell, request, writer, draws, loop, look)
    watched = _Watched(
        copy,
        float(request["seconds"]),
        float(request.get("start_s", _START_S))
        + rehearsed.seconds_again(request),
    )
    try:
        os.close(writer)
        watched.hear(reader)
    finally:
        os.close(reader)
        # Always killed: what the cell forked would outlive it.
        status = forked.end(copy)
    return watched.told(status)


def _running_loop() -> Any:
    events = sys.modules.get("asyncio.events")
    return None if events is None else events._get_running_loop()


class _Watched:
    """The copy, as the kernel sees it: what it said, when its cell began, when it last used the processor."""

    def __init__(self, copy: int, seconds: float, start_s: float) -> None:
        self._copy = copy
        self._seconds = seconds
        self._start_s = start_s
        self._said: Facts = {}
        self._began: float | None = None
        self._uses: list[tuple[float, float, float]] = []
        self._is_late = False

    def hear(self, reader: int) -> None:
        deadline = time.perf_counter() + self._start_s
        said = b""
        while len(said) < _MOST_ANSWER:
            now = time.perf_counter()
            # Sampled all the time, for the last quarter is known only when the time is up.
            self._uses.append(
                (now, _processor_s(self._copy), _queued_s(self._copy))
            )
            if now >= deadline:
                self._is_late = True
                return
            if not select.select(
                [reader], [], [], min(_TICK_S, deadline - now)
            )[0]:
                continue
            piece = os.read(reader, 65_536)
            if not piece:
                return
            said += piece
            self._said = dict(forked.pairs(said))
            if "end" in self._said:
                return
            if self._began is None and "begun" in self._said:
                # From here the cell's own time runs: keeping apart must not count against it.
                self._began = time.perf_counter()
                deadline = self._began + self._seconds

    def told(self, status: int) -> Facts:
        """What it came to; `seconds` are those of the cell, `writes` says whether files are dropped or refused."""
        found = self._outcome(status)
        took = (
            0.0
            if self._began is None
            else min(self._seconds, time.perf_counter() - self._began)
        )
        return {
            **found,
            "seconds": round(took, 3),
            "limit_s": self._seconds,
            "writes": self._said.get("begun"),
        }

    def _outcome(self, status: int) -> Facts:
        if type(self._said.get("end")) is dict:
            end: Facts = self._said["end"]
            return end
        # Late before it began says nothing about the cell, and neither does a lost answer.
        if self._is_late and self._began is None:
            return _unknown("the copy did not begin in time")
        if self._is_late:
            return (
                {"outcome": STILL_RUNNING}
                if self._is_working()
                else _lacking(_WAITS)
            )
        if os.WIFSIGNALED(status):
            number = os.WTERMSIG(status)
            return (
                _unknown(_BY_SYSTEM)
                if number == signal.SIGSYS
                else _lacking(_ended_by(number))
            )
        # sys.exit is caught by the shell: only os._exit or a library ends a process so.
        return _unknown(_LEFT)

    def _is_working(self) -> bool:
        now, used, queued = self._uses[-1]
        tail = self._seconds * _TAIL
        before = [use for use in self._uses if use[0] <= now - tail]
        _, used_before, queued_before = before[-1] if before else self._uses[0]
        use = used - used_before
        return (
            use >= _LEAST_USE * tail
            or use + queued - queued_before >= _LEAST_READY * tail
        )


def _ended_by(number: int) -> str:
    """A copy may die of what a fork breaks (a library's lost threads), so that the signal says nothing of the cell."""
    name = (
        signal.Signals(number).name
        if number in set(signal.Signals)
        else f"signal {number}"
    )
    return f"the copy was ended by {name}, which may be due to the copy itself"


def _processor_s(process: int) -> float:
    """Seconds of processor time that it has used, with its processors."""
    try:
        # The name of a program may hold blanks and brackets: count from the last bracket.
        fields = (
            Path(f"/proc/{process}/stat")
            .read_text("utf-8", "replace")
            .rpartition(")")[2]
            .split()
        )
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _queued_s(process: int) -> float:
    """Seconds for which its first thread was ready to run and others had the processor; 0 where Linux does not count.

    Python runs the cell on that thread.
    """
    try:
        fields = (
            Path(f"/proc/{process}/schedstat")
            .read_text("utf-8", "replace")
            .split()
        )
    except OSError:
        return 0.0
    return int(fields[1]) / 1e9 if len(fields) > 1 else 0.0


# In the copy


def _live(
    shell: Any,
    request: Mapping[str, Any],
    writer: int,
    draws: Any,
    loop: Any,
    look: rehearsed.Look,
) -> None:
    """Keep apart, run, tell, end; never comes back."""
    # Taken now, as the cell may replace both.
    leave = os._exit
    write = os.write
    try:

        def tell(name: str, fact: Any) -> None:
            write(writer, json.dumps([name, fact]).encode() + b"\n")

        try:
            refusals, writes = _kept_apart(request, writer)
        except (
            OSError,
            memory.SharedMemoryError,
            handles.SharedFileError,
        ) as error:
            tell(
                "end",
                _unknown(
                    f"the copy could not be kept apart: {bounds.why(error)}"
                ),
            )
            return
        # Where the fork drew new seeds the cell would see other random numbers than the kernel.
        random.setstate(draws)
        if loop is not None:
            sys.modules["asyncio.events"]._set_running_loop(loop)
        # The driver is loaded at the first question for a GPU, which answers "none" in a copy.
        had_driver = processors.has_gpu_driver()
        why = rehearsed.hindered_again(shell, request, refusals, look)
        if why is not None:
            tell("end", _unknown(why))
            return
        tell("begun", writes)
        found = rehearsed.told(
            shell, request["target"], refusals, request.get("names", ())
        )
        tell(
            "end",
            _unknown(_ASKS_GPU)
            if processors.has_gpu_driver() and not had_driver
            else found,
        )
    finally:
        # No exit handlers: they belong to the notebook, whose kernel goes on.
        leave(0)


def _kept_apart(
    request: Mapping[str, Any], writer: int
) -> tuple[Refusals, str]:
    """What is refused from now on, and whether files are dropped or refused."""
    os.setpgid(0, 0)
    nowhere = os.open(os.devnull, os.O_RDWR)
    kept = (writer, nowhere)
    # Before anything else, so that no failure on the way can reach the notebook's front end.
    handles.cut_off(kept, nowhere)
    _silence(nowhere)
    # The system gives a room to a process with one thread alone: before anything may start a second one.
    folders = isolation.moved_in(_folders(), int(request["disk_bytes"]))
    handles.open_again(kept, nowhere, folders or ())
    # Without the wall, a room has a way out: what cannot be dropped is refused.
    writable = (
        folders
        if folders is not None and isolation.walled_in(folders)
        else None
    )
    memory.make_private()
    processors.one_each()
    # After all that needs memory itself; before the cell.
    memory.bound(int(request["memory_bytes"]))
    calls.prepare()
    # Python's hook says which refusal it was; the filter below stops what no hook hears.
    refusals = Refusals(writable or ())
    sys.dont_write_bytecode = True
    refusals.begin()
    # Last, as everything above uses calls that are refused from here on.
    calls.restrict(may_write=writable is not None)
    return refusals, "dropped" if writable else "refused"


def _folders() -> list[str]:
    """Where notebooks write: beside themselves, at home, among temporary files; locks of multiprocessing in memory."""
    try:
        here = os.getcwd()  # noqa: PTH109 - a string is wanted
    except OSError:
        here = ""
    # multiprocessing makes its locks there, also where they are used by one process.
    return [
        here,
        os.environ.get("TMPDIR") or _TEMPORARY,
        str(Path("~").expanduser()),
        _LOCKS,
    ]


def _silence(nowhere: int) -> None:
    """What is printed or displayed is dropped; Jupyter's own streams stay what they are, but forget what they get."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if type(stream).__module__ == "ipykernel.iostream":
            # Methods alone are replaced: cells and libraries use other members of ipykernel's
            # streams.
            stream.write, stream.flush = _dropped, _nothing
        else:
            file = io.FileIO(nowhere, "w", closefd=False)
            setattr(
                sys, name, io.TextIOWrapper(file, "utf-8", "backslashreplace")
            )
    warnings.showwarning = _nothing
    streams = sys.modules.get("ipykernel.iostream")
    thread = getattr(streams, "IOPubThread", None)
    if thread is not None:
        # It would send what a forked process displays through a new connection.
        thread.schedule = thread.send_multipart = _nothing


def _dropped(text: Any) -> int:
    # As the real stream does: `sys.stdout.write(1)` is a crash of the cell.
    if not isinstance(text, str):
        raise TypeError(f"write() argument must be str, not {type(text)}")
    return len(text)


def _nothing(*_: Any, **__: Any) -> None:
    """Nothing is sent out of a copy."""
