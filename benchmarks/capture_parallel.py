"""Capturing minibench two notebooks at a time against the same kernels one after the other.

python -m benchmarks.capture_parallel [N_WORKERS]

The bound: on two cores the whole takes no more than 1.15 times half the sum of the kernels' times, each from its start
to its end, measured alone. Pairs whose libraries are not installed (`make ml`) are left out and named.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from benchmarks._timing import machine, timed
from crane_core.errors import CraneError
from crane_core.notebooks import read_code_cells, target_index
from crane_core.pipeline.places import embedded
from crane_core.runtime.capture import Captured, capture_many

LIMIT = 1.15
ROUNDS = 2
OPTIONAL = {"torch": "torch", "torchvision": "torchvision", "tensorflow": "tensorflow", "lightgbm": "lightgbm"} | {
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


def captured(notebooks: list[tuple[Path, int]], n_workers: int) -> tuple[float, list[Captured]]:
    """Seconds for all of them, and what was captured; a notebook that cannot be captured ends the measurement."""
    paths, targets = [path for path, _ in notebooks], [target for _, target in notebooks]
    seconds, outcomes = timed(lambda: list(capture_many(paths, n_workers, targets=targets)))
    for outcome in outcomes:
        if isinstance(outcome, CraneError):
            raise outcome
    return seconds, [outcome for outcome in outcomes if isinstance(outcome, Captured)]


def main(n_workers: int) -> None:
    notebooks = list(pairs())
    print(machine())
    captured(notebooks[:2], 1)
    for _ in range(ROUNDS):
        _, alone = captured(notebooks, 1)
        seconds, together = captured(notebooks, n_workers)
        for what, done in (("alone", alone), ("in the same run", together)):
            total = sum(one.kernel_seconds for one in done)
            print(
                f"{len(notebooks)} notebooks, {n_workers} at once: {seconds:.1f} s; kernels' time {what} {total:.1f} s"
            )
            print(f"ratio {seconds / (total / n_workers):.3f} (limit {LIMIT}); {machine()}")
        looks = sorted(one.sight.seconds for one in alone)
        print(f"looking: median {looks[len(looks) // 2] * 1e3:.1f} ms, longest {looks[-1] * 1e3:.1f} ms")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2)
