"""Detectors that need no model, on the workers of a Dask cluster: the same questions and answers as on this machine."""

import json
import socket
from collections.abc import Iterator, Sequence
from functools import cache
from threading import Event
from typing import NamedTuple

from crane_core import ledger
from crane_core.detectors import registry
from crane_core.domain import Job, Run
from crane_core.errors import ClusterError
from crane_core.pipeline.dask.cluster import Cluster
from crane_core.pipeline.dask.work import FinishedPiece, WorkPiece, spread
from crane_core.pipeline.dask.worker import Lines
from crane_core.pipeline.detection.detect import JobPlan
from crane_core.pipeline.detection.here import batches, question, run_of
from crane_core.pipeline.jobs.files import encoded
from crane_core.pipeline.jobs.work import INTERRUPTED, Keep, Key, Worker


class DetectionWork(NamedTuple):
    """What a worker is given: instances with what the detector is shown of each, and the options of the job."""

    job: Job
    options: str
    keys: Sequence[Key]
    questions: Sequence[registry.LocalQuestion]


def on_cluster(plan: JobPlan, cluster: Cluster) -> Worker:
    """A worker that asks the plan's detector about each open instance on the cluster."""

    def work(items: Sequence[Key], keep: Keep, stop: Event) -> str | None:
        options = encoded(plan.request.options)
        asked = {
            json.dumps(keys): keys
            for keys in batches(plan, items, cluster.n_threads())
        }
        pieces = (
            WorkPiece(
                name,
                DetectionWork(
                    plan.job,
                    options,
                    keys,
                    [question(plan, key) for key in keys],
                ),
            )
            for name, keys in asked.items()
        )
        for done in spread(cluster, plan.job.job, runs_of, pieces, stop):
            for run in merged(plan.job, asked[done.name], done):
                keep(run, None)
        return INTERRUPTED if stop.is_set() else None

    return work


def runs_of(asked: DetectionWork, stop: Event) -> Lines:
    """On a worker: the ledger lines of what the detector says. Raises ClusterError if its versions differ."""
    _check_versions(asked.job.detector, asked.options)
    said = registry.predictions(
        registry.local_detector(asked.job.detector), asked.questions
    )
    return [
        ledger.to_line(run_of(asked.job, key, one)).decode()
        for key, one in zip(asked.keys, said, strict=True)
    ]


@cache
def _check_versions(detector: str, options: str) -> None:
    here = encoded(registry.local_detector(detector).options())
    if here != options:
        raise ClusterError(
            f"{detector} on {socket.gethostname()} answers otherwise than the driver's: {here} instead of {options}.",
            remedy="Install the same versions on every worker.",
        )


def merged(job: Job, keys: Sequence[Key], done: FinishedPiece) -> Iterator[Run]:
    """The answers of a batch, which are about the requested instances and no others."""
    if done.error is not None:
        yield from (run_of(job, key, done.error) for key in keys)
        return
    runs = [
        run
        for line in done.lines
        if isinstance(run := ledger.from_line(line.encode()), Run)
    ]
    told = [
        (
            run.benchmark,
            run.detector,
            run.setting,
            run.experiment,
            run.instance_id,
            run.run_index,
        )
        for run in runs
    ]
    if told != [
        (job.benchmark, job.detector, job.setting, job.job, *key)
        for key in keys
    ]:
        raise ClusterError(
            f"A worker answered something other than {keys[0][0]}.",
            remedy="Check who uses the cluster.",
        )
    yield from runs
