"""A cascade as a detector: certain-crash rules first, and a model only about the instances at which they are silent.

The rules answer the same each time, so they answer again at every start and only what they find is kept: a certain
crash is each of the instance's runs. Nothing of such an instance is sent anywhere.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from threading import Event
from typing import NamedTuple

from crane_core import domain
from crane_core.detectors import rules_detector
from crane_core.importers.published_detectors import slug
from crane_core.pipeline.detection.detect import JobPlan, JobQuestion
from crane_core.pipeline.detection.here import in_processes
from crane_core.pipeline.jobs.work import Answer, Keep, Key, Worker

NAME = "cascade"


class Settled(NamedTuple):
    """The rules' results. `runs` are theirs by instance, each a certain crash; for `failed` they have no answer."""

    runs: Mapping[str, domain.Run]
    n_instances: int
    n_saved: int
    failed: Mapping[str, str]

    def to_json(self) -> domain.JsonObject:
        """The counts for the JSON output: instances, settled by rules, requests saved, failed."""
        return {
            "instances": self.n_instances,
            "settled_by_rules": len(self.runs),
            "requests_saved": self.n_saved,
            "rules_failed": len(self.failed),
        }


def cascade_with(model: str) -> domain.Detector:
    """The detector that asks the rules, then this model; its diagnoses are texts that people can judge."""
    return domain.Detector(
        f"{NAME}:{slug(model)}",
        f"{rules_detector.TITLE}, then {model}",
        domain.DetectorKind.LLM,
    )


def cascade_options(
    options: Mapping[str, object], setting: domain.Setting
) -> dict[str, object]:
    """Those of the model, and what shapes the rules' answers. Raises DetectorError if the rules refuse a setting."""
    rules_detector.check_setting(setting)
    return {
        **options,
        "first": rules_detector.NAME,
        "first_options": rules_detector.options(),
    }


def settled(plan: JobPlan, concurrency: int, stop: Event) -> Settled:
    """Ask the rules about every instance of the plan, in their own processes, until the event is set."""
    said: dict[str, domain.Run] = {}

    def hear(answer: Answer, _: domain.Prompt | None) -> None:
        if isinstance(answer, domain.Run):
            said[answer.instance_id] = answer

    # The plan of the cascade names the cascade; the workers look up the detector by its own name.
    rules = replace(plan, job=replace(plan.job, detector=rules_detector.NAME))
    in_processes(rules, concurrency)(
        [JobQuestion(name, 1) for name in plan.inputs], hear, stop
    )
    found = {name: run for name, run in said.items() if run.crashes}
    # Every repetition of a settled instance is a request saved.
    n_saved = sum(item[0] in found for item in plan.work.items)
    failed = {
        name: run.unanswered
        for name, run in said.items()
        if run.unanswered is not None
    }
    return Settled(found, len(plan.inputs), n_saved, failed)


def open_questions(plan: JobPlan, of_rules: Settled) -> list[Key]:
    """The questions that remain for the model."""
    return [key for key in plan.work.open if key[0] not in of_rules.runs]


def cascading(plan: JobPlan, of_rules: Settled, model: Worker) -> Worker:
    """A worker that stores the rules' results, then asks the model about the rest."""

    def work(items: Sequence[Key], keep: Keep, stop: Event) -> str | None:
        for instance_id, run_index in (
            key for key in items if key[0] in of_rules.runs
        ):
            run = of_rules.runs[instance_id]
            # The rules' answer counts as that of the cascade, once for each of the repetitions.
            keep(
                replace(run, detector=plan.job.detector, run_index=run_index),
                None,
            )
        asked = [key for key in items if key[0] not in of_rules.runs]
        return model(asked, keep, stop) if asked else None

    return work


def settled_words(of_rules: Settled) -> list[str]:
    """The savings by the rules, a line per fact."""
    lines = [
        f"the rules settled {len(of_rules.runs):,} of {of_rules.n_instances:,} instances: "
        f"{of_rules.n_saved:,} fewer requests"
    ]
    if of_rules.failed:
        first = next(iter(of_rules.failed.values()))
        lines.append(
            f"the rules failed on {len(of_rules.failed):,} instances, which the model is asked about: {first[:200]}"
        )
    return lines
