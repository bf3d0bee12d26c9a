"""A model judges diagnoses: each crash that a verdict detected, run by run, against the cause the benchmark states.

Or the items of a campaign, each as its annotators see it and under their guideline. Detection itself is computed, never
judged: a verdict whose detection fails is not put to a judge. Its labels are listed beside those of people (`judges`,
`label_frame`).
"""

import fnmatch
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

from crane_core.annotation.guideline import GuidelineVersion, listed_for_judge
from crane_core.annotation.label_set import LabelSet, study_labels
from crane_core.annotation.plan import Plan
from crane_core.domain import JudgeJob, JudgeReply, Setting
from crane_core.errors import DetectorError
from crane_core.importers.instance_ids import JUNOBENCH
from crane_core.pipeline.campaigns.guideline import current_guideline
from crane_core.pipeline.campaigns.item_texts import item_texts
from crane_core.pipeline.jobs import files, reply_reading
from crane_core.pipeline.jobs.ask_models import AskingOptions, Came, of_model
from crane_core.pipeline.jobs.work import Key, Work, Worker
from crane_core.pipeline.places import DataFolder
from crane_core.pipeline.study.table_scores import STUDY
from crane_core.prompts import judge_reply
from crane_core.prompts.template import (
    Template,
    template_for_campaign_judge,
    template_for_judge,
)
from crane_core.prompts.tokens import count_tokens
from crane_core.storage import jobs
from crane_core.storage.store import Store

JUDGE = "judge"
NO_CAUSE = "the benchmark gives no cause of the crash"
NO_TEXT = "the text of the diagnosis is not on this machine"
CAMPAIGN = "campaign"
"""The option of a job that names its campaign."""
WHOLE_VERDICT = 0
"""The run index of a label of the whole verdict, as people give it."""


@dataclass(frozen=True, slots=True)
class WantedJudgement:
    """Which diagnoses a judge labels, and which judge. `options` affect the labels and are part of the job's name.

    `detector` and `setting` are globs. `repetitions` counts how often each diagnosis is put to the judge in each order.
    `campaign`: exactly its items are judged instead, under the guideline in force.
    """

    model: str
    benchmark: str
    experiment: str
    options: dict[str, Any]
    detector: str = "*"
    setting: str = "*"
    repetitions: int = 1
    presentations: tuple[judge_reply.Presentation, ...] = tuple(
        judge_reply.Presentation
    )
    template: Template | None = None
    again: bool = False
    campaign: Plan | None = None


class DiagnosisTexts(NamedTuple):
    """The two texts of one run's diagnosis."""

    known_cause: str
    diagnosis: str


@dataclass(frozen=True, slots=True)
class JudgePlan:
    """A judge's job to run now. `cases` by instance, detector, setting and run index."""

    job: JudgeJob
    work: Work
    cases: dict[Key, DiagnosisTexts]
    skipped: Counter[str]
    template: Template
    guideline: GuidelineVersion | None = None
    own: LabelSet | None = None
    """The labels of a campaign, if they are others than the study's."""

    def prompt(self, key: Key) -> str:
        """The exact text of one question; key: instance, detector, setting, run, repetition, order of the texts."""
        *run, _, presentation = key
        case = self.cases[tuple(run)]
        rules = self.guideline.text if self.guideline else None
        labels = listed_for_judge(self.own) if self.own else None
        return judge_reply.judge_prompt(
            case.known_cause,
            case.diagnosis,
            judge_reply.Presentation(presentation),
            self.template,
            rules,
            labels,
        )

    @property
    def open_tokens(self) -> int:
        """Input tokens of all remaining questions."""
        return sum(count_tokens(self.prompt(key)).n for key in self.work.open)


