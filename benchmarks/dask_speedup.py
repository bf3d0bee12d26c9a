"""Notebooks on a Dask cluster: two workers against one, and what Dask itself takes for each notebook.

python -m benchmarks.dask_speedup [N_NOTEBOOKS]

The bounds: two workers on two cores do the work of one at least 1.8 times as fast, and a notebook of which nothing is
asked takes less than 20 ms more than in a plain loop. A piece of work is a tenth of a second of one core; pairs of
minibench, whose kernels use more than one core for a moment, are verified too. Where others use the machine two workers
share what is left of it, so this is told as well: the part of the time that the workers were at a piece, twice which is
the speed-up on two cores that nobody else uses, and the part of a core that they got.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Any

from benchmarks._timing import machine, timed
from crane_core.pipeline.dask.cluster import LOCAL, Cluster, reached
from crane_core.pipeline.dask.work import WorkPiece, spread
from crane_core.pipeline.places import DataFolder, embedded
from crane_core.pipeline.verification.on_dask import on_cluster
from crane_core.pipeline.verification.verify import VerifyOptions, verify
from crane_core.pipeline.verification.where import Bench, benches
from crane_core.runtime.environment import environment_of
from crane_core.runtime.limits import KernelLimits
from crane_core.runtime.program import program

SPEED_UP, OVERHEAD_MS = 1.8, 20.0
BUSY_S = 0.1
N_BUSY, N_EMPTY, ROUNDS = 150, 500, 3
CASES = ("numpy_", "pandas_", "NBspecific_")
"""Cases of minibench whose libraries are installed wherever the app is."""


def empty(given: int, stop: Event) -> list[str]:
    """Nothing."""
    return [str(given)]


def busy(given: float, stop: Event) -> list[str]:
    """So many seconds of processor time; how long these took."""
    start, until = time.perf_counter(), time.thread_time() + given
    while time.thread_time() < until:
        pass
    return [str(time.perf_counter() - start)]


def all_of(
    cluster: Cluster, work: Callable[[Any, Event], list[str]], given: list[Any]
) -> list[str]:
    """The line of each piece."""
    pieces = [WorkPiece(f"n{number}", one) for number, one in enumerate(given)]
    done = list(spread(cluster, "benchmark", work, pieces, Event()))
    assert sorted(one.name for one in done) == sorted(
        piece.name for piece in pieces
    )
    return [one.lines[0] for one in done]


@contextmanager
def warm(n_workers: int) -> Iterator[Cluster]:
    """A local cluster whose workers have loaded what they need."""
    with reached(LOCAL, n_workers) as cluster:
        all_of(cluster, empty, list(range(20 * n_workers)))
        yield cluster


def overhead() -> None:
    loop_s, _ = timed(
        lambda: [empty(number, Event()) for number in range(N_EMPTY)]
    )
    with warm(2) as cluster:
        for _ in range(ROUNDS):
            before = time.process_time()
            seconds, _ = timed(
                lambda: all_of(cluster, empty, list(range(N_EMPTY)))
            )
            own_ms = (time.process_time() - before) / N_EMPTY * 1e3
            each_ms = (seconds - loop_s) / N_EMPTY * 1e3
            print(
                f"{N_EMPTY} empty notebooks: {each_ms:.1f} ms each (limit {OVERHEAD_MS:.0f}), {own_ms:.1f} ms of it "
                f"processor time of driver and scheduler; {machine()}"
            )


def speed_up(n: int) -> None:
    for _ in range(ROUNDS):
        took, busy_for, got = {}, {}, {}
        for n_workers in (1, 2):
            with warm(n_workers) as cluster:
                took[n_workers], lines = timed(
                    lambda: all_of(cluster, busy, [BUSY_S] * n)
                )
            busy_for[n_workers] = sum(map(float, lines)) / (
                n_workers * took[n_workers]
            )
            got[n_workers] = n * BUSY_S / (n_workers * took[n_workers])
        print(
            f"{n} times {BUSY_S} s of work: {took[1]:.1f} s by one worker, {took[2]:.1f} s by two, "
            f"{took[1] / took[2]:.2f} times as fast (limit {SPEED_UP}); at a piece {busy_for[1]:.0%} and "
            f"{busy_for[2]:.0%} of the time; with {got[1]:.0%} and {got[2]:.0%} of a core each; {machine()}"
        )


def pairs_of_minibench(place: Path) -> Bench:
    [bench] = benches(str(embedded()["minibench"]), DataFolder(place), place)
    return bench._replace(
        pairs=[pair for pair in bench.pairs if pair.case_id.startswith(CASES)]
    )


def verified() -> None:
    kernel = program()
    how = VerifyOptions(
        kernel, environment_of(kernel), KernelLimits(), again=True
    )
    with tempfile.TemporaryDirectory() as name:
        bench = pairs_of_minibench(Path(name))
        took = {}
        for n_workers in (1, 2):
            with warm(n_workers) as cluster:
                took[n_workers], found = timed(
                    lambda: verify(
                        bench,
                        DataFolder(Path(name)),
                        how,
                        stop=Event(),
                        executor=on_cluster(cluster),
                    )
                )
                assert len(found) == 2 * len(bench.pairs)
    print(
        f"{len(bench.pairs)} pairs verified: {took[1]:.1f} s by one worker, {took[2]:.1f} s by two, "
        f"{took[1] / took[2]:.2f} times as fast; {machine()}"
    )


def main(n: int) -> None:
    print(machine())
    overhead()
    speed_up(n)
    verified()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else N_BUSY)
