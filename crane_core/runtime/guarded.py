"""A program under the watchdog, from our side: started, given time, ended, with an account of its end.

Knows the watchdog's two streams, and the mark by which processes are found in /proc where the watchdog itself was
killed. A process inherits its environment however often it forks and whatever session it joins; only one that was
started with its own environment escapes this. Refuses to know what the program does.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import time
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from crane_core import helper_process
from crane_core.errors import KernelStartError
from crane_core.runtime import watchdog
from crane_core.runtime.limits import KernelLimits

MARK = "CRANE_KERNEL"
"""The variable that names the kernel to which a process belongs."""
_GRACE_S = 10.0
_PAUSE_S = 0.01
_DEATH_TOLD_S = 5.0
"""A program that dies takes its connections with it a moment before the watchdog can tell how it ended."""


class End(NamedTuple):
    """How a program ended.

    `why` is asked, exit, time, memory, output, processes, disk, or watchdog, when that one was killed. `status` is
    the exit code, below 0 the signal. `left_running` are command lines of processes that were still there beside it,
    `survivors` pids that even SIGKILL did not end, `last_words` what it wrote to its own streams at the last.
    """

    why: str
    status: int | None
    left_running: tuple[str, ...]
    survivors: tuple[int, ...]
    last_words: str


class Guarded:
    """A running program. `handle` becomes readable when it has ended."""

    def __init__(
        self,
        argv: Sequence[str],
        *,
        folder: Path,
        env: Mapping[str, str],
        limits: KernelLimits,
        watched: Sequence[str] = (),
    ) -> None:
        """`env` is its whole environment; `watched` are folders whose growth is limited.

        Raises KernelStartError if it cannot be started.
        """
        # A mark in the environment that every descendant inherits: _end_strays finds them by it.
        self.mark = uuid.uuid4().hex
        order = watchdog.WatchOrder(
            list(argv),
            limits.memory_bytes,
            limits.output_bytes,
            limits.processes,
            list(watched),
            limits.disk_bytes,
        )
        self._process = helper_process.start(
            # Without site, as the watchdog needs the standard library alone and starts faster.
            helper_process.python(
                watchdog.__file__, json.dumps(order._asdict()), has_site=False
            ),
            folder=folder,
            env={**env, MARK: self.mark},
            stdin=subprocess.PIPE,
            # Its own session: Ctrl-C in the terminal reaches us, who end the kernel in order.
            own_session=True,
        )
        self._end: End | None = None
        self._heard = b""
        started = self._event()
        # Its first words say whether the program could be started at all.
        if started is None or "failed" in started:
            self._finish()
            raise KernelStartError(
                f"{argv[0]} cannot be started: {started['failed'] if started else 'its watchdog was killed'}.",
                remedy="Check the interpreter or kernelspec.",
            )
        self.pid: int = started["pid"]

    @property
    def handle(self) -> int:
        """The watchdog's output, to wait for with `select`."""
        assert self._process.stdout is not None
        return self._process.stdout.fileno()

    def allow(self, seconds: float | None) -> None:
        """From now on the program may take this long, None for any time; beyond that it is killed."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(
                json.dumps({"allow_s": seconds}).encode() + b"\n"
            )
            self._process.stdin.flush()
        except BrokenPipeError:
            return  # It has ended; `handle` says so.

    def end(self) -> End:
        """End the program and everything it started, unless that is done; how it ended. Waits until all is gone."""
        if self._end is None:
            # The end of its input is the order to end: it also comes when we are killed.
            self._close_orders()
            self._end = self._account()
            self._finish()
        return self._end

    def end_for_output(self, *, is_cut: bool) -> End:
        """End it whatever it reports; how it ended, where that came first.

        is_cut: only a cut connection tells of too much. The end of the program cuts it too, so that is waited for.
        """
        if is_cut:
            select.select([self.handle], [], [], _DEATH_TOLD_S)
        # The watchdog's own reason wins over what we suspected.
        end = self.end()
        return end._replace(why="output") if end.why == "asked" else end

    def abandon(self) -> End:
        """Kill the watchdog too, which does not answer: a cell may have stopped it."""
        # A cell may have sent it SIGSTOP: it would never answer.
        self._process.kill()
        return self.end()

    def _account(self) -> End:
        told = self._event()
        # The watchdog is gone, so its account is as well: what carries the mark is killed here.
        if told is None:
            return End("watchdog", None, (), tuple(_end_strays(self.mark)), "")
        return End(
            told["why"],
            told["status"],
            tuple(told["left_running"]),
            tuple(told["survivors"]),
            told["last_words"],
        )

    def _event(self) -> dict[str, Any] | None:
        """The next line of the watchdog, None when it is gone."""
        while b"\n" not in self._heard:
            # Read straight from the handle: a buffer would hold lines that select does not see.
            data = os.read(self.handle, 65_536)
            if not data:
                return None
            self._heard += data
        line, _, self._heard = self._heard.partition(b"\n")
        event: dict[str, Any] = json.loads(line)
        return event

    def _close_orders(self) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.close()
        except BrokenPipeError:
            return  # What was not read yet does not matter to a watchdog that has gone.

    def _finish(self) -> None:
        self._close_orders()
        assert self._process.stdout is not None
        self._process.stdout.close()
        # Waited for, so that no zombie remains.
        self._process.wait()


def _marked(mark: str) -> list[int]:
    """The processes with this mark, ourselves left out."""
    wanted = f"{MARK}={mark}".encode()
    pids = (int(path.name) for path in Path("/proc").glob("[0-9]*"))
    # Ourselves left out: we may run under a mark as well.
    return [
        pid
        for pid in pids
        if pid != os.getpid() and wanted in _environment(pid)
    ]


def _end_strays(mark: str) -> list[int]:
    """Kill them until none is left; those that are after _GRACE_S."""
    until = time.monotonic() + _GRACE_S
    # Again and again: a process may fork while it is being killed.
    while (left := _marked(mark)) and time.monotonic() < until:
        for pid in left:
            _kill(pid)
        time.sleep(_PAUSE_S)
    return left


def _environment(pid: int) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    # A process of another user is not one of ours.
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return []


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return