def plan_judgement(
    store: Store,
    folder: DataFolder,
    wanted: WantedJudgement,
) -> JudgePlan:
    """The job and its open questions. Nothing is written, and the store is not needed afterwards.

    Raises DetectorError if there is none to judge.
    """
    campaign = wanted.campaign
    cases, skipped = (
        _cases(store, wanted) if campaign is None else _items(store, campaign)
    )
    guideline = current_guideline(folder, campaign) if campaign else None
    own = own_labels(campaign)
    template = wanted.template or template_of(campaign)
    options = wanted.options
    # Under another guideline it is another job, whose labels must not mix with these.
    if campaign and guideline:
        options = options | {
            CAMPAIGN: campaign.campaign,
            "guideline": guideline.version,
        }
    subject = [campaign.campaign] if campaign else []
    base = files.job_name(
        JUDGE,
        wanted.model,
        *subject,
        wanted.benchmark,
        wanted.experiment,
        options=options,
    )
    name = files.chosen_name(folder, base, again=wanted.again)
    before = files.standing(folder, name)
    begun = before.job if isinstance(before.job, JudgeJob) else None
    wished = (
        f"{JUDGE} {wanted.model} on {campaign.campaign}"
        if campaign
        else f"{JUDGE} {wanted.model}"
    )
    annotator = (
        begun.annotator
        if begun
        else _free_name(
            store,
            wished,
            name,
            base,
        )
    )
    about = (
        name,
        wanted.benchmark,
        wanted.experiment,
        annotator,
        files.encoded(options),
    )
    job = JudgeJob(
        *about, started_at=begun.started_at if begun else files.now()
    )
    items = in_passes(list(cases), wanted.repetitions, wanted.presentations)
    return JudgePlan(
        job,
        Work(job, items, before),
        cases,
        skipped,
        template,
        guideline,
        own,
    )


def own_labels(campaign: Plan | None) -> LabelSet | None:
    """The labels of a campaign if their codes are others than the study's."""
    return (
        campaign.labels
        if campaign and campaign.labels.codes != study_labels().codes
        else None
    )


def template_of(campaign: Plan | None) -> Template:
    """Our own words for a judge of verdicts, or of the items of a campaign."""
    if campaign is None:
        return template_for_judge()
    return template_for_campaign_judge(
        has_own_labels=own_labels(campaign) is not None
    )


def _items(
    store: Store, campaign: Plan
) -> tuple[dict[Key, DiagnosisTexts], Counter[str]]:
    """The texts of a campaign's items as its annotators see them; they are of the verdict, not of one run."""
    cases: dict[Key, DiagnosisTexts] = {}
    skipped: Counter[str] = Counter()
    texts = item_texts(store, campaign)
    for item in campaign.items:
        told = texts[item.item]
        if not told.ground_truth or not told.ground_truth.strip():
            skipped[NO_CAUSE] += 1
        elif not told.diagnosis:
            skipped[NO_TEXT] += 1
        else:
            verdict = item.verdict
            key = (
                verdict.instance_id,
                verdict.detector,
                str(verdict.setting),
                WHOLE_VERDICT,
            )
            cases[key] = DiagnosisTexts(told.ground_truth, told.diagnosis)
    if not cases:
        raise DetectorError(
            f"No item of {campaign.campaign!r} has both texts on this machine.",
            remedy=_REMEDY,
        )
    return cases, skipped


def in_passes(
    runs: Sequence[Key],
    repetitions: int,
    presentations: Sequence[judge_reply.Presentation],
) -> list[Key]:
    """Every verdict's first run in both orders, then the next runs, and all of it again per repetition.

    So a job that is stopped has judged all verdicts alike.
    """
    ordered = sorted(runs, key=lambda run: run[-1])
    passes = product(range(1, repetitions + 1), ordered, presentations)
    return [
        (*run, repetition, str(presentation))
        for repetition, run, presentation in passes
    ]


def judging(plan: JudgePlan, asked: AskingOptions) -> Worker:
    """A worker that sends the plan's open questions to the model."""
    return of_model(
        asked,
        plan.work.before,
        text_of=plan.prompt,
        prompt_of=lambda _: None,
        repeat_of=lambda key: int(key[4]),
        reply_of=lambda key, came: _reply(plan, key, came),
        schema=judge_reply.judge_reply_schema(_codes(plan)),
        schema_name=judge_reply.SCHEMA_NAME,
    )


