"""A registered plan: what its file may say, that it never changes, and its results questions."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from crane_core import ledger
from crane_core.domain import RegisteredPlan, Setting
from crane_core.errors import PlanError
from crane_core.pipeline.audit import PLANS, Actor, entries
from crane_core.pipeline.places import DataFolder
from crane_core.pipeline.results.measures import Credit, Inputs, VoteRule
from crane_core.pipeline.results.plan_findings import (
    deviations,
    exploratory,
    n_answered,
    plan_findings,
    readable_plans,
)
from crane_core.pipeline.results.study_plan import (
    TEMPLATE,
    PlanOnRecord,
    plan_from,
    register,
    registered_plans,
)
from crane_core.stats.alpha_spending import Spending, nominal_levels
from crane_core.stats.outcome import Outcome

STUDY = "crane-llm-2025-10"
ANA = Actor("ana", "a test")
QUESTION = """
[[questions]]
question = "{question}"
detector = "{detector}"
inputs = "code,runtime"
expect = "{expect}"
credit = "correct diagnosis"
experiments = ["crane-llm-2025-10"]
"""


def written(
    *questions: tuple[str, str], cases: int = 111, **members: str
) -> str:
    head = {
        "title": "T",
        "benchmark": "junobench",
        "correction": "Holm",
    } | members
    lines = [f"{name} = {json.dumps(value)}" for name, value in head.items()]
    lines += ["smallest_effect = 5", f"cases = {cases}"]
    asked = [
        QUESTION.format(question=f"{who} {expect}", detector=who, expect=expect)
        for who, expect in questions
    ]
    return "\n".join([*lines, *asked])


def on_record(text: str, n_answers: int = 0) -> PlanOnRecord:
    day = "2026-11-27T10:00:00+00:00"
    return PlanOnRecord(
        plan_from(text), RegisteredPlan("p", text, day, n_answers)
    )


def test_the_plan_to_begin_with_can_be_registered() -> None:
    plan = plan_from(TEMPLATE)
    [question] = plan.questions
    assert (plan.bound, plan.n_cases, plan.correction) == (0.05, 111, "Holm")
    assert question.inputs == Inputs(Setting.CODE, Setting.RUNTIME)
    assert (question.expect, question.rule) == (Outcome.GAIN, VoteRule.MAJORITY)
    assert question.credit is Credit.DETECTION


@pytest.mark.parametrize(
    ("was", "is_now", "fault"),
    [
        (
            "smallest_effect = 5",
            "smallest_effect = true",
            "smallest_effect: expected",
        ),
        (
            "cases = 111",
            "cases = 111\nlooks = 11",
            "looks: expected a number from 1 to 10",
        ),
        (
            "cases = 111",
            'cases = 111\nspending = "all"',
            "spending: expected one of",
        ),
        ("cases = 111", "cases = nan", "cases: expected a number from 2"),
        (
            'correction = "Holm"',
            'correction = "none"',
            "correction: expected one of",
        ),
        ("cases = 111", "cases = 111\nlook = 3", "'look' is not a member"),
        ('"code,runtime"', '"code"', "questions 1: inputs: expected two of"),
        (
            'expect = "gain"',
            'expect = "rise"',
            "questions 1: expect: expected one of",
        ),
        (
            'detector = "gpt-5"',
            "detector = 5",
            "questions 1: detector: expected 1 to",
        ),
        ("[[questions]]", "[questions]", "questions: a plan has 1 to 50"),
        ("title =", "title", "it is not TOML"),
    ],
)
def test_a_fault_is_named_with_its_place(
    was: str, is_now: str, fault: str
) -> None:
    assert was in TEMPLATE
    with pytest.raises(PlanError, match=fault):
        plan_from(TEMPLATE.replace(was, is_now))


def test_a_registered_plan_is_kept_as_it_was(small_folder: DataFolder) -> None:
    register(small_folder, "second-thoughts", TEMPLATE, 0, ANA)
    with pytest.raises(PlanError, match="does not change"):
        register(small_folder, "second-thoughts", TEMPLATE, 0, ANA)
    for name in ("../out", "", "A b"):
        with pytest.raises(PlanError, match="not a name"):
            register(small_folder, name, TEMPLATE, 0, ANA)
    [found] = registered_plans(small_folder)
    assert (found.record.text, found.record.n_answers) == (TEMPLATE, 0)
    assert [entry.what for entry in entries(small_folder)] == [
        "plan second-thoughts"
    ]
    file = small_folder.ledger / PLANS / "second-thoughts.jsonl"
    assert len(ledger.tail(file).records) == 1


def test_the_family_is_that_of_the_plan(verdicts: pd.DataFrame) -> None:
    """The study's three gains: p by Holm over two planned questions, and one of them is open."""
    alone = on_record(written(("gpt-5", "gain")))
    with_open = on_record(written(("gpt-5", "gain"), ("nobody", "gain")))
    one = plan_findings(alone, lambda _: verdicts).iloc[0]
    two, nobody = plan_findings(with_open, lambda _: verdicts).itertuples()
    assert (one["found"], one["outcome"]) == ("held", "gain")
    assert two.p_adjusted == pytest.approx(2 * one["p_adjusted"])
    assert nobody.found == "not answered yet"
    assert np.isnan(nobody.p_adjusted)
    assert one["difference"] == pytest.approx(17 / 222)


