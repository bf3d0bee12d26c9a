"""Registered plans and the result of their questions: a row per planned question, and what a reader must know."""

from collections.abc import Iterator
from typing import NamedTuple

import pandas as pd

from crane_core.pipeline.export import exported_statistic
from crane_core.pipeline.results.plan_findings import (
    deviations,
    exploratory,
    plan_findings,
)
from crane_core.pipeline.results.study_plan import registered_plans
from crane_core.pipeline.rows import as_rows


def found_of_plans(material: exported_statistic.Material) -> pd.DataFrame:
    """Of every registered plan a row per question; see `plan_findings`. note: how the plan was kept."""
    tables = []
    for on_record in registered_plans(material.folder):
        table = plan_findings(on_record, material.judged_by)
        tables.append(table.assign(note=" ".join(deviations(on_record, table))))
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()


class UnplannedComparison(NamedTuple):
    """A comparison that the answers allow and no registered plan names; `inputs` as exports write them."""

    benchmark: str
    detector_title: str
    inputs: str


def exploratory_of_plans(
    material: exported_statistic.Material,
) -> list[UnplannedComparison]:
    """The comparisons of benchmarks with a plan that no plan names; empty where nothing was planned."""
    registered = registered_plans(material.folder)
    found = []
    for benchmark in dict.fromkeys(one.plan.benchmark for one in registered):
        mine = [one for one in registered if one.plan.benchmark == benchmark]
        verdicts = material.verdicts
        rows = verdicts[verdicts["benchmark"] == benchmark]
        titles = dict(
            zip(rows["detector"], rows["detector_title"], strict=True)
        )
        found += [
            UnplannedComparison(
                benchmark, titles[name], exported_statistic.inputs_text(inputs)
            )
            for name, inputs in exploratory(mine, rows)
        ]
    return found


def plans(
    material: exported_statistic.Material,
) -> Iterator[exported_statistic.ExportedStatistic]:
    """The difference that each planned question asks about, whether it held, and its test over the whole plan."""
    asked = {
        (one.record.name, question.question): (one.plan, question)
        for one in registered_plans(material.folder)
        for question in one.plan.questions
    }
    for row in as_rows(found_of_plans(material)):
        plan, question = asked[row["plan"], row["question"]]
        of = exported_statistic.ExportedStatistic(
            "Results",
            "plan",
            "difference of accuracy, planned",
            benchmark=plan.benchmark,
            detector=question.detector,
            input=exported_statistic.inputs_text(question.inputs),
            runs=str(question.rule),
            credit=str(question.credit),
            judged_by=question.judged_by,
            p_adjusted=row["p_adjusted"],
            adjustment=plan.correction,
            family=f"plan {row['plan']} ({len(plan.questions)})",
            stated=f"{question.question} ({row['expected']}): {row['found']}",
            note="; ".join(filter(None, [row["why"], row["note"]])),
        )
        yield of.compared(row)


KINDS = {"plans": plans}
