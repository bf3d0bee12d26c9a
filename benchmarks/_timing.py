"""What every benchmark begins and ends with: its options, times in words, and what this machine was doing meanwhile."""

from __future__ import annotations

import argparse
import gc
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeVar

T = TypeVar("T")


def command(doc: str | None) -> argparse.ArgumentParser:
    """The parser of a benchmark's command; its docstring is the help."""
    return argparse.ArgumentParser(
        prog=f"python -m benchmarks.{Path(sys.argv[0]).stem}",
        description=doc,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def options(doc: str | None, **defaults: int | float) -> argparse.Namespace:
    """What the command line gives for --option; of the type of its default, False is a flag."""
    parser = command(doc)
    for name, default in defaults.items():
        option = f"--{name.replace('_', '-')}"
        if default is False:
            parser.add_argument(option, action="store_true")
        else:
            parser.add_argument(
                option,
                type=type(default),
                default=default,
                help=f"default: {default}",
            )
    return parser.parse_args()


class Times(NamedTuple):
    """Seconds of several runs of one thing."""

    seconds: list[float]

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    @property
    def p95(self) -> float:
        """The 95th percentile, interpolated; of few runs it is close to the largest."""
        if len(self.seconds) == 1:
            return self.seconds[0]
        return statistics.quantiles(self.seconds, n=20, method="inclusive")[-1]

    def in_ms(self) -> str:
        return (
            f"median {self.median * 1e3:,.0f} ms, "
            f"p95 {self.p95 * 1e3:,.0f} ms, "
            f"most {max(self.seconds) * 1e3:,.0f} ms, "
            f"n {len(self.seconds)}"
        )


def timed(work: Callable[[], T]) -> tuple[float, T]:
    """Seconds that `work` took, and what it gave. Garbage of what went before is collected first."""
    gc.collect()
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def machine() -> str:
    """What a reader has to know to compare: cores, and the load of the last minute."""
    return f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
