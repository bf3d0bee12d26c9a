"""Processes that carry a kernel's mark in their environment, for when the watchdog itself was killed.

Knows /proc. A process inherits its environment however often it forks and whatever session it joins; only one that was
started with its own environment escapes this, and only when there is no watchdog left.
"""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

MARK = "CRANE_KERNEL"
"""The variable that names the kernel to which a process belongs."""
GRACE_S = 10.0
_PAUSE_S = 0.01


def marked(mark: str) -> list[int]:
    """The processes with this mark, ourselves left out."""
    wanted = f"{MARK}={mark}".encode()
    pids = (int(path.name) for path in Path("/proc").glob("[0-9]*"))
    # Ourselves left out: we may run under a mark as well.
    return [pid for pid in pids if pid != os.getpid() and wanted in _environment(pid)]


def end_strays(mark: str) -> list[int]:
    """Kill them until none is left; those that are after GRACE_S."""
    until = time.monotonic() + GRACE_S
    # Again and again: a process may fork while it is being killed.
    while (left := marked(mark)) and time.monotonic() < until:
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
