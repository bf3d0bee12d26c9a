"""How much of the machine other programs took while a benchmark ran.

Load averages count the benchmark itself, so the processor time of all processes is compared with that of the
benchmark's own: whatever descends from it, a server and a browser included.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread

import psutil

_SAMPLE_S = 0.25


class Watch:
    """Processor seconds since it began, of one process, `pid`, and its descendants.

    `others` are cores that other programs took on average.
    """

    def __init__(self) -> None:
        self.others = 0.0
        self.pid: int | None = None
        self._own: dict[int, float] = {}

    def look(self) -> None:
        """Note what each process of the benchmark has used so far; a process that ended keeps its last note."""
        if self.pid is None:
            return
        with suppress(psutil.NoSuchProcess):
            benchmark = psutil.Process(self.pid)
            for process in (benchmark, *benchmark.children(recursive=True)):
                with suppress(psutil.NoSuchProcess):
                    user_s, system_s, *_ = process.cpu_times()
                    self._own[process.pid] = user_s + system_s

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


def _busy_s() -> float:
    """Processor seconds of all processes since the start of the machine."""
    used = psutil.cpu_times()
    # Not the sum of all fields: waiting for a disk is idle, and time of guests is counted as the user's already.
    fields = ("user", "nice", "system", "irq", "softirq", "steal")
    return sum(getattr(used, field, 0.0) for field in fields)
