"""Capturing minibench two notebooks at a time against the same kernels one after the other.

python -m benchmarks.capture_parallel [N_WORKERS]

The bound: on two cores the whole takes no more than 1.15 times half the sum of the kernels' times, each from its start
to its end. These are measured one after the other, which tells little where others use the machine (see the load), and
in the same run; processor time does not depend on that. Pairs whose libraries are not installed (`make ml`) are named.
"""

from __future__ import annotations

import resource
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from benchmarks._timing import machine, timed
from crane_core.errors import CraneError
from crane_core.notebooks import read_code_cells, target_index
from crane_core.pipeline.places import embedded
from crane_core.runtime.capture import Captured, capture_many

LIMIT = 1.15
ROUNDS = 2
OPTIONAL = {
    "torch": "torch",
    "torchvision": "torchvision",
    "tensorflow": "tensorflow",
    "lightgbm": "lightgbm",
} | {
    "seaborn": "seaborn",
    "statsmodels": "statsmodels",
}


def pairs() -> Iterator[tuple[Path, int]]:
    """Both notebooks of every pair that can run here, each with the index of its target."""
    for folder in sorted((embedded()["minibench"] / "benchmark").iterdir()):
        library = folder.name.rpartition("_")[0]
        crashing = folder / f"{folder.name}_reproduced.ipynb"
        target = target_index(read_code_cells(crashing.read_bytes()))
        if library in OPTIONAL and find_spec(OPTIONAL[library]) is None:
            print(f"left out, {library} is not installed: {folder.name}")
        elif target is not None:
            yield crashing, target
            yield folder / f"{folder.name}_fixed.ipynb", target


class Series(NamedTuple):
    """A run over all notebooks: wall time, processor time of the kernels with their watchdogs and of ourselves."""

    seconds: float
    kernels_cpu_s: float
    own_cpu_s: float
    captured: list[Captured]


def series(notebooks: list[tuple[Path, int]], n_workers: int) -> Series:
    """Capture all of them; a notebook that cannot be captured ends the measurement."""
    paths, targets = (
        [path for path, _ in notebooks],
        [target for _, target in notebooks],
    )
    before = _cpu_s()
    seconds, outcomes = timed(
        lambda: list(capture_many(paths, n_workers, targets=targets))
    )
    kernels, own = (now - then for now, then in zip(_cpu_s(), before, strict=True))
    for outcome in outcomes:
        if isinstance(outcome, CraneError):
            raise outcome
    return Series(
        seconds,
        kernels,
        own,
        [outcome for outcome in outcomes if isinstance(outcome, Captured)],
    )


def _cpu_s() -> tuple[float, float]:
    """Processor seconds of the children that have ended, and our own."""
    used = [
        resource.getrusage(who)
        for who in (resource.RUSAGE_CHILDREN, resource.RUSAGE_SELF)
    ]
    return used[0].ru_utime + used[0].ru_stime, used[1].ru_utime + used[1].ru_stime


def main(n_workers: int) -> None:
    notebooks = list(pairs())
    print(machine())
    series(notebooks[:2], 1)
    for _ in range(ROUNDS):
        alone, together = series(notebooks, 1), series(notebooks, n_workers)
        for what, done in (
            ("one after the other", alone),
            ("in the same run", together),
        ):
            total, wall = (
                sum(one.kernel_seconds for one in done.captured),
                together.seconds,
            )
            print(
                f"{len(notebooks)} notebooks, {n_workers} at once: {wall:.1f} s; kernels {what} {total:.1f} s"
            )
            print(
                f"ratio {wall / (total / n_workers):.3f} (limit {LIMIT}); {machine()}"
            )
        used = together.kernels_cpu_s + together.own_cpu_s
        print(
            f"processor time: {alone.kernels_cpu_s:.1f} s one after the other, {used:.1f} s at once, "
            f"{together.own_cpu_s:.1f} s of it ours; ratio {used / alone.kernels_cpu_s:.3f}"
        )
        looks = sorted(one.result.seconds for one in alone.captured)
        print(
            f"looking: median {looks[len(looks) // 2] * 1e3:.1f} ms, longest {looks[-1] * 1e3:.1f} ms"
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2)
