"""The result of a registered plan: each planned question held, did not hold, or is not answered yet.

The plan decides how a question is counted and tested, whatever the switches of a page say: its inputs, vote rule,
credit, judge, smallest effect, and one family over all of its questions. A question without answers counts into that
family with p = 1, so that no finding gets easier because another question is still open. Before the planned number of
cases a question is decided only at a planned look, by a p that allows for all looks (`stats.alpha_spending`).
"""

from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from crane_core.pipeline.results import exported_statistic, measures, study_plan
from crane_core.pipeline.results.comparisons import comparison_text, comparisons
from crane_core.pipeline.results.outcomes import TESTS
from crane_core.pipeline.results.study_plan import registered_plans
from crane_core.pipeline.rows import as_rows
from crane_core.rounding import digits
from crane_core.stats.alpha_spending import nominal_levels, repeated_p
from crane_core.stats.equivalence import smaller_p_values
from crane_core.stats.multiplicity import benjamini_hochberg, holm
from crane_core.stats.outcome import DIRECTED, Outcome, outcome, outcome_text

RowsOf = Callable[[str], pd.DataFrame]
"""The verdict frame as an annotator judged it, by the annotator's name."""
MEASURED = ("difference", "low", "high", "p_value", "p_by_case")
COLUMNS = [
    "plan", "question", "detector", "inputs", "expected", "found", "outcome", "difference", "low", "high", "n",
    "n_cases", "planned_cases", "p_adjusted", "p_smaller", "bound", "why",
]  # fmt: skip


DECIDED = (*DIRECTED, Outcome.SMALLER)
"""Outcomes that a look before the end can have; one without evidence waits for the end."""
NOT_THERE = "–"


class Found(StrEnum):
    """The result of a planned question."""

    HELD = "held"
    NOT_HELD = "not held"
    OPEN = "not answered yet"


def answers_of(
    question: study_plan.PlannedQuestion,
    plan: study_plan.StudyPlan,
    rows: pd.DataFrame,
) -> pd.DataFrame:
    """The rows of a verdict frame that a planned question asks about."""
    is_meant = (rows["benchmark"] == plan.benchmark) & (
        rows["detector"] == question.detector
    )
    is_meant &= rows["setting"].isin(question.inputs)
    if question.experiments:
        is_meant &= rows["experiment"].isin(question.experiments)
    return rows[is_meant]


def n_answered(plan: study_plan.StudyPlan, rows: pd.DataFrame) -> int:
    """Answers to the plan's questions that a verdict frame holds; one that two questions ask about counts once."""
    found = [answers_of(question, plan, rows) for question in plan.questions]
    met = rows.loc[pd.concat(found).index.unique()]
    return int((met["n_crash"] + met["n_safe"]).sum())


def plan_findings(
    on_record: study_plan.PlanOnRecord, rows_of: RowsOf
) -> pd.DataFrame:
    """A row per question of a plan, with COLUMNS; shares, nan where there is none. why: what keeps it open."""
    plan, record = on_record
    measured = [
        _measured(question, plan, rows_of(question.judged_by))
        for question in plan.questions
    ]
    table = pd.DataFrame(measured).astype(dict.fromkeys(MEASURED, float))
    look = table["n_cases"] * plan.n_looks // plan.n_cases
    look = look.clip(upper=plan.n_looks).astype(int)
    tests = [_in_family(table[name], look, plan) for name in TESTS]
    small = smaller_p_values(
        *(table[name] for name in ("difference", "low", "high", "n_cases")),
        bound=plan.bound,
    )
    table["p_smaller"] = _in_family(small, look, plan)
    # The test that is harder to pass decides; one that was not made has no part in it.
    table["p_adjusted"] = pd.DataFrame(tests).max().to_numpy()
    outcomes = [
        outcome(
            row["difference"], [row["p_adjusted"]], p_smaller=row["p_smaller"]
        )
        for _, row in table.iterrows()
    ]
    is_decided = [one in DECIDED for one in outcomes]
    is_open = (table["why"] != "") & ~np.array(is_decided)
    is_held = [
        one is question.expect
        for one, question in zip(outcomes, plan.questions, strict=True)
    ]
    held = np.where(is_held, str(Found.HELD), str(Found.NOT_HELD))
    return table.assign(
        plan=record.name,
        question=[question.question for question in plan.questions],
        detector=[question.detector for question in plan.questions],
        inputs=[
            comparison_text(question.inputs) for question in plan.questions
        ],
        expected=[
            outcome_text(question.expect, plan.bound)
            for question in plan.questions
        ],
        outcome=[outcome_text(one, plan.bound) for one in outcomes],
        found=np.where(is_open, str(Found.OPEN), held),
        planned_cases=plan.n_cases,
        bound=plan.bound,
    )[COLUMNS]


