"""Detectors that run on this machine: each instance once, in a bounded number of separate processes.

Where one at a time is enough, no other process is started: it would import everything again and work no faster.
"""

import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    Future,
    ProcessPoolExecutor,
    wait,
)
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from threading import Event

from crane_core.detectors import registry
from crane_core.domain import Job, Run
from crane_core.errors import CraneError, DetectorError
from crane_core.helper_process import begin_worker, isolated_workers
from crane_core.pipeline.detection.detect import JobPlan
from crane_core.pipeline.jobs.files import sayable
from crane_core.pipeline.jobs.work import INTERRUPTED, Keep, Key, Worker

AT_ONCE = 10
"""Instances that a tool is started for where it can take several: enough to share its start, few enough to lose."""

LOOK_S = 0.2
"""Seconds between two checks of the stop event."""

Batch = Sequence[Key]
Predictions = list[registry.Prediction | DetectorError]


def in_processes(plan: JobPlan, concurrency: int) -> Worker:
    """A worker that asks the plan's detector about each open instance."""

    def work(items: Sequence[Key], keep: Keep, stop: Event) -> str | None:
        found = batches(plan, items, concurrency)
        n_workers = max(1, min(concurrency, len(found)))
        if n_workers == 1:
            return _in_this_process(plan, found, keep, stop)
        # A fork of a process that has threads may deadlock.
        started = get_context("spawn")
        with (
            isolated_workers(),
            ProcessPoolExecutor(
                n_workers, mp_context=started, initializer=_begin
            ) as pool,
        ):
            waiting = iter(found)
            running: dict[Future[Predictions], Batch] = {}
            # Twice as many as workers, so that none waits for this loop to look.
            _fill(running, pool, plan, waiting, 2 * n_workers)
            while running:
                done, _ = wait(
                    running, timeout=LOOK_S, return_when=FIRST_COMPLETED
                )
                for future in done:
                    batch = running.pop(future)
                    for run in _runs(
                        plan, batch, _outcome(plan, batch, future)
                    ):
                        keep(run, None)
                if stop.is_set():
                    _give_up(running)
                else:
                    _fill(running, pool, plan, waiting, 2 * n_workers)
        return INTERRUPTED if stop.is_set() else None

    return work


def _in_this_process(
    plan: JobPlan, found: Sequence[Batch], keep: Keep, stop: Event
) -> str | None:
    """The same answers, one batch after another."""
    for batch in found:
        if stop.is_set():
            return INTERRUPTED
        said: Predictions | Exception
        try:
            said = _predict(
                plan.job.detector, [question(plan, key) for key in batch]
            )
        except Exception as error:  # noqa: BLE001 - it is the reason that these instances are unanswered
            said = error
        for run in _runs(plan, batch, said):
            keep(run, None)
    return INTERRUPTED if stop.is_set() else None


def batches(
    plan: JobPlan, items: Sequence[Key], concurrency: int
) -> list[Batch]:
    """Batches of several instances for a tool that takes several, but small enough to keep every core busy."""
    if not hasattr(registry.local_detector(plan.job.detector), "predict_many"):
        return [[item] for item in items]
    size = max(1, min(AT_ONCE, -(-len(items) // max(1, concurrency))))
    return [items[start : start + size] for start in range(0, len(items), size)]


def _fill(
    running: dict[Future[Predictions], Batch],
    pool: ProcessPoolExecutor,
    plan: JobPlan,
    waiting: Iterator[Batch],
    n: int,
) -> None:
    """Hand out work until `n` batches are out."""
    while len(running) < n and (batch := next(waiting, None)) is not None:
        running[
            pool.submit(
                _predict,
                plan.job.detector,
                [question(plan, key) for key in batch],
            )
        ] = batch


def question(plan: JobPlan, key: Key) -> registry.LocalQuestion:
    """What the detector is shown of an instance."""
    given = plan.inputs[key[0]].input
    if given is None:
        raise ValueError(
            f"{plan.job.job} was planned for a detector that is shown a text"
        )
    return registry.LocalQuestion(given.cells, given.state, plan.job.setting)


def _give_up(running: dict[Future[Predictions], Batch]) -> None:
    """Cancel the batches that no process has started; the others are finished."""
    for future in [future for future in running if future.cancel()]:
        del running[future]


def _begin() -> None:
    """In a process of the pool; interrupts are left to the parent."""
    begin_worker()
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _predict(
    detector: str, questions: Sequence[registry.LocalQuestion]
) -> Predictions:
    """In this process, or in one of the pool."""
    return list(
        registry.predictions(registry.local_detector(detector), questions)
    )


def _outcome(
    plan: JobPlan, batch: Batch, future: Future[Predictions]
) -> Predictions | BaseException:
    """What a process of the pool answered or raised. Raises DetectorError if it ended instead."""
    error = future.exception()
    if isinstance(error, BrokenProcessPool):
        raise DetectorError(
            f"A process of {plan.job.detector} ended unexpectedly, at {batch[0][0]} or one of its neighbours.",
            remedy="It may be out of memory: use --concurrency 1; the same command resumes there.",
        ) from error
    return future.result() if error is None else error


def _runs(
    plan: JobPlan, batch: Batch, said: Predictions | BaseException
) -> Iterator[Run]:
    """The detector's answers; if it failed, the instances are unanswered and the exception is the reason."""
    each = [said] * len(batch) if isinstance(said, BaseException) else said
    for key, one in zip(batch, each, strict=True):
        yield run_of(plan.job, key, one)


def run_of(
    job: Job, key: Key, said: registry.Prediction | BaseException
) -> Run:
    """A detector's answer about an instance, or why there is none."""
    instance_id, run_index = key
    where = (
        job.benchmark,
        instance_id,
        job.detector,
        job.setting,
        job.job,
        run_index,
    )
    if isinstance(said, BaseException):
        why = (
            str(said)
            if isinstance(said, CraneError)
            else f"{type(said).__name__}: {said}"
        )
        return Run(*where, None, unanswered=sayable(why))
    return Run(
        *where,
        said.crashes,
        reasoning=sayable(said.reasoning) if said.reasoning else None,
        diagnostics=sayable(said.diagnostics) if said.diagnostics else None,
    )
