"""`judge`: a model judges the diagnoses of detected crashes, and its labels stand beside those of people."""

from __future__ import annotations

import argparse
import json
from typing import Any

from crane_core import arguments
from crane_core.annotation.plan import Plan
from crane_core.domain import AuditAction
from crane_core.errors import CampaignError
from crane_core.importers.instance_ids import JUNOBENCH
from crane_core.pipeline.audit import at_the_terminal, note
from crane_core.pipeline.campaigns.campaigns import kept_campaign
from crane_core.pipeline.jobs.ask_models import AskingOptions, estimate
from crane_core.pipeline.jobs.words import estimate_words, outcome_json, outcome_words
from crane_core.pipeline.judging.judge import (
    JudgePlan,
    WantedJudgement,
    experiment_to_judge,
    judging,
    label_counts,
    plan_judgement,
    template_of,
)
from crane_core.pipeline.loading.load import prepare_or_read
from crane_core.pipeline.places import DataFolder
from crane_core.pipeline.study.table_scores import STUDY
from crane_core.prompts.judge_prompt import Presentation
from crane_core.prompts.template import Template, template_from
from crane_core.terminal import give, tell
from crane_core.verbs.detect import (
    add_model_arguments,
    asked_model,
    exit_code,
    options_of,
    told_work,
)

NAME = "judge"
HELP = (
    "have an LLM judge the diagnoses of detected crashes, to compare with human labels"
)
EXAMPLE = """python -m crane_core judge --model gpt-5 --setting runtime --repetitions 5 --dry-run
         python -m crane_core judge --model gpt-5 --campaign pilot --presentation normal
         python -m crane_core judge --fake --benchmark minibench --experiment fake-code-minibench-0123abcd"""
BOTH = "both"
WHICH = ("benchmark", "experiment", "detector", "setting")
"""Options that --campaign leaves no room for."""


def add_arguments(verb: argparse.ArgumentParser) -> None:
    """Declare what `judge` takes: which diagnoses, which model, in which orders and how many repetitions."""
    verb.add_argument(
        "--campaign",
        type=arguments.name,
        metavar="NAME",
        help="judge exactly the items of this campaign, as its annotators see them and under its guideline",
    )
    which = verb.add_argument_group(
        "which verdicts", "of a benchmark, without --campaign"
    )
    which.add_argument(
        "--benchmark",
        type=arguments.name,
        metavar="B",
        help=f"default: {JUNOBENCH.benchmark}",
    )
    which.add_argument(
        "--experiment",
        type=arguments.name,
        metavar="E",
        help=f"experiment (release or job) of the verdicts (default: {STUDY}; of another benchmark its only one)",
    )
    which.add_argument(
        "--detector",
        type=arguments.name,
        metavar="GLOB",
        help="detector of the verdicts (default: all)",
    )
    which.add_argument(
        "--setting",
        type=arguments.name,
        metavar="GLOB",
        help="settings of the verdicts (default: all)",
    )
    verb.add_argument(
        "--repetitions",
        type=arguments.runs,
        default=1,
        metavar="N",
        help="how often each diagnosis is judged (default 1)",
    )
    verb.add_argument(
        "--presentation",
        choices=[*map(str, Presentation), BOTH],
        default=BOTH,
        help="order of the two texts; normal: the known cause first; reversed: the diagnosis first (default: both)",
    )
    verb.add_argument(
        "--template",
        type=arguments.path,
        metavar="FILE",
        help="exact prompt text instead of ours",
    )
    verb.add_argument(
        "--fake",
        action="store_true",
        help="a fake model with made-up labels, served by this process",
    )
    add_model_arguments(verb)


