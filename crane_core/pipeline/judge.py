"""A model judges diagnoses: each crash that a verdict detected, run by run, against the cause the benchmark states.

Detection itself is computed, never judged: a verdict whose detection fails is not put to a judge. Its labels stand
beside those of people (`judges`, `label_frame`).
"""

from __future__ import annotations

import fnmatch
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

from crane_core.domain import JudgeJob, JudgeReply, Setting
from crane_core.errors import DetectorError
from crane_core.pipeline.ask_models import Asking, Came, of_model
from crane_core.pipeline.job_files import chosen_name, encoded, job_name, now, standing
from crane_core.pipeline.job_work import Key, Work, Worker
from crane_core.pipeline.places import DataFolder
from crane_core.pipeline.reply_reading import judgement_of
from crane_core.prompts.judge_prompt import Presentation, judge_prompt
from crane_core.prompts.judge_reply import SCHEMA_NAME, judge_reply_schema
from crane_core.prompts.template import Template, template_for_judge
from crane_core.prompts.tokens import count_tokens
from crane_core.storage import jobs
from crane_core.storage.store import Store

JUDGE = "judge"
NO_CAUSE = "the benchmark gives no cause of the crash"


@dataclass(frozen=True, slots=True)
class WantedJudgement:
    """Whose diagnoses are to be judged, and by whom. `options` shape the labels and name the job.

    `detector` and `setting` are globs. `repetitions` counts how often each diagnosis is put to the judge in each order.
    """

    model: str
    benchmark: str
    experiment: str
    options: dict[str, Any]
    detector: str = "*"
    setting: str = "*"
    repetitions: int = 1
    presentations: tuple[Presentation, ...] = tuple(Presentation)
    template: Template | None = None
    again: bool = False


class Case(NamedTuple):
    """The two texts of one run's diagnosis."""

    known_cause: str
    diagnosis: str


@dataclass(frozen=True, slots=True)
class JudgePlan:
    """A judge's job as it is to be done now. `cases` by instance, detector, setting and run index."""

    job: JudgeJob
    work: Work
    cases: dict[Key, Case]
    skipped: Counter[str]
    template: Template

    def prompt(self, key: Key) -> str:
        *run, _, presentation = key
        case = self.cases[tuple(run)]
        return judge_prompt(case.known_cause, case.diagnosis, Presentation(presentation), self.template)

    @property
    def open_tokens(self) -> int:
        """Input tokens of everything that is still to be asked."""
        return sum(count_tokens(self.prompt(key)).n for key in self.work.open)


def plan_judgement(store: Store, folder: DataFolder, wanted: WantedJudgement) -> JudgePlan:
    """The job and what is left of it. Nothing is written, and the store is not needed afterwards.

    Raises DetectorError where there is nothing to judge.
    """
    cases, skipped = _cases(store, wanted)
    template = wanted.template or template_for_judge()
    base = job_name(JUDGE, wanted.model, wanted.benchmark, wanted.experiment, options=wanted.options)
    name = chosen_name(folder, base, again=wanted.again)
    before = standing(folder, name)
    begun = before.job if isinstance(before.job, JudgeJob) else None
    annotator = begun.annotator if begun else _free_name(store, wanted.model, name, base)
    about = (name, wanted.benchmark, wanted.experiment, annotator, encoded(wanted.options))
    job = JudgeJob(*about, started_at=begun.started_at if begun else now())
    items = in_passes(list(cases), wanted.repetitions, wanted.presentations)
    return JudgePlan(job, Work(job, items, before), cases, skipped, template)


def in_passes(runs: Sequence[Key], repetitions: int, presentations: Sequence[Presentation]) -> list[Key]:
    """Every verdict's first run in both orders, then the next runs, and all of it again per repetition.

    So a job that is stopped has judged all verdicts alike.
    """
    ordered = sorted(runs, key=lambda run: run[-1])
    passes = product(range(1, repetitions + 1), ordered, presentations)
    return [(*run, repetition, str(presentation)) for repetition, run, presentation in passes]


def judging(plan: JudgePlan, asked: Asking) -> Worker:
    """A worker that puts the plan's open questions to the model."""
    return of_model(
        asked,
        plan.work.before.spent,
        text_of=plan.prompt,
        prompt_of=lambda _: None,
        repeat_of=lambda key: int(key[4]),
        reply_of=lambda key, came: _reply(plan, key, came),
        schema=judge_reply_schema(),
        schema_name=SCHEMA_NAME,
    )


def _cases(store: Store, wanted: WantedJudgement) -> tuple[dict[Key, Case], Counter[str]]:
    found = jobs.diagnoses_to_judge(store.cursor(), wanted.benchmark, wanted.experiment)
    cases: dict[Key, Case] = {}
    skipped: Counter[str] = Counter()
    for instance_id, detector, setting, run_index, diagnosis, cause in found:
        if not (fnmatch.fnmatchcase(detector, wanted.detector) and fnmatch.fnmatchcase(setting, wanted.setting)):
            continue
        if cause and cause.strip():
            cases[instance_id, detector, setting, run_index] = Case(cause, diagnosis)
        else:
            skipped[NO_CAUSE] += 1
    if not cases:
        raise DetectorError(_nothing(wanted, len(found), skipped.total()), remedy=_REMEDY)
    return cases, skipped


_REMEDY = "Get texts of diagnoses and known causes with `fetch crane-llm`, or import your own; make runs with `detect`."


def _nothing(wanted: WantedJudgement, n_found: int, n_without_cause: int) -> str:
    where = f"in the experiment {wanted.experiment!r} on {wanted.benchmark!r}"
    if n_without_cause:
        return f"The cases of all {n_without_cause} diagnoses {where} give no cause to compare with."
    if n_found:
        return f"None of the {n_found} diagnoses {where} is of {wanted.detector!r} in the setting {wanted.setting!r}."
    return f"No verdict {where} detects a crash and gives a reason."


def _free_name(store: Store, model: str, job: str, base: str) -> str:
    """The name under which a judge's labels stand: no other job's labels may be replaced by them."""
    taken = jobs.judge_names(store.cursor())
    name = f"{JUDGE} {model}"
    which = base.rpartition("-")[2] + job.removeprefix(base)
    return f"{name} ({which})" if name in taken else name


def _reply(plan: JudgePlan, key: Key, came: Came) -> JudgeReply:
    instance_id, detector, setting, run_index, repetition, presentation = key
    return JudgeReply(
        job=plan.job.job,
        benchmark=plan.job.benchmark,
        instance_id=instance_id,
        detector=detector,
        setting=Setting(setting),
        experiment=plan.job.experiment,
        annotator=plan.job.annotator,
        run_index=run_index,
        repetition=repetition,
        presentation=presentation,
        prompt=plan.prompt(key),
        **came,
    )


def label_counts(folder: DataFolder, plan: JudgePlan) -> dict[str, int]:
    """Labels that the job has given so far, the most frequent first."""
    replies = (reply for reply in standing(folder, plan.job.job).replies.values() if isinstance(reply, JudgeReply))
    judgements = (judgement_of(reply) for reply in replies)
    return dict(Counter(str(found.label) for found in judgements if found is not None).most_common())
