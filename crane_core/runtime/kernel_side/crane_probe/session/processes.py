"""Programs that the kernel has started and that still run: they may write files meanwhile.

Knows Linux's /proc. Where there is none, nothing is stated.
"""

from __future__ import annotations

import os
import time
from typing import Iterator

from .threads import worker_processes

# They free what ended workers leave behind, and write no files of the notebook.
_HELPERS = (
    "multiprocessing.resource_tracker",
    "multiprocessing.forkserver",
    "semaphore_tracker",
    "loky.backend.res",
)
_OURS = "crane_core"
STANDBY_NAME = "crane-undo"
"""Of the copy of a kernel that waits for an undo (undo/standby.py); it has the command line of its kernel."""
_MOST = 20
_LONGEST = 60
_STARTING_MS = 20
"""How long a child is looked at until it has a command line."""


def processes() -> list[str]:
    """Command lines of the children that are neither ours nor idle workers of a pool."""
    # Workers of joblib stay for minutes after their last task, and do nothing.
    idle = worker_processes()
    found = [
        (number, command(number)) for number in children() if number not in idle
    ]
    return [
        command
        for number, command in found
        if command and not _is_helper(command)
    ][:_MOST]


def children() -> Iterator[int]:
    """Numbers of the processes that the kernel has started, its copies for an undo left out."""
    try:
        threads = os.listdir("/proc/self/task")  # noqa: PTH208 - pathlib may not be loaded here
    except OSError:
        return
    for thread in threads:
        told = _read(f"/proc/self/task/{thread}/children")
        for number in map(int, told.split()):
            if _read(f"/proc/{number}/comm").strip() != STANDBY_NAME:
                yield number


def command(number: int) -> str:
    """Empty for a child that has ended, and was only not waited for."""
    for _ in range(_STARTING_MS):
        # The name of a program may hold brackets and blanks.
        state = _read(f"/proc/{number}/stat").rpartition(")")[2].split()[:1]
        # A zombie can write nothing any more.
        if state in ([], ["Z"]):
            return ""
        if words := list(
            filter(None, _read(f"/proc/{number}/cmdline").split("\0"))
        ):
            return " ".join(words)
        # While its program starts a child has no words: one of ours would be taken for somebody's work.
        time.sleep(0.001)
    return f"process {number}"


def _is_helper(command: str) -> bool:
    return _OURS in command or any(name in command for name in _HELPERS)


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:  # noqa: PTH123 - as above
            return file.read()
    except OSError:
        return ""