def run(chosen: argparse.Namespace, folder: DataFolder) -> int:
    """Have a model label diagnoses, or the items of a campaign, and print how many of each label there are.

    Returns 0 if every question has an answer, else 1. Raises CampaignError or DetectorError for options that do
    not fit.
    """
    campaign = _campaign(chosen, folder)
    template = (
        template_from(chosen.template) if chosen.template else template_of(campaign)
    )
    with asked_model(chosen, is_fake=chosen.fake) as asked:
        plan = _planned(chosen, folder, asked, template, campaign)
        sent = estimate(asked, len(plan.work.open), plan.open_tokens)
        if chosen.dry_run:
            return _say_plan(chosen, plan, estimate_words(sent), sent._asdict())
        tell(estimate_words(sent))
        if plan.work.open:
            note(
                folder,
                at_the_terminal(),
                AuditAction.START_RUN,
                f"judge {plan.job.job}",
                plan.job.annotator,
            )
        outcome = told_work(folder, plan.work, judging(plan, asked), asked.concurrency)
    labels = label_counts(folder, plan)
    if chosen.json:
        told = {"annotator": plan.job.annotator, "labels": labels}
        give(json.dumps(outcome_json(outcome, plan.skipped) | told, indent=1))
    else:
        counted = ", ".join(f"{n:,} {label}" for label, n in labels.items())
        lines = [
            *outcome_words(outcome, plan.skipped),
            f"labels of {plan.job.annotator}: {counted or 'none yet'}",
        ]
        give("\n".join(lines))
    return exit_code(outcome)


def _campaign(chosen: argparse.Namespace, folder: DataFolder) -> Plan | None:
    """The campaign whose items are judged, if one is named. Raises CampaignError."""
    if chosen.campaign is None:
        return None
    if given := [name for name in WHICH if getattr(chosen, name) is not None]:
        raise CampaignError(
            f"--campaign says which verdicts are judged, and so does --{given[0]}.",
            remedy="Omit one.",
        )
    return kept_campaign(folder, chosen.campaign).plan


def _planned(
    chosen: argparse.Namespace,
    folder: DataFolder,
    asked: AskingOptions,
    template: Template,
    campaign: Plan | None,
) -> JudgePlan:
    about = campaign.population if campaign else chosen
    store = prepare_or_read(folder, tell)
    try:
        benchmark = about.benchmark or JUNOBENCH.benchmark
        wanted = WantedJudgement(
            asked.endpoint.model,
            benchmark,
            about.experiment or experiment_to_judge(store, benchmark),
            options_of(asked, template, is_fake=chosen.fake),
            detector=chosen.detector or "*",
            setting=chosen.setting or "*",
            repetitions=chosen.repetitions,
            presentations=tuple(Presentation)
            if chosen.presentation == BOTH
            else (Presentation(chosen.presentation),),
            template=template,
            again=chosen.again,
            campaign=campaign,
        )
        return plan_judgement(store, folder, wanted)
    finally:
        store.close()


def _say_plan(
    chosen: argparse.Namespace, plan: JudgePlan, words: str, sent: dict[str, Any]
) -> int:
    n_done = len(plan.work.items) - len(plan.work.open)
    # A verdict is an instance, a detector and a setting; the rest of a key numbers its answers and
    # repetitions.
    n_verdicts = len({key[:3] for key in plan.cases})
    if chosen.json:
        told = {
            "job": plan.job.job,
            "annotator": plan.job.annotator,
            "verdicts": n_verdicts,
        }
        told |= {"guideline": plan.guideline.version} if plan.guideline else {}
        told |= {
            "questions": len(plan.work.items),
            "answered": n_done,
            "skipped": dict(plan.skipped),
            "to_send": sent,
        }
        give(json.dumps(told, indent=1))
        return 0
    about = f"{len(plan.cases):,} diagnoses of {n_verdicts:,} detected crashes"
    if plan.guideline is not None:
        about = f"{len(plan.cases):,} items of {chosen.campaign} under guideline {plan.guideline.version}"
    lines = [
        f"job {plan.job.job}: {about}; {n_done:,} of {len(plan.work.items):,} questions answered so far",
        words,
    ]
    give(
        "\n".join(
            [
                *lines,
                *(
                    f"{n:,} diagnoses skipped: {reason}"
                    for reason, n in plan.skipped.items()
                ),
            ]
        )
    )
    return 0
