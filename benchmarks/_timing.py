"""Measured times in words: medians, percentiles, and what this machine was doing meanwhile."""

from __future__ import annotations

import gc
import os
import statistics
import time
from collections.abc import Callable
from typing import NamedTuple, TypeVar

T = TypeVar("T")


class Times(NamedTuple):
    """Seconds of several runs of one thing."""

    seconds: list[float]

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    @property
    def p95(self) -> float:
        """The 95th percentile, interpolated; of few runs it is close to the largest."""
        return statistics.quantiles(self.seconds, n=20, method="inclusive")[-1]

    def in_ms(self) -> str:
        median, p95, most = (
            f"{each * 1e3:,.0f} ms"
            for each in (self.median, self.p95, max(self.seconds))
        )
        return f"median {median}, p95 {p95}, most {most}, n {len(self.seconds)}"


def timed(work: Callable[[], T]) -> tuple[float, T]:
    """Seconds that `work` took, and what it gave. Garbage of what went before is collected first."""
    gc.collect()
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def repeated(work: Callable[[], object], n: int) -> Times:
    """`n` runs of `work`, after one that does not count."""
    work()
    return Times([timed(work)[0] for _ in range(n)])


def machine() -> str:
    """What a reader has to know to compare: cores, and the load of the last minute."""
    return f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
