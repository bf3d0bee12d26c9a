"""Plans a detector's job on a benchmark: which instances, their inputs, in which order.

Knows stored instances. Refuses to know how a detector works; see `jobs.work` for how the job is carried out.
"""

import fnmatch
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from crane_core.domain import Detector, Job, JsonObject, Prompt, Setting
from crane_core.errors import DetectorError, PromptError
from crane_core.pipeline.detection import few_shot, sampled_cases
from crane_core.pipeline.detection.prompt import (
    Input,
    input_of_instance,
    prompt_of_instance,
)
from crane_core.pipeline.jobs import files
from crane_core.pipeline.jobs.work import Work
from crane_core.pipeline.places import DataFolder
from crane_core.prompts.template import Template
from crane_core.storage import cases, jobs
from crane_core.storage.store import Store


@dataclass(frozen=True, slots=True)
class JobRequest:
    """The job to run. `options` affect the answers and are part of the job's name; `instances` is a glob over ids.

    `is_prompted`: the detector is shown a text; else it is given cells and state. `is_given_both`: a text, and cells
    and state for what answers before a model is used. `labels` are what the user calls the job (`jobs.files.LABELS`);
    those of an earlier start stay where no other is given. `is_executed`: the detector runs the notebook itself and
    needs its cells, but no stored state. `sample`: only some cases of those that `instances` matches; like `instances`
    it does not change the name, so the same job continues with a larger sample. `examples` stand before each question;
    their `options` are among the options.
    """

    detector: Detector
    setting: Setting
    benchmark: str
    options: JsonObject
    is_prompted: bool
    n_runs: int = 1
    instances: str = "*"
    template: Template | None = None
    again: bool = False
    is_given_both: bool = False
    labels: Mapping[str, str] = field(default_factory=dict)
    is_executed: bool = False
    sample: sampled_cases.CaseSample | None = None
    examples: few_shot.FewShot | None = None


class JobQuestion(NamedTuple):
    """One question of a job; `run_index` counts from 1."""

    instance_id: str
    run_index: int


class DetectorInput(NamedTuple):
    """What a detector is shown of one instance: the text and its tokens, or cells and state, or both."""

    prompt: Prompt | None
    n_tokens: int
    input: Input | None


@dataclass(frozen=True, slots=True)
class JobPlan:
    """A job to run now, with what the detector is shown.

    `skipped` are instances of which the detector cannot be shown anything, each with the reason.
    """

    request: JobRequest
    job: Job
    work: Work
    inputs: dict[str, DetectorInput]
    skipped: dict[str, str]

    @property
    def skipped_by_reason(self) -> Counter[str]:
        """How many instances were skipped for the same reason, the instance's own name aside."""
        return Counter(
            reason.replace(name, "the instance")
            for name, reason in self.skipped.items()
        )

    @property
    def open_tokens(self) -> int:
        """Input tokens of all remaining questions."""
        return sum(
            self.inputs[instance_id].n_tokens
            for instance_id, _ in self.work.open
        )


def plan_detection(
    store: Store, folder: DataFolder, request: JobRequest
) -> JobPlan:
    """The job and its open questions. Nothing is written, and the store is not needed afterwards.

    Raises DetectorError if there is no question to ask.
    """
    names = matching_instances(store, request.benchmark, request.instances)
    if request.sample is not None:
        known = jobs.cases_of_instances(store.cursor(), request.benchmark)
        names = sampled_cases.of_sampled_cases(names, known, request.sample)
    inputs, skipped = _inputs(store, request, names)
    if not inputs:
        first = next(iter(skipped.values()))
        raise DetectorError(
            f"None of the {len(skipped)} instances can be shown to a detector. The first: {first.args[0]}",
            remedy=first.remedy,
        )
    base = files.job_name(
        request.detector.detector,
        str(request.setting),
        request.benchmark,
        options=request.options,
    )
    name = files.chosen_name(folder, base, again=request.again)
    before = files.standing(folder, name)
    job = _job(request, name, before)
    items = in_rounds(list(inputs), request.n_runs)
    reasons = {name: str(error.args[0]) for name, error in skipped.items()}
    return JobPlan(
        request,
        job,
        Work(job, items, before, request.detector),
        inputs,
        reasons,
    )


def in_rounds(instances: Sequence[str], n_runs: int) -> list[JobQuestion]:
    """All instances once, then all of them again: a job that is stopped has treated every instance alike.

    The other way round it would hold five answers about the first names of the alphabet and none about the rest, and
    no rate that represents the benchmark.
    """
    return [
        JobQuestion(name, index)
        for index in range(1, n_runs + 1)
        for name in instances
    ]


def known_detector(store: Store, wished: Detector) -> Detector:
    """The stored detector of this name, so that a published model keeps its title; else the wished one.

    Raises DetectorError if the name belongs to a detector of another kind.
    """
    stored = jobs.detector(store.cursor(), wished.detector)
    if stored is not None and stored.kind is not wished.kind:
        raise DetectorError(
            f"{wished.detector} is already the name of a detector of another kind ({stored.kind}).",
            remedy="Serve the model under another name, and pass that name: --model.",
        )
    return stored or wished


def matching_instances(store: Store, benchmark: str, pattern: str) -> list[str]:
    """The instances of a benchmark whose names match a pattern such as numpy_*. Raises DetectorError for none."""
    cursor = store.cursor()
    everything = jobs.instance_ids(cursor, benchmark)
    if not everything:
        known = ", ".join(cases.benchmarks(cursor)["benchmark"])
        raise DetectorError(
            f"The benchmark {benchmark!r} is not loaded.",
            remedy=f"Name one with --benchmark: {known}.",
        )
    # Case counts on every system: `fnmatch` alone ignores it on some.
    names = [name for name in everything if fnmatch.fnmatchcase(name, pattern)]
    if not names:
        raise DetectorError(
            f"No instance of {benchmark} matches {pattern!r}.",
            remedy=f"Instances have names such as {everything[0]}; quote the pattern: --instances 'numpy_*'.",
        )
    return names


def _inputs(
    store: Store, request: JobRequest, names: Sequence[str]
) -> tuple[dict[str, DetectorInput], dict[str, PromptError]]:
    inputs: dict[str, DetectorInput] = {}
    skipped: dict[str, PromptError] = {}
    for name in names:
        try:
            inputs[name] = _input_of(store, request, name)
        except PromptError as error:
            skipped[name] = error
    return inputs, skipped


def _input_of(store: Store, request: JobRequest, name: str) -> DetectorInput:
    if request.is_prompted:
        template = request.template
        if request.examples is not None and template is not None:
            template = request.examples.before(template, name)
        written = prompt_of_instance(
            store, name, request.setting, template, request.benchmark
        )
        given = (
            input_of_instance(store, name, request.setting, request.benchmark)
            if request.is_given_both
            else None
        )
        return DetectorInput(written.prompt, written.tokens.n, given)
    # An execution needs the cells alone; a state may be missing and would only exclude the instance.
    shown = Setting.CODE if request.is_executed else request.setting
    return DetectorInput(
        None, 0, input_of_instance(store, name, shown, request.benchmark)
    )


def _job(request: JobRequest, name: str, before: files.Standing) -> Job:
    """The job with today's options and its original start."""
    # A resumed job began when it first began.
    begun = before.job.started_at if before.job is not None else files.now()
    options = files.encoded(
        request.options | files.labels_of(before.job) | dict(request.labels)
    )
    return Job(
        job=name,
        benchmark=request.benchmark,
        detector=request.detector.detector,
        setting=request.setting,
        options=options,
        started_at=begun,
    )