def _cases(
    store: Store, wanted: WantedJudgement
) -> tuple[dict[Key, DiagnosisTexts], Counter[str]]:
    found = jobs.diagnoses_to_judge(
        store.cursor(), wanted.benchmark, wanted.experiment
    )
    cases: dict[Key, DiagnosisTexts] = {}
    skipped: Counter[str] = Counter()
    for instance_id, detector, setting, run_index, diagnosis, cause in found:
        is_wanted = fnmatch.fnmatchcase(detector, wanted.detector)
        if not is_wanted or not fnmatch.fnmatchcase(setting, wanted.setting):
            continue
        # Without a stated cause there is nothing to compare a diagnosis with.
        if cause and cause.strip():
            key = (instance_id, detector, setting, run_index)
            cases[key] = DiagnosisTexts(cause, diagnosis)
        else:
            skipped[NO_CAUSE] += 1
    if not cases:
        why = _nothing(wanted, len(found), skipped.total())
        raise DetectorError(why, remedy=_REMEDY)
    return cases, skipped


def experiment_to_judge(store: Store, benchmark: str) -> str:
    """The experiment whose verdicts are judged where none is named: the study's of JunoBench, else the only one.

    Raises DetectorError if a benchmark has several, or none.
    """
    if benchmark == JUNOBENCH.benchmark:
        return STUDY
    found = jobs.experiments_with_diagnoses(store.cursor(), benchmark)
    if not found:
        raise DetectorError(
            f"No answer on {benchmark!r} predicts a crash and gives a reason.",
            remedy=_REMEDY,
        )
    if len(found) > 1:
        raise DetectorError(
            f"{len(found)} experiments on {benchmark!r} have diagnoses: {', '.join(found)}.",
            remedy="Name one with --experiment.",
        )
    return found[0]


_REMEDY = "Get texts of diagnoses and known causes with `fetch crane-llm`, or import your own; make runs with `detect`."


def _nothing(
    wanted: WantedJudgement,
    n_found: int,
    n_without_cause: int,
) -> str:
    where = f"in the experiment {wanted.experiment!r} on {wanted.benchmark!r}"
    if n_without_cause:
        return f"The cases of all {n_without_cause} diagnoses {where} give no cause to compare with."
    if n_found:
        return f"None of the {n_found} diagnoses {where} is of {wanted.detector!r} in the setting {wanted.setting!r}."
    return f"No verdict {where} detects a crash and gives a reason."


def _free_name(
    store: Store,
    name: str,
    job: str,
    base: str,
) -> str:
    """The annotator name of a judge's labels: they may not replace those of another job."""
    taken = jobs.judge_names(store.cursor())
    which = base.rpartition("-")[2] + job.removeprefix(base)
    return f"{name} ({which})" if name in taken else name


def _reply(
    plan: JudgePlan,
    key: Key,
    came: Came,
) -> JudgeReply:
    instance_id, detector, setting, run_index, repetition, presentation = key
    campaign = None
    if plan.own:
        campaign = str(json.loads(plan.job.options)[CAMPAIGN])
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
        guideline=plan.guideline.version if plan.guideline else None,
        campaign=campaign,
        labels=_codes(plan),
        **came,
    )


def _codes(plan: JudgePlan) -> str | None:
    return ",".join(plan.own.codes) if plan.own else None


def label_counts(folder: DataFolder, plan: JudgePlan) -> dict[str, int]:
    """The job's labels so far, the most frequent first."""
    counts: Counter[str] = Counter()
    for reply in files.standing(folder, plan.job.job).replies.values():
        found = (
            reply_reading.judgement_of(reply)
            if isinstance(reply, JudgeReply)
            else None
        )
        if found is not None:
            counts[str(found.label)] += 1
    return dict(counts.most_common())
