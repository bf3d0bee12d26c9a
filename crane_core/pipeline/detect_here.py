"""Detectors that run on this machine: each instance once, in processes of their own, as many at a time as asked for."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from threading import Event

from crane_core.detectors.prediction import Prediction
from crane_core.detectors.registry import local_detector
from crane_core.domain import Run, Setting
from crane_core.errors import CraneError, DetectorError
from crane_core.pipeline.detect import Plan
from crane_core.pipeline.job_files import sayable
from crane_core.pipeline.job_work import INTERRUPTED, Keep, Key, Worker
from crane_core.pipeline.prompt import Input

LOOK_S = 0.2
"""How often it is looked whether the work is to stop."""


def n_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0))


def in_processes(plan: Plan, concurrency: int) -> Worker:
    """A worker that asks the plan's detector about each open instance."""

    def work(items: Sequence[Key], keep: Keep, stop: Event) -> str | None:
        started = get_context("spawn")
        n_workers = max(1, min(concurrency, len(items)))
        with ProcessPoolExecutor(n_workers, mp_context=started, initializer=_leave_interrupts_to_the_parent) as pool:
            waiting = iter(items)
            running: dict[Future[Prediction], Key] = {}
            _fill(running, pool, plan, waiting, 2 * n_workers)
            while running:
                done, _ = wait(running, timeout=LOOK_S, return_when=FIRST_COMPLETED)
                for future in done:
                    keep(_run(plan, running.pop(future), future), None)
                if stop.is_set():
                    _give_up(running)
                else:
                    _fill(running, pool, plan, waiting, 2 * n_workers)
        return INTERRUPTED if stop.is_set() else None

    return work


def _fill(
    running: dict[Future[Prediction], Key],
    pool: ProcessPoolExecutor,
    plan: Plan,
    waiting: Iterator[Key],
    n: int,
) -> None:
    """Hand out instances until `n` are out."""
    while len(running) < n and (item := next(waiting, None)) is not None:
        instance_id, _ = item
        future = pool.submit(_predict, plan.job.detector, plan.sights[instance_id].input, plan.job.setting)
        running[future] = item


def _give_up(running: dict[Future[Prediction], Key]) -> None:
    """Take back what no process has begun; what is being worked on is finished."""
    for future in [future for future in running if future.cancel()]:
        del running[future]


def _leave_interrupts_to_the_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _predict(detector: str, given: Input | None, setting: Setting) -> Prediction:
    if given is None:
        raise DetectorError("There are no cells to look at.", remedy="Plan the work for a detector without prompts.")
    return local_detector(detector).predict(given.cells, given.state, setting)


def _run(plan: Plan, item: Key, future: Future[Prediction]) -> Run:
    """What the detector said; an instance on which it failed is unanswered, with what it raised as the reason."""
    job = plan.job
    instance_id, run_index = item
    where = (job.benchmark, instance_id, job.detector, job.setting, job.job, run_index)
    error = future.exception()
    if isinstance(error, BrokenProcessPool):
        raise DetectorError(
            f"A process of {job.detector} ended on its own, at {instance_id} or one of its neighbours.",
            remedy="It may lack memory: name fewer at a time, --concurrency 1; the same command goes on from there.",
        ) from error
    if error is not None:
        said = str(error) if isinstance(error, CraneError) else f"{type(error).__name__}: {error}"
        return Run(*where, None, unanswered=sayable(said))
    prediction = future.result()
    return Run(
        *where,
        prediction.crashes,
        reasoning=sayable(prediction.reasoning) if prediction.reasoning else None,
        diagnostics=sayable(prediction.diagnostics) if prediction.diagnostics else None,
    )
