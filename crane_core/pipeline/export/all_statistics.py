"""Every statistic that pages show, by kind, and the notes of sampled labels.

A reader of an exported row sees neither the page's line about its labels nor the campaign, so a row that rests on a
sample of labels says itself how many there are, and what they stand for.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping

import pandas as pd

from crane_core.pipeline.agreement import exported_agreement
from crane_core.pipeline.claims import claims
from crane_core.pipeline.judging import choices
from crane_core.pipeline.judging.judged import Coverage, coverage
from crane_core.pipeline.judging.material import Material
from crane_core.pipeline.results import (
    breakdown,
    by_date,
    combinations,
    comparisons,
    exported_statistic,
    five_runs,
    known_notebooks,
    model_across,
    plan_findings,
    run_list,
    setting_drops,
    study_plan,
    time_saved,
    worth,
)

Collect = Callable[
    [Material],
    Iterator[exported_statistic.ExportedStatistic],
]
DIFFERENCE = "difference of accuracy"
"""The statistic that a plan asks about."""
EXPLORATORY = "exploratory: in no registered plan"
JudgedBy = tuple[str | None, str | None, str | None]
"""Benchmark, experiment and whose labels."""


KINDS: dict[str, Collect] = {
    "across": model_across.exported_across,
    "agreement": exported_agreement.exported_agreement,
    "breakdown": breakdown.exported_breakdown,
    "by_date": by_date.exported_dates,
    "choices": choices.exported_choices,
    "claims": claims.exported_claims,
    "drops": setting_drops.exported_drops,
    "five_runs": five_runs.exported_five_runs,
    "gains": comparisons.exported_gains,
    "judge_differs": exported_agreement.exported_judge_differs,
    "one_model": model_across.exported_model,
    "plans": plan_findings.exported_plans,
    "prevalence": worth.exported_worth,
    "runs": run_list.exported_runs,
    "tables": claims.exported_tables,
    "time_saved": time_saved.exported_times,
    "together": combinations.exported_combinations,
    "varied_copies": known_notebooks.exported_copies,
}
"""Every kind by its name, in the order in which exports hold them."""


def all_statistics(
    material: Material,
    progress: Callable[[str], None] = lambda _: None,
) -> dict[str, list[exported_statistic.ExportedStatistic]]:
    """The statistics of everything that is loaded, by kind; a note tells where labels are a sample."""
    found = {}
    notes = _sample_notes(material)
    planned = _planned_by_benchmark(material)
    verdicts = material.verdicts
    titles = dict(
        zip(verdicts["detector"], verdicts["detector_title"], strict=True)
    )
    for name, collect in KINDS.items():
        progress(f"Statistics: {name.replace('_', ' ')}")
        rows = [_with_note(row, notes) for row in collect(material)]
        found[name] = [_marked(row, planned, titles) for row in rows]
    return found


def _with_note(
    row: exported_statistic.ExportedStatistic, notes: dict[JudgedBy, str]
) -> exported_statistic.ExportedStatistic:
    note = notes.get((row.benchmark, row.experiment, row.judged_by))
    return _noted(row, note) if note else row


def _noted(
    row: exported_statistic.ExportedStatistic, note: str
) -> exported_statistic.ExportedStatistic:
    return row._replace(note=f"{row.note}; {note}" if row.note else note)


def _planned_by_benchmark(
    material: Material,
) -> dict[str, list[study_plan.PlannedQuestion]]:
    """The questions of every benchmark with a registered plan."""
    found: dict[str, list[study_plan.PlannedQuestion]] = defaultdict(list)
    for one in study_plan.registered_plans(material.folder):
        found[one.plan.benchmark] += one.plan.questions
    return found


def _marked(
    row: exported_statistic.ExportedStatistic,
    planned: Mapping[str, list[study_plan.PlannedQuestion]],
    titles: Mapping[str, str],
) -> exported_statistic.ExportedStatistic:
    """With a note where the row has an outcome that no plan of its benchmark names, such as that of a group.

    titles: of detectors, by id. Benchmarks without a plan have nothing to mark.
    """
    questions = planned.get(str(row.benchmark))
    if questions is None or row.outcome is None or row.section == "plan":
        return row
    is_whole = row.group is None and row.statistic == DIFFERENCE
    if is_whole and any(_asks(one, row, titles) for one in questions):
        return row
    return _noted(row, EXPLORATORY)


def _asks(
    question: study_plan.PlannedQuestion,
    row: exported_statistic.ExportedStatistic,
    titles: Mapping[str, str],
) -> bool:
    """Whether the question is about this difference, counted in this way."""
    asked = (
        titles.get(question.detector, question.detector),
        exported_statistic.inputs_text(question.inputs),
        str(question.rule),
        str(question.credit),
    )
    # Detection alone needs no judge, so its rows name none.
    is_judge = row.judged_by in (None, question.judged_by)
    is_run = not question.experiments or row.experiment in question.experiments
    found = (row.detector, row.input, row.runs, row.credit)
    return asked == found and is_judge and is_run


def _sample_notes(material: Material) -> dict[JudgedBy, str]:
    """The note of every experiment and annotator with labels of some of the detected crashes only."""
    rows_of: dict[JudgedBy, list[pd.DataFrame]] = defaultdict(list)
    for judging in material.judgings:
        of = (judging.benchmark, judging.experiment, judging.judge)
        rows_of[of].append(judging.rows)
    notes: dict[JudgedBy, str] = {}
    for judged, rows in rows_of.items():
        found = coverage(pd.concat(rows))
        if found.is_sample and found.n_labelled:
            notes[judged] = _words(found)
    return notes


def _words(found: Coverage) -> str:
    labelled = f"{found.n_labelled:,} of {found.n_detected:,} detected crashes of the experiment have a label"
    if not found.provenance:
        return f"{labelled}; the others are left out"
    said = [
        f"judged by a sample: {labelled}, and each stands for the unlabelled ones of its stratum"
    ]
    if found.n_open:
        said.append(f"{found.n_open:,} sampled verdicts have no final label")
    if found.n_uncovered:
        said.append(
            f"{found.n_uncovered:,} are outside the population or in a stratum without labels"
        )
    return "; ".join(said)