def test_held_not_held_and_open(verdicts: pd.DataFrame) -> None:
    asked = [("gpt-5", "gain"), ("gpt-5", "loss"), ("gpt-5", "smaller")]
    found = plan_findings(on_record(written(*asked)), lambda _: verdicts)
    assert found["found"].tolist() == ["held", "not held", "not held"]
    early = on_record(written(*asked, cases=200))
    found = plan_findings(early, lambda _: verdicts)
    assert set(found["found"]) == {"not answered yet"}
    assert set(found["why"]) == {"111 of 200 planned cases"}
    assert readable_plans(found)["Cases"].tolist() == ["111 of 200"] * 3


def test_runs_that_the_plan_does_not_tell_apart_answer_nothing(
    verdicts: pd.DataFrame,
) -> None:
    again = verdicts[verdicts["experiment"] == STUDY].assign(experiment="again")
    both = pd.concat([verdicts, again], ignore_index=True)
    text = written(("gpt-5", "gain")).replace(f'experiments = ["{STUDY}"]', "")
    [row] = plan_findings(on_record(text), lambda _: both).itertuples()
    assert (row.found, "runs answer it" in row.why) == (
        "not answered yet",
        True,
    )


def test_deviations_are_told(verdicts: pd.DataFrame) -> None:
    text = written(("gpt-5", "gain"), cases=50)
    n = n_answered(plan_from(text), verdicts)
    assert n == 222 * 2 * 5
    late = on_record(text, n)
    found = plan_findings(late, lambda _: verdicts)
    assert deviations(late, found) == [
        "Registered on 2026-11-27, when 2,220 of its answers were loaded already.",
        "1 of 1 questions count more cases than the planned 50.",
    ]
    [first] = deviations(on_record(written(("nobody", "gain"))), found.head(0))
    assert first == "Registered on 2026-11-27, before its first answer."


def test_what_no_plan_names_is_exploratory(verdicts: pd.DataFrame) -> None:
    rows = verdicts[
        (verdicts["experiment"] == STUDY) & (verdicts["detector_kind"] == "llm")
    ]
    named = exploratory([on_record(written(("gpt-5", "gain")))], rows)
    assert len(named) == 2
    assert not any(detector == "gpt-5" for detector, _ in named)


def test_a_look_before_the_end_is_stricter(verdicts: pd.DataFrame) -> None:
    """111 of 200 cases are look 2 of 4: p allows for it, and what is not decided stays open."""
    text = written(
        ("gpt-5", "gain"), ("qwen-2.5-32b-instruct", "gain"), cases=200
    )
    plain = plan_findings(
        on_record(text.replace("200", "111")), lambda _: verdicts
    )
    looks = text.replace("cases = 200", "cases = 200\nlooks = 4")
    found = plan_findings(on_record(looks), lambda _: verdicts)
    assert (found["p_adjusted"] > plain["p_adjusted"]).all()
    assert set(found["found"]) == {"not answered yet"}
    level = nominal_levels(4, Spending.OBRIEN_FLEMING)[1]
    assert set(found["why"]) == {
        f"111 of 200 planned cases, look 2 of 4: nominal level {level:.2g}"
    }
    early = looks.replace("cases = 200", 'cases = 200\nspending = "Pocock"')
    found = plan_findings(on_record(early), lambda _: verdicts)
    at_look = dict(zip(found["found"], found["p_adjusted"], strict=True))
    assert all((p < 0.05) == (name == "held") for name, p in at_look.items())
    before = on_record(looks.replace("cases = 200", "cases = 1000"))
    [first, _] = plan_findings(before, lambda _: verdicts)["why"]
    assert first == "111 of 1000 planned cases, before look 1 of 4"
