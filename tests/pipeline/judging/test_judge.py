"""A judge's job: whose diagnoses are put to it and in which order, what is kept, and where its labels stand."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from crane_core import ledger
from crane_core.domain import AnnotatorKind, JudgeJob, JudgeReply
from crane_core.errors import DetectorError
from crane_core.llm.endpoint import Endpoint
from crane_core.llm.fake_server import (
    FakeModel,
    FakePlan,
    ServerFault,
    fake_server,
)
from crane_core.pipeline.campaigns.label_frame import LabellerKind
from crane_core.pipeline.jobs.ask_models import AskingOptions, Caps, asking
from crane_core.pipeline.jobs.files import job_file
from crane_core.pipeline.jobs.work import JobOutcome, carry_out
from crane_core.pipeline.judging.judge import (
    JudgePlan,
    WantedJudgement,
    in_passes,
    judging,
    label_counts,
    plan_judgement,
)
from crane_core.pipeline.judging.judged import (
    annotators_of,
    coverage,
    judged_by,
)
from crane_core.pipeline.judging.judges import (
    judge_passes,
    labels_with_pooled_judges,
    who_labelled,
)
from crane_core.pipeline.loading.load import prepare, rebuild
from crane_core.pipeline.places import DataFolder
from crane_core.pipeline.results.evaluate import verdict_frame
from crane_core.prompts.judge_reply import LABELS, Presentation
from crane_core.storage import jobs, state

N_VERDICTS = 48
N_RUNS = 3
N_QUESTIONS = N_VERDICTS * N_RUNS * 2


def planned(folder: DataFolder, **more: object) -> JudgePlan:
    store = prepare(folder)
    try:
        usual = {
            "model": "egret",
            "benchmark": "minibench",
            "experiment": "ours",
            "options": {"model": "egret"},
        }
        return plan_judgement(store, folder, WantedJudgement(**usual | more))  # type: ignore[arg-type]
    finally:
        store.close()


def judged(
    folder: DataFolder, plan: JudgePlan, base_url: str, **more: object
) -> JobOutcome:
    asked: AskingOptions = asking(
        Endpoint("egret", base_url), concurrency=8, **more
    )  # type: ignore[arg-type]
    return carry_out(folder, plan.work, judging(plan, asked))


def replies(folder: DataFolder, plan: JudgePlan) -> list[JudgeReply]:
    records = ledger.tail(job_file(folder, plan.job.job)).records
    return [record for record in records if isinstance(record, JudgeReply)]


def test_all_diagnoses_are_judged_once_before_any_is_judged_again() -> None:
    runs = [("a", "d", "code", 1), ("a", "d", "code", 2), ("b", "d", "code", 1)]
    passes = in_passes(runs, 2, tuple(Presentation))
    assert [(key[0], *key[3:]) for key in passes[:6]] == [
        ("a", 1, 1, "normal"), ("a", 1, 1, "reversed"), ("b", 1, 1, "normal"), ("b", 1, 1, "reversed"),
        ("a", 2, 1, "normal"), ("a", 2, 1, "reversed"),
    ]  # fmt: skip
    assert {key[4] for key in passes[:6]} == {1}
    assert len(set(passes)) == 12


def test_every_detected_crash_is_judged_run_by_run_in_both_orders(
    answered: DataFolder, base_url: str
) -> None:
    plan = planned(answered)
    assert len({key[:3] for key in plan.cases}) == N_VERDICTS
    assert all(key[0].endswith("_reproduced") for key in plan.cases)
    outcome = judged(answered, plan, base_url)
    assert (outcome.n_all, outcome.n_answered, outcome.n_open) == (
        N_QUESTIONS,
        N_QUESTIONS,
        0,
    )
    kept = replies(answered, plan)
    assert Counter(reply.presentation for reply in kept) == {
        "normal": N_QUESTIONS // 2,
        "reversed": N_QUESTIONS // 2,
    }
    store = prepare(answered)
    rows = (
        store.cursor()
        .execute(
            "SELECT case_id, diagnosis FROM cases WHERE benchmark = 'minibench'"
        )
        .fetchall()
    )
    cause_of = dict(rows)
    for reply in kept:
        cause = cause_of[reply.instance_id.removesuffix("_reproduced")]
        said = f"{reply.instance_id.removesuffix('_reproduced')} fails, said {reply.run_index % 2}"
        places = reply.prompt.index(cause), reply.prompt.index(said)
        assert (places[0] < places[1]) == (reply.presentation == "normal")
        assert json.loads(str(reply.text))["label"] in [
            str(label) for label in LABELS
        ]
    store.close()


def test_its_labels_stand_beside_those_of_people(
    answered: DataFolder, base_url: str
) -> None:
    plan = planned(answered, repetitions=2)
    judged(answered, plan, base_url)
    store = prepare(answered)
    labels = labels_with_pooled_judges(store, answered)
    mine = labels[labels["annotator"].str.startswith("judge egret")]
    assert set(mine["kind"]) == {LabellerKind.JUDGE}
    assert sorted(set(mine["annotator"])) == [
        f"judge egret, {which}{order}"
        for which in ("all repetitions", "repetition 1", "repetition 2")
        for order in ("", ", reversed")
    ]
    assert len(mine) == 6 * N_VERDICTS
    assert len(judge_passes(store).query("judge == 'judge egret'")) == 6
    verdicts = verdict_frame(store)
    verdicts = verdicts[verdicts["experiment"] == "ours"]
    offered = annotators_of(labels, verdicts, frozenset())
    assert "judge egret, repetition 1" in offered
    assert (
        annotators_of(who_labelled(store, answered), verdicts, frozenset())
        == offered
    )
    rows = judged_by(verdicts, labels, "judge egret, repetition 1")
    assert coverage(rows)[:3] == (N_VERDICTS, N_VERDICTS, 0)
    [job] = jobs.judge_job_list(store.cursor()).to_dict("records")
    assert (job["annotator"], job["n_replies"], job["n_labels"]) == (
        "judge egret",
        2 * N_QUESTIONS,
        2 * N_QUESTIONS,
    )
    store.close()


@pytest.mark.slow
def test_labels_are_read_from_the_raw_replies_again_at_a_rebuild(
    answered: DataFolder, base_url: str
) -> None:
    plan = planned(answered, detector="heron")
    judged(answered, plan, base_url)
    store = prepare(answered)
    before = state.content(store.cursor())
    store.close()
    mine = [
        row for row in before["judgements"] if str(AnnotatorKind.JUDGE) in row
    ]
    assert len(before["judge_replies"]) == len(mine) == N_QUESTIONS // 2
    rebuild(answered)
    store = prepare(answered)
    assert state.content(store.cursor()) == before
    store.close()
    assert sum(label_counts(answered, plan).values()) == N_QUESTIONS // 2


def test_a_reply_without_a_label_is_counted_kept_and_no_label(
    answered: DataFolder,
) -> None:
    plan = planned(answered, detector="heron", setting="code")
    with fake_server(
        FakePlan(
            seed=7, faults={ServerFault.WRONG_JSON: 3, ServerFault.REFUSAL: 4}
        )
    ) as base_url:
        outcome = judged(answered, plan, base_url)
    assert outcome.n_all == N_QUESTIONS // 4
    assert outcome.unreadable == {
        "no object in the reply has the key label": N_QUESTIONS // 12
    }
    assert sum(outcome.troubles.values()) > 0
    assert outcome.n_answered == sum(label_counts(answered, plan).values())
    store = prepare(answered)
    [job] = jobs.judge_job_list(store.cursor()).to_dict("records")
    assert (job["n_labels"], job["n_troubles"]) == (
        outcome.n_answered,
        outcome.troubles.total(),
    )
    store.close()
    with fake_server(FakePlan(seed=8)) as base_url:
        again = judged(
            answered,
            planned(answered, detector="heron", setting="code"),
            base_url,
        )
    assert (again.n_open, again.unreadable) == (0, outcome.unreadable)


@pytest.mark.slow
def test_a_spent_budget_ends_it_and_more_goes_on(
    answered: DataFolder, base_url: str
) -> None:
    plan = planned(answered)
    few = judged(answered, plan, base_url, caps=Caps(tokens=100_000))
    assert few.ended is not None
    assert 0 < few.n_answered < N_QUESTIONS
    again = planned(answered)
    assert len(again.work.open) == N_QUESTIONS - few.n_answered
    same = judged(answered, again, base_url, caps=Caps(tokens=100_000))
    assert same.spent.input_tokens + same.spent.output_tokens <= 100_000
    rest = judged(answered, planned(answered), base_url)
    assert rest.n_answered == len(replies(answered, plan)) == N_QUESTIONS


def test_two_judges_of_one_model_have_names_of_their_own(
    answered: DataFolder, base_url: str
) -> None:
    first = planned(answered, detector="heron", setting="code")
    judged(answered, first, base_url)
    other = planned(
        answered,
        detector="heron",
        setting="code",
        options={"model": "egret", "temperature": 1.0},
    )
    repeat = planned(answered, detector="heron", setting="code", again=True)
    assert (
        planned(answered, detector="heron", setting="code").job.annotator
        == first.job.annotator
        == "judge egret"
    )
    assert (
        len({first.job.annotator, other.job.annotator, repeat.job.annotator})
        == 3
    )
    judged(answered, other, base_url)
    records = ledger.tail(job_file(answered, other.job.job)).records
    assert [record for record in records if isinstance(record, JudgeJob)] == [
        other.job
    ]


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"experiment": "nobody"}, "No verdict in the experiment 'nobody'"),
        ({"detector": "gull*"}, "None of the 144 diagnoses"),
        ({"setting": "runtime+"}, "None of the 144 diagnoses"),
        (
            {"benchmark": "junobench", "experiment": "crane-llm-2025-10"},
            "detects a crash and gives a reason",
        ),
    ],
)
def test_nothing_to_judge_is_refused_with_a_remedy(
    answered: DataFolder, more: dict[str, object], told: str
) -> None:
    with pytest.raises(DetectorError, match=told) as refused:
        planned(answered, **more)
    assert "fetch crane-llm" in refused.value.remedy


def test_a_fake_judge_is_asked_once_per_question(answered: DataFolder) -> None:
    model = FakeModel(FakePlan(seed=1))
    plan = planned(answered, detector="heron", setting="code")
    with fake_server(model) as base_url:
        judged(answered, plan, base_url)
        judged(answered, plan, base_url)
    assert model.requests == {"answered": N_QUESTIONS // 4}
