"""`judge`: a model judges the diagnoses of detected crashes, and its labels stand beside those of people."""

import argparse
from dataclasses import asdict

from crane_core import arguments
from crane_core.annotation.plan import GUESSING, Design, Plan
from crane_core.arguments import add, flag, option
from crane_core.domain import AuditAction, JsonObject
from crane_core.errors import CampaignError, DetectorError
from crane_core.importers.instance_ids import JUNOBENCH
from crane_core.pipeline.agreement import judge_tuning
from crane_core.pipeline.audit import at_the_terminal, note
from crane_core.pipeline.campaigns.campaigns import kept_campaign
from crane_core.pipeline.jobs.ask_models import AskingOptions, estimate
from crane_core.pipeline.jobs.words import (
    estimate_words,
    outcome_json,
    outcome_words,
)
from crane_core.pipeline.judging import certificates, judge
from crane_core.pipeline.loading.load import prepare_or_read
from crane_core.pipeline.places import DataFolder
from crane_core.pipeline.study.table_scores import STUDY
from crane_core.prompts.judge_reply import Presentation
from crane_core.prompts.template import Template, template_from
from crane_core.storage.verdicts import PUBLISHED_HUMAN
from crane_core.terminal import give_either, tell
from crane_core.verbs import detect, remove

NAME = "judge"
HELP = "have an LLM judge the diagnoses of detected crashes, to compare with human labels"
EXAMPLE = """python -m crane_core judge --model gpt-5 --setting runtime --repetitions 5 --dry-run
         python -m crane_core judge --model gpt-5 --campaign pilot --presentation normal
         python -m crane_core judge --fake --benchmark minibench --experiment fake-code-minibench-0123abcd
         python -m crane_core judge tune --campaign pilot --gate 0.8"""
BOTH = "both"
TUNE = "tune"
CERTIFIES = ("judge", "person", "gate", "split_seed", "own", "by")
"""Options of `tune` alone."""
SPLIT_SEED = 1
MOST_SPLIT_SEED = 2**31 - 1
"""The ledger keeps integers of 32 bits."""
WHICH = ("benchmark", "experiment", "detector", "setting")
"""Options that --campaign leaves no room for."""


def add_arguments(verb: argparse.ArgumentParser) -> None:
    """Declare what `judge` takes: which diagnoses, which model, in which orders and how many repetitions."""
    add(
        verb,
        option(
            "action",
            "tune: send nothing; choose the rule for stored labels of judges that agrees best with a person on "
            "one half of the cases, and bound its sensitivity and specificity on the other",
            nargs="?",
            choices=[TUNE],
        ),
        option(
            "--campaign NAME",
            "judge exactly the items of this campaign, as its annotators see them and under its guideline",
            arguments.name,
        ),
    )
    add(
        verb.add_argument_group(
            "which verdicts", "of a benchmark, without --campaign"
        ),
        option(
            "--benchmark B", f"default: {JUNOBENCH.benchmark}", arguments.name
        ),
        option(
            "--experiment E",
            f"experiment (release or job) of the verdicts (default: {STUDY}; of another benchmark its only one)",
            arguments.name,
        ),
        option(
            "--detector GLOB",
            "detector of the verdicts (default: all)",
            arguments.name,
        ),
        option(
            "--setting GLOB",
            "settings of the verdicts (default: all)",
            arguments.name,
        ),
    )
    add(
        verb,
        option(
            "--repetitions N",
            "how often each diagnosis is judged (default 1)",
            arguments.runs,
            default=1,
        ),
        option(
            "--presentation",
            "order of the two texts; normal: the known cause first; reversed: the diagnosis first (default: both)",
            choices=[*map(str, Presentation), BOTH],
            default=BOTH,
        ),
        option(
            "--template FILE",
            "exact prompt text instead of ours",
            arguments.path,
        ),
        flag(
            "--fake", "a fake model with made-up labels, served by this process"
        ),
    )
    detect.add_model_arguments(verb)
    _add_tuning(verb)


def _add_tuning(verb: argparse.ArgumentParser) -> None:
    add(
        verb.add_argument_group(
            TUNE,
            "certify a judge; its prompt variants are the jobs that `--template FILE` made before",
        ),
        option(
            "--judge NAME",
            "name of the labels of a judge, repeatable (default: all of the campaign, else of the benchmark)",
            arguments.name,
            action="append",
        ),
        option(
            "--person NAME",
            "whose labels are right, as Agreement names them (default: final labels of the campaign, else "
            f"{PUBLISHED_HUMAN})",
            arguments.name,
        ),
        option(
            "--gate G",
            f"what both one-sided 95%% bounds have to reach, above {GUESSING:g} (default: what the campaign's plan "
            f"names, else {Design().judge_gate:g})",
            arguments.number(GUESSING, 1, above=True),
        ),
        option(
            "--split-seed N",
            f"of the split by case (default {SPLIT_SEED})",
            arguments.integer(0, MOST_SPLIT_SEED),
            default=SPLIT_SEED,
        ),
        option(
            "--own MODEL",
            "the judge's model among the detectors, for self-preference (default: the model of its job)",
            arguments.name,
        ),
    )
    remove.add_by(verb)


