"""A judge of a campaign: exactly its items, the texts that people see, the guideline in force, and where labels go."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest

from crane_core import ledger
from crane_core.annotation.draw import Wish
from crane_core.annotation.label_set import study_labels
from crane_core.annotation.plan import Design, Plan, Population
from crane_core.domain import JudgeReply
from crane_core.errors import DetectorError
from crane_core.llm.endpoint import Endpoint
from crane_core.llm.fake_server import FakePlan, fake_server
from crane_core.pipeline.agreement import KAPPA, PERCENT, Scope, agreement_with_judges, common_items
from crane_core.pipeline.ask_models import asking
from crane_core.pipeline.campaign_guideline import change_guideline
from crane_core.pipeline.campaign_judges import CampaignJudge, beside_people, judges_of
from crane_core.pipeline.campaigns import drawn_plan, keep_campaign
from crane_core.pipeline.evaluate import verdict_frame
from crane_core.pipeline.item_texts import item_texts
from crane_core.pipeline.job_files import job_file
from crane_core.pipeline.job_work import carry_out
from crane_core.pipeline.judge import JudgePlan, WantedJudgement, judging, plan_judgement
from crane_core.pipeline.judge_powered import judge_powered
from crane_core.pipeline.judges import labels_with_pooled_judges
from crane_core.pipeline.labelling import Desk
from crane_core.pipeline.load import prepare, rebuild
from crane_core.pipeline.places import DataFolder
from crane_core.pipeline.rows import as_rows
from crane_core.prompts.judge_prompt import Presentation
from crane_core.storage import state

OURS = Population("minibench", "ours")


@pytest.fixture
def base_url() -> Iterator[str]:
    with fake_server(FakePlan(seed=7)) as address:
        yield address


@pytest.fixture
def plan(answered: DataFolder) -> Plan:
    store = prepare(answered)
    plan = drawn_plan(store, Wish("pilot", ("ana",), OURS, Design(margin=0.1, repeats=0), seed=7, created_by="ana"))
    store.close()
    keep_campaign(answered, plan)
    assert 20 < len(plan.items) < 48
    return plan


def planned(folder: DataFolder, plan: Plan, **more: object) -> JudgePlan:
    store = prepare(folder)
    try:
        usual = {"options": {"model": "egret"}, "presentations": (Presentation.NORMAL,), "campaign": plan}
        return plan_judgement(store, folder, WantedJudgement("egret", "minibench", "ours", **usual | more))  # type: ignore[arg-type]
    finally:
        store.close()


def judged(folder: DataFolder, wanted: JudgePlan, base_url: str) -> list[JudgeReply]:
    outcome = carry_out(folder, wanted.work, judging(wanted, asking(Endpoint("egret", base_url), concurrency=8)))
    assert outcome.n_open == 0
    records = ledger.tail(job_file(folder, wanted.job.job)).records
    return [record for record in records if isinstance(record, JudgeReply)]


def test_exactly_its_items_are_judged_as_people_see_them_under_the_guideline(
    answered: DataFolder, plan: Plan, base_url: str
) -> None:
    replies = judged(answered, planned(answered, plan), base_url)
    of = {(r.benchmark, r.instance_id, r.detector, str(r.setting), r.experiment): r for r in replies}
    assert len(of) == len(replies) == len(plan.items)
    assert set(of) == {item.verdict.key for item in plan.items}
    store = prepare(answered)
    texts = item_texts(store, plan)
    for item in plan.items:
        reply, told = of[item.verdict.key], texts[item.item]
        places = [reply.prompt.index(str(text).strip()) for text in (plan.guideline_text, *told[:1], told.diagnosis)]
        assert places == sorted(places)
        assert (reply.guideline, reply.run_index) == (plan.guideline, 0)
    before = state.content(store.cursor())
    stamped = (
        store.cursor().execute("SELECT DISTINCT guideline FROM judgements WHERE annotator_kind = 'judge'").fetchall()
    )
    assert (plan.guideline,) in stamped
    store.close()
    rebuild(answered)
    store = prepare(answered)
    assert state.content(store.cursor()) == before
    store.close()


def test_a_new_guideline_is_another_job_with_labels_under_another_name(
    answered: DataFolder, plan: Plan, base_url: str
) -> None:
    first = planned(answered, plan)
    judged(answered, first, base_url)
    assert first.job.annotator == "judge egret on pilot"
    assert planned(answered, plan).work.open == []
    changed = change_guideline(answered, "pilot", "Judge otherwise {{body}}.", by="cleo")
    second = planned(answered, plan)
    assert second.job.job != first.job.job and second.job.annotator != first.job.annotator
    assert len(second.work.open) == len(plan.items)
    replies = judged(answered, second, base_url)
    assert {reply.guideline for reply in replies} == {changed.version}
    assert all(reply.prompt.count("Judge otherwise {{body}}.") == 1 for reply in replies)
    options = json.loads(second.job.options)
    assert (options["campaign"], options["guideline"]) == ("pilot", changed.version)


def test_its_labels_stand_beside_those_of_people_and_power_their_estimate(
    answered: DataFolder, plan: Plan, base_url: str
) -> None:
    desk = Desk(answered, "pilot")
    some = plan.orders["ana"][:15]
    for place, showing in enumerate(some):
        act = {"event": f"ana-{place:06}", "action": "label", "item": showing.item, "showing": 1}
        assert desk.take("ana", [act | {"label": ("correct", "partial", "wrong")[place % 3]}]).refused == {}
    replies = judged(answered, planned(answered, plan), base_url)
    labels_of = {(r.instance_id, r.detector, str(r.setting)): json.loads(str(r.text))["label"] for r in replies}
    store = prepare(answered)
    labels, verdicts = labels_with_pooled_judges(store, answered), verdict_frame(store)
    found = judges_of(store, "pilot")
    assert judges_of(store, "second") == []
    store.close()
    judge = "judge egret on pilot, repetition 1"
    items = common_items(labels, verdicts, ["pilot: ana", judge], Scope.DIAGNOSES)
    n_on_scale = sum(labels_of[plan.item(s.item).verdict.key[1:4]] in ("correct", "partial", "wrong") for s in some)
    table = agreement_with_judges(items, "pilot: ana", [judge]).set_index("coefficient")
    assert table.loc[KAPPA, "n"] == n_on_scale
    [row] = judge_powered(labels, verdicts, "pilot: ana", [judge]).to_dict("records")
    assert (row["n"], row["n_more"]) == (15, len(plan.items) - 15)
    assert row["alone"] == pytest.approx(5 / 15)

    assert found == [CampaignJudge(judge, plan.guideline)]
    of_ana, of_final = as_rows(beside_people(labels, verdicts, plan, [judge], locked=True))
    assert (of_ana["judge"], of_ana["person"], of_final["person"]) == (judge, "pilot: ana", "pilot: final")
    assert (of_ana["n"], of_ana["kappa"]) == (n_on_scale, pytest.approx(table.loc[KAPPA, "value"]))
    assert of_ana["percent"] == pytest.approx(table.loc[PERCENT, "value"])
    assert [of_ana[name] for name in ("n_both", "n_more", "alone", "powered")] == [
        row["n"], row["n_more"], row["alone"], row["value"],
    ]  # fmt: skip
    assert of_final["n"] == n_on_scale and of_final["n_more"] is None
    few = labels[(labels["annotator"] == judge) | labels["instance_id"].isin(labels["instance_id"].unique()[:1])]
    assert beside_people(few, verdicts, plan, [judge], locked=False).empty, "few labels of a blind campaign"


def test_items_without_texts_are_skipped_and_counted(answered: DataFolder, plan: Plan) -> None:
    first = plan.items[0].verdict
    store = prepare(answered)
    store.cursor().execute("UPDATE cases SET diagnosis = NULL WHERE case_id = ?", [first.case_id])
    wanted = WantedJudgement("egret", "minibench", "ours", {}, campaign=plan)
    found = plan_judgement(store, answered, wanted)
    n = sum(item.verdict.case_id == first.case_id for item in plan.items)
    assert found.skipped == {"the benchmark gives no cause of the crash": n}
    assert len(found.cases) == len(plan.items) - n
    store.cursor().execute("UPDATE cases SET diagnosis = NULL")
    with pytest.raises(DetectorError, match="No item of 'pilot' has both texts"):
        plan_judgement(store, answered, wanted)
    store.close()


def test_a_campaign_with_other_labels_is_not_judged(answered: DataFolder, plan: Plan) -> None:
    two = replace(study_labels(), labels=study_labels().labels[:2])
    with pytest.raises(DetectorError, match="are correct, partial; a judge knows only correct, partial, wrong"):
        planned(answered, replace(plan, labels=two))
