"""A detector on this machine: one worker starts no process, and answers what several processes answer."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from threading import Event

import pytest

from crane_core.detectors import registry
from crane_core.detectors.registry import Prediction
from crane_core.domain import (
    Cell,
    CellRole,
    Detector,
    DetectorKind,
    Job,
    KernelState,
    Prompt,
    Run,
    Setting,
)
from crane_core.pipeline.detection.detect import (
    DetectorInput,
    JobPlan,
    JobQuestion,
    JobRequest,
)
from crane_core.pipeline.detection.here import in_processes
from crane_core.pipeline.detection.prompt import Input
from crane_core.pipeline.jobs.files import Spent, Standing
from crane_core.pipeline.jobs.work import INTERRUPTED, Answer, Work

TARGETS = {"a": "1 / 0", "b": "1 / 1", "c": "[][0]"}


def plan_of(detector: str, targets: dict[str, str]) -> JobPlan:
    job = Job(
        "job", "made", detector, Setting.CODE, "{}", "2026-11-23T00:00:00Z"
    )
    inputs = {
        name: DetectorInput(
            None,
            0,
            Input(
                [Cell("made", name, "made", 0, CellRole.TARGET, code, None, 0)],
                None,
            ),
        )
        for name, code in targets.items()
    }
    items = [JobQuestion(name, 1) for name in inputs]
    kind = Detector(detector, detector, DetectorKind.RULES)
    request = JobRequest(kind, Setting.CODE, "made", {}, is_prompted=False)
    return JobPlan(
        request,
        job,
        Work(job, items, Standing(None, {}, {}, Spent()), kind),
        inputs,
        {},
    )


def answered(
    plan: JobPlan, concurrency: int, stop: Event | None = None
) -> tuple[list[Run], str | None]:
    runs: list[Run] = []

    def keep(answer: Answer, _: Prompt | None) -> None:
        assert isinstance(answer, Run)
        runs.append(answer)

    ended = in_processes(plan, concurrency)(
        [*plan.work.items], keep, stop or Event()
    )
    return sorted(runs, key=lambda run: run.instance_id), ended


class OurDetector:
    """Predicts by whatever function it is made of."""

    NAME, TITLE, KIND = "ours", "Ours", DetectorKind.RULES

    def __init__(self, says: Callable[[str], Prediction]) -> None:
        self._says = says

    def options(self) -> dict[str, object]:
        return {}

    def predict(
        self, cells: Sequence[Cell], state: KernelState | None, setting: Setting
    ) -> Prediction:
        return self._says(cells[0].code)


@pytest.fixture
def ours(
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[[Callable[[str], Prediction]], None]:
    """Makes a function the detector "ours", in this process only: in another one there is no such detector."""

    def make(says: Callable[[str], Prediction]) -> None:
        monkeypatch.setattr(
            registry, "local_detector", lambda _: OurDetector(says)
        )

    return make


@pytest.mark.slow
def test_one_worker_answers_as_two_processes_do() -> None:
    plan = plan_of("rules", TARGETS)
    alone, ended = answered(plan, 1)
    assert ([run.crashes for run in alone], ended) == (
        [True, False, True],
        None,
    )
    assert answered(plan, 2) == (alone, None)


@pytest.mark.parametrize(
    ("concurrency", "targets"), [(1, TARGETS), (8, {"a": "1 / 0"})]
)
def test_where_one_at_a_time_is_enough_it_is_this_process_that_answers(
    ours: Callable[..., None], concurrency: int, targets: dict[str, str]
) -> None:
    seen: list[int] = []

    def says(_: str) -> Prediction:
        seen.append(os.getpid())
        return Prediction(True)

    ours(says)
    answered(plan_of("ours", targets), concurrency)
    assert seen == [os.getpid()] * len(targets)


def test_what_a_detector_raises_is_why_that_instance_is_unanswered(
    ours: Callable[..., None],
) -> None:
    def says(code: str) -> Prediction:
        if code == TARGETS["b"]:
            raise RecursionError("too deep")
        return Prediction(True)

    ours(says)
    runs, ended = answered(plan_of("ours", TARGETS), 1)
    assert ended is None
    assert [(run.crashes, run.unanswered) for run in runs] == [
        (True, None),
        (None, "RecursionError: too deep"),
        (True, None),
    ]


def test_a_stop_ends_it_after_the_instance_that_is_under_way(
    ours: Callable[..., None],
) -> None:
    stop = Event()

    def says(_: str) -> Prediction:
        stop.set()
        return Prediction(False)

    ours(says)
    runs, ended = answered(plan_of("ours", TARGETS), 1, stop)
    assert ([run.instance_id for run in runs], ended) == (["a"], INTERRUPTED)
