"""A notebook brought to the moment before its target cell in a fresh kernel, and what the kernel holds then.

Knows the order of the work, and how a second kernel is used for a target whose first copy lacked threads: its copy runs
the same cells itself (kernel_copy/rehearsed.py of crane_probe says what it must come to). Which cells run is
in plan.py; how kernels are driven, in kernel.py; what is looked at, in kernel_side/crane_probe.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from typing import Any

from crane_core.errors import CraneError, KernelStartError
from crane_core.runtime import interpreters, probe_source
from crane_core.runtime.endings import ended
from crane_core.runtime.kernel import EndedError, ExpressionError, fresh_kernel
from crane_core.runtime.limits import KernelLimits
from crane_core.runtime.plan import read_plan
from crane_core.runtime.program import Program, program
from crane_core.runtime.rehearsal import Rehearsal, Visit, rehearsal_of
from crane_core.runtime.run_up import ProbeResult, RanCell, RunUp


@dataclass(frozen=True, slots=True)
class Captured:
    """The state before a target cell: `target` and the cells of `cells` count code cells from 0.

    `kernel_seconds` is the time from the kernel's start to its end. `processes` were still running beside the kernel
    when the look was done.
    """

    notebook: str
    target: int
    cells: tuple[RanCell, ...]
    result: ProbeResult
    processes: tuple[str, ...]
    kernel_seconds: float

    def to_json(self) -> dict[str, Any]:
        """The probe's state (design, section 4) with what is known of its capture; what it took the look alone."""
        cells = [
            {
                name: fact
                for name, fact in cell._asdict().items()
                if fact is not None
            }
            for cell in self.cells
        ]
        left_running = {
            "threads": list(self.result.threads),
            "processes": list(self.processes),
        }
        about = {
            "notebook": self.notebook,
            "target": self.target,
            "capture_seconds": self.result.seconds,
        }
        captured = {
            **self.result.state["captured"],
            "cells": cells,
            "left_running": left_running,
        }
        return {
            **self.result.state,
            **about,
            "captured": captured,
            "probes": list(self.result.probes),
        }


def capture(
    notebook: Path,
    *,
    target: int | None = None,
    python: str | Path | None = None,
    kernel: str | None = None,
    limits: KernelLimits = KernelLimits(),  # noqa: B008 - a NamedTuple is immutable
    probes: Sequence[str] = (),
    keep_going: bool = False,
    rehearse_s: float | None = None,
    runs_again: bool = True,
    visit: Visit | None = None,
    stop: threading.Event | None = None,
) -> Captured:
    """Run the cells before the target in a fresh kernel and look at what the target will meet.

    `target` counts code cells from 0; without it, it is the first cell with an error output, else the last. The kernel
    is the kernelspec `kernel`, or ipykernel in the interpreter `python`, else in ours. With `keep_going` a cell that
    raises is recorded and the next one runs. With `rehearse_s` the target itself runs, for so many seconds at most, in
    a copy of the kernel that is dropped; where the copy lacks threads, in a second kernel after the same cells, unless
    `runs_again` is False; `visit` may rehearse other cells there. When `stop` is set, the capture ends in a moment.

    Raises NotebookError, or a KernelError that names the cell; no process is left behind in either case.
    """
    plan = read_plan(notebook, target)
    with_kernel = program(kernel=kernel, python=python)
    if python is not None:
        # An interpreter that runs the notebook may also be asked about its libraries.
        interpreters.name(with_kernel.argv[0])
    started = time.perf_counter()
    with fresh_kernel(
        with_kernel, notebook.resolve().parent, limits, stop
    ) as running:
        way = RunUp(plan, running, installs=limits.installs)
        try:
            result = way.make(
                probes,
                keep_going=keep_going,
                rehearse_s=rehearse_s,
                runs_again=runs_again,
                visit=visit,
            )
        # The kernel alone does not know why it ended: the watchdog does.
        except EndedError as error:
            raise ended(error.end, way.what, way.cell, limits) from error
        # Ended here, before the second kernel starts: two of them may not fit in memory.
        processes = running.end().left_running
    seconds = time.perf_counter() - started
    if result.again is not None and result.rehearsal is not None:
        folder = notebook.resolve().parent
        told = _rehearsed_again(
            result.rehearsal, result.again, with_kernel, folder, limits, stop
        )
        result = result._replace(rehearsal=told, again=None)
    return Captured(
        notebook.name,
        plan.target.index,
        tuple(way.ran),
        result,
        processes,
        seconds,
    )


def _rehearsed_again(
    first: Rehearsal,
    asked: Mapping[str, Any],
    program: Program,
    folder: Path,
    limits: KernelLimits,
    stop: threading.Event | None,
) -> Rehearsal:
    """What the second kernel says, started as the first was; that there was no answer leaves the first's reason.

    Raises KernelError when it has to stop.
    """
    # The cells run inside this one request, so their time is added to that of a look.
    more_s = float(asked["again"]["seconds"]) + float(asked["seconds"])
    try:
        with fresh_kernel(program, folder, limits, stop) as kernel:
            magic = json.loads(kernel.evaluate(probe_source.greet()))["magic"]
            told = json.loads(
                kernel.evaluate(
                    probe_source.rehearse(dict(asked), magic), more_s
                )
            )
    # A failure of the second kernel leaves the question where it was: unknown.
    except (
        EndedError,
        ExpressionError,
        KernelStartError,
        ValueError,
        RecursionError,
    ):
        return first._replace(
            why=f"{first.why}, and a second kernel gave no answer"
        )
    return rehearsal_of(told)._replace(ran_again=True, lacks_threads=False)


def capture_many(
    notebooks: Sequence[Path],
    n_workers: int,
    *,
    targets: Sequence[int | None] | None = None,
    **options: Any,
) -> Iterator[Captured | CraneError]:
    """Capture several notebooks, `n_workers` at once, each in its own kernel; `options` are those of `capture`.

    Yields one outcome for each notebook, in their order; one that fails is its error and holds up no other.
    """
    # One event for all: a caller that stops reading ends every kernel that runs.
    stop = threading.Event()

    def one(notebook: Path, target: int | None) -> Captured | CraneError:
        try:
            return capture(notebook, target=target, stop=stop, **options)
        # As a result, not raised: the other notebooks continue.
        except CraneError as error:
            return error

    pool = ThreadPoolExecutor(n_workers, thread_name_prefix="capture")
    try:
        yield from pool.map(
            one, notebooks, repeat(None) if targets is None else targets
        )
    finally:
        # Also where the caller breaks off its loop: no kernel outlives it.
        stop.set()
        pool.shutdown(cancel_futures=True)