def run(chosen: argparse.Namespace, folder: DataFolder) -> int:
    """Have a model label diagnoses, or the items of a campaign, and print how many of each label there are.

    Returns 0 if every question has an answer, else 1. Raises CampaignError or DetectorError for options that do
    not fit. `tune` sends nothing and prints the certificate instead.
    """
    campaign = _campaign(chosen, folder)
    if chosen.action == TUNE:
        return _tune(chosen, folder, campaign)
    if given := [name for name in _given(chosen) if name in CERTIFIES]:
        raise DetectorError(
            f"{_spelt(given[0])} belongs to `judge {TUNE}`.", remedy="Omit it."
        )
    template = (
        template_from(chosen.template)
        if chosen.template
        else judge.template_of(campaign)
    )
    with detect.asked_model(chosen, is_fake=chosen.fake) as asked:
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
        outcome = detect.told_work(
            folder, plan.work, judge.judging(plan, asked), asked.concurrency
        )
    labels = judge.label_counts(folder, plan)
    certificate = certificates.certificates(folder).get(plan.job.annotator)
    document = outcome_json(outcome, plan.skipped) | {
        "annotator": plan.job.annotator,
        "labels": labels,
        "certificate": asdict(certificate) if certificate else None,
    }
    counted = ", ".join(f"{n:,} {label}" for label, n in labels.items())
    lines = [
        *outcome_words(outcome, plan.skipped),
        f"labels of {plan.job.annotator}: {counted or 'none yet'}",
        f"{plan.job.annotator}: {certificates.certificate_words(certificate, _gate_of(campaign))}",
    ]
    give_either(document, "\n".join(lines), as_json=chosen.json)
    return detect.exit_code(outcome)


def _tune(
    chosen: argparse.Namespace, folder: DataFolder, campaign: Plan | None
) -> int:
    takes = {*CERTIFIES, *WHICH, "action", "campaign", "json"}
    if given := [name for name in _given(chosen) if name not in takes]:
        raise DetectorError(
            f"`judge {TUNE}` asks no model, so that {_spelt(given[0])} has no place here.",
            remedy="Omit it.",
        )
    request = judge_tuning.CertificateRequest(
        campaign=campaign,
        benchmark=chosen.benchmark or JUNOBENCH.benchmark,
        gate=_gate_of(campaign) if chosen.gate is None else chosen.gate,
        seed=chosen.split_seed,
        certified_by=remove.who(chosen),
        experiment=chosen.experiment,
        detector=chosen.detector or "*",
        setting=chosen.setting or "*",
        judges=tuple(chosen.judge or ()),
        person=chosen.person,
        own_model=chosen.own,
    )
    store = prepare_or_read(folder, tell)
    try:
        found = judge_tuning.certify_judge(store, folder, request)
    finally:
        store.close()
    words = [
        f"{found.judge}: {certificates.certificate_words(found)}",
        *certificates.bias_words(found),
    ]
    document = asdict(found) | {"passed": found.is_passed}
    give_either(document, "\n".join(words), as_json=chosen.json)
    return 0


def _gate_of(campaign: Plan | None) -> float:
    """What the plan of the campaign names, or the usual one."""
    design = Design() if campaign is None else campaign.design
    return design.judge_gate


def _given(chosen: argparse.Namespace) -> list[str]:
    """The options of `judge` that have another value than their usual one."""
    plain = argparse.ArgumentParser()
    add_arguments(plain)
    usual = vars(plain.parse_args([]))
    return [
        name for name, value in usual.items() if getattr(chosen, name) != value
    ]


def _spelt(name: str) -> str:
    return f"--{name.replace('_', '-')}"


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
) -> judge.JudgePlan:
    about = campaign.population if campaign else chosen
    store = prepare_or_read(folder, tell)
    try:
        benchmark = about.benchmark or JUNOBENCH.benchmark
        wanted = judge.WantedJudgement(
            asked.endpoint.model,
            benchmark,
            about.experiment or judge.experiment_to_judge(store, benchmark),
            detect.options_of(asked, template, is_fake=chosen.fake),
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
        return judge.plan_judgement(store, folder, wanted)
    finally:
        store.close()


def _say_plan(
    chosen: argparse.Namespace,
    plan: judge.JudgePlan,
    words: str,
    sent: JsonObject,
) -> int:
    n_done = len(plan.work.items) - len(plan.work.open)
    # A verdict is an instance, a detector and a setting; the rest of a key numbers its answers and
    # repetitions.
    n_verdicts = len({key[:3] for key in plan.cases})
    guideline = plan.guideline
    document = {
        "job": plan.job.job,
        "annotator": plan.job.annotator,
        "verdicts": n_verdicts,
        **({"guideline": guideline.version} if guideline else {}),
        "questions": len(plan.work.items),
        "answered": n_done,
        "skipped": dict(plan.skipped),
        "to_send": sent,
    }
    about = f"{len(plan.cases):,} diagnoses of {n_verdicts:,} detected crashes"
    if guideline is not None:
        about = f"{len(plan.cases):,} items of {chosen.campaign} under guideline {guideline.version}"
    lines = [
        f"job {plan.job.job}: {about}; {n_done:,} of {len(plan.work.items):,} questions answered so far",
        words,
        *(
            f"{n:,} diagnoses skipped: {reason}"
            for reason, n in plan.skipped.items()
        ),
    ]
    give_either(document, "\n".join(lines), as_json=chosen.json)
    return 0
