"""Notebooks on a Dask cluster: two workers against one, and what Dask itself takes for each notebook.

python -m benchmarks.dask_speedup [N_NOTEBOOKS]

The bounds: two workers on two cores do the work of one at least 1.8 times as fast, and a notebook of which nothing is
asked takes less than 20 ms more than in a plain loop. A piece of work is a tenth of a second of one core. Where others
use the machine two workers share what is left of it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event
from typing import Any

from benchmarks._timing import machine, timed
from crane_core.pipeline.dask.cluster import LOCAL, Cluster, reached
from crane_core.pipeline.dask.work import WorkPiece, spread

SPEED_UP, OVERHEAD_MS = 1.8, 20.0
BUSY_S = 0.1
N_BUSY, N_EMPTY, ROUNDS = 150, 500, 3


def empty(given: int, stop: Event) -> list[str]:
    """Nothing."""
    return [str(given)]


def busy(given: float, stop: Event) -> list[str]:
    """So many seconds of processor time."""
    until = time.thread_time() + given
    while time.thread_time() < until:
        pass
    return [str(given)]


def all_of(
    cluster: Cluster, work: Callable[[Any, Event], list[str]], given: list[Any]
) -> None:
    """Every piece done, each once."""
    pieces = [WorkPiece(f"n{number}", one) for number, one in enumerate(given)]
    done = list(spread(cluster, "benchmark", work, pieces, Event()))
    assert {one.name for one in done} == {piece.name for piece in pieces}
    assert len(done) == len(pieces)


@contextmanager
def warm(n_workers: int) -> Iterator[Cluster]:
    """A local cluster whose workers have loaded what they need."""
    with reached(LOCAL, n_workers) as cluster:
        all_of(cluster, empty, list(range(20 * n_workers)))
        yield cluster


def overhead() -> None:
    given = list(range(N_EMPTY))
    loop_s, _ = timed(lambda: [empty(number, Event()) for number in given])
    with warm(2) as cluster:
        for _ in range(ROUNDS):
            seconds, _ = timed(lambda: all_of(cluster, empty, given))
            each_ms = (seconds - loop_s) / N_EMPTY * 1e3
            print(
                f"{N_EMPTY} empty notebooks: {each_ms:.1f} ms each (limit "
                f"{OVERHEAD_MS:.0f}); {machine()}"
            )


def speed_up(n: int) -> None:
    for _ in range(ROUNDS):
        took = []
        for n_workers in (1, 2):
            with warm(n_workers) as cluster:
                seconds, _ = timed(lambda: all_of(cluster, busy, [BUSY_S] * n))
                took.append(seconds)
        one_s, two_s = took
        print(
            f"{n} times {BUSY_S} s of work: {one_s:.1f} s by one worker, "
            f"{two_s:.1f} s by two, "
            f"{one_s / two_s:.2f} times as fast (limit {SPEED_UP}); "
            f"{machine()}"
        )


def main(n: int) -> None:
    overhead()
    speed_up(n)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else N_BUSY)
