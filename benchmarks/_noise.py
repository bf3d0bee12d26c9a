"""How much of the machine other programs took while a benchmark ran.

Load averages count the benchmark itself, so the processor time of all processes is compared with that of the
benchmark's own: whatever descends from it, a server and a browser included.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

_PROC = Path("/proc")
_SAMPLE_S = 0.25
_TICKS = os.sysconf("SC_CLK_TCK")


class Watch:
    """Processor seconds since it began: of the whole machine, and of the descendants of one process.

    `others` are cores that other programs took on average, NaN where the system does not tell.
    """

    def __init__(self) -> None:
        self.others = float("nan")
        self.pid: int | None = None
        self._own: dict[int, float] = {}

    def look(self) -> None:
        """Note what each process of the benchmark has used so far; a process that ended keeps its last note."""
        parents, used = _processes()
        for process in descendants(self.pid, parents) if self.pid else ():
            self._own[process] = max(self._own.get(process, 0.0), used[process])

    @property
    def own_s(self) -> float:
        return sum(self._own.values())


@contextmanager
def watched() -> Iterator[Watch]:
    """Watch the machine during the body, which sets `pid`; `others` stands when it is over."""
    watch, over = Watch(), Event()

    def sample() -> None:
        while not over.wait(_SAMPLE_S):
            watch.look()

    thread = Thread(target=sample, daemon=True)
    start, busy = time.perf_counter(), _busy_s()
    thread.start()
    try:
        yield watch
    finally:
        over.set()
        thread.join()
        elapsed = time.perf_counter() - start
        watch.others = max(0.0, _busy_s() - busy - watch.own_s) / elapsed


def descendants(pid: int, parents: dict[int, int]) -> set[int]:
    """The process and everything below it; `parents` is process to parent."""
    found = {pid} & parents.keys()
    while (
        more := {child for child, parent in parents.items() if parent in found} - found
    ):
        found |= more
    return found


def _busy_s() -> float:
    """Processor seconds of all processes since the start of the machine, NaN where nobody tells."""
    try:
        user, nice, system, _idle, _wait, irq, soft_irq, steal = map(
            int, (_PROC / "stat").read_text().partition("\n")[0].split()[1:9]
        )
    except (OSError, ValueError):
        return float("nan")
    return (user + nice + system + irq + soft_irq + steal) / _TICKS


def _processes() -> tuple[dict[int, int], dict[int, float]]:
    """Process to its parent, and to its processor seconds."""
    parents: dict[int, int] = {}
    used: dict[int, float] = {}
    for entry in _PROC.glob("[0-9]*"):
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it ended meanwhile
        parents[int(entry.name)] = int(fields[1])
        used[int(entry.name)] = (int(fields[11]) + int(fields[12])) / _TICKS
    return parents, used