def _measured(
    question: study_plan.PlannedQuestion,
    plan: study_plan.StudyPlan,
    rows: pd.DataFrame,
) -> dict[str, Any]:
    """The comparison before any adjustment, and why it decides nothing yet; empty where it decides."""
    nothing: dict[str, Any] = dict.fromkeys(MEASURED, np.nan)
    nothing |= {"n": 0, "n_cases": 0}
    mine = answers_of(question, plan, rows)
    runs = mine.groupby("setting")["experiment"].unique()
    for setting, names in runs.items():
        if len(names) > 1:
            said = f"{len(names)} runs answer it with {setting}, and the plan names none of them"
            return nothing | {"why": said}
    table = measures.gain_table(
        mine,
        rule=question.rule,
        credit=question.credit,
        inputs=question.inputs,
        with_power=False,
    )
    if table.empty:
        return nothing | {"why": "no instance has an outcome with both inputs"}
    found = table.iloc[0]
    n_cases = int(found["n_cases"])
    why = _look_words(n_cases, plan) if n_cases < plan.n_cases else ""
    return {name: found[name] for name in (*MEASURED, "n", "n_cases")} | {
        "why": why
    }


def _in_family(
    p_values: Iterable[float], look: Iterable[int], plan: study_plan.StudyPlan
) -> NDArray[np.float64]:
    """Adjusted for the looks, then over all questions of the plan, also those without an answer."""
    repeated = [
        repeated_p(p, one, plan.n_looks, plan.spending)
        for p, one in zip(p_values, look, strict=True)
    ]
    adjust = holm if plan.correction == study_plan.HOLM else benjamini_hochberg
    is_made = ~np.isnan(repeated)
    return np.where(is_made, adjust(np.where(is_made, repeated, 1.0)), np.nan)


def _look_words(n_cases: int, plan: study_plan.StudyPlan) -> str:
    """How far a question is, and the level of this look, which is what a reader who looks now may reject at."""
    said = f"{n_cases} of {plan.n_cases} planned cases"
    if plan.n_looks == 1:
        return said
    look = n_cases * plan.n_looks // plan.n_cases
    if look == 0:
        return f"{said}, before look 1 of {plan.n_looks}"
    level = nominal_levels(plan.n_looks, plan.spending)[look - 1]
    return f"{said}, look {look} of {plan.n_looks}: nominal level {level:.2g}"


def deviations(
    on_record: study_plan.PlanOnRecord, found: pd.DataFrame
) -> list[str]:
    """What a reader must know of how the plan was kept: what came before it, and questions beyond its stop rule."""
    plan, record = on_record
    day = record.registered_at[:10]
    said = [
        f"Registered on {day}, before its first answer."
        if not record.n_answers
        else f"Registered on {day}, when {record.n_answers:,} of its answers were loaded already."
    ]
    n_beyond = int((found["n_cases"] > plan.n_cases).sum())
    if n_beyond:
        said.append(
            f"{n_beyond} of {len(found)} questions count more cases than the planned {plan.n_cases:,}."
        )
    return said


def exploratory(
    plans: Iterable[study_plan.PlanOnRecord], rows: pd.DataFrame
) -> list[tuple[str, measures.Inputs]]:
    """Comparisons that the answers of one benchmark allow and no plan names: detector and inputs."""
    planned = {
        (question.detector, question.inputs)
        for one in plans
        for question in one.plan.questions
    }
    found = []
    for detector, mine in rows.groupby("detector", sort=True):
        found += [(str(detector), inputs) for inputs in comparisons(mine)]
    return [one for one in found if one not in planned]


def readable_plans(found: pd.DataFrame) -> pd.DataFrame:
    """The findings as people read them, every cell a text."""
    return pd.DataFrame(
        {
            "Plan": row["plan"],
            "Question": row["question"],
            "Expected": row["expected"],
            "Found": row["found"],
            "Outcome": row["outcome"],
            "Points": _points(row["difference"]),
            "95% interval": _interval(row["low"], row["high"]),
            "p, adjusted": _digits(row["p_adjusted"], 3),
            "Cases": f"{row['n_cases']} of {row['planned_cases']}",
            "Still open": row["why"],
        }
        for row in as_rows(found)
    )


def _points(share: float | None) -> str:
    return _digits(None if share is None else 100 * share, 1, sign=True)


def _interval(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return NOT_THERE
    return f"{_points(low)} to {_points(high)}"


def _digits(value: float | None, decimals: int, *, sign: bool = False) -> str:
    if value is None:
        return NOT_THERE
    return digits(value, decimals, sign=sign).replace("-", "−")


def found_of_plans(material: exported_statistic.JudgedAnswers) -> pd.DataFrame:
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
    material: exported_statistic.JudgedAnswers,
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


def exported_plans(
    material: exported_statistic.JudgedAnswers,
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
