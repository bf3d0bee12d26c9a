"""Whether a copy of the kernel may be kept before a cell: the system, a GPU, waiting for processes, memory."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from ..kernel_copy import calls, forked, processors


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


_WAITS_FOR_CHILDREN = ("os.wait", "os.fork", "SIGCHLD")
_USUAL = (signal.SIG_DFL, signal.SIG_IGN, None)
_LEAST_FREE = 500 * 2**20
_SHARE = 0.25


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
