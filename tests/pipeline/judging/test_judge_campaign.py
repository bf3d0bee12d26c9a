"""A judge of a campaign: exactly its items, the texts that people see, the guideline in force, and where labels go."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from sklearn.metrics import cohen_kappa_score

from crane_core import ledger
from crane_core.annotation.draw import CampaignRequest
from crane_core.annotation.label_set import LabelSet, study_labels
from crane_core.annotation.order import Showing
from crane_core.annotation.plan import Design, DrawKind, Plan, Population
from crane_core.domain import JudgeReply
from crane_core.errors import DetectorError
from crane_core.llm.endpoint import Endpoint
from crane_core.pipeline.agreement.agreement import (
    KAPPA,
    PERCENT,
    ComparedVerdicts,
    agreement_with_judges,
    common_items,
)
from crane_core.pipeline.agreement.campaign_judges import (
    CampaignJudge,
    beside_people,
    counted_words,
    judges_of,
)
from crane_core.pipeline.agreement.judges_beside import (
    credits_of,
    judge_powered,
)
from crane_core.pipeline.agreement.labelled import labelled_verdicts
from crane_core.pipeline.campaigns.campaigns import drawn_plan, keep_campaign
from crane_core.pipeline.campaigns.guideline import change_guideline
from crane_core.pipeline.campaigns.item_texts import item_texts
from crane_core.pipeline.campaigns.label_sets import common_set, label_sets
from crane_core.pipeline.campaigns.labelling import LabelStore
from crane_core.pipeline.jobs.ask_models import asking
from crane_core.pipeline.jobs.files import job_file
from crane_core.pipeline.jobs.reply_reading import judgement_of
from crane_core.pipeline.jobs.work import carry_out
from crane_core.pipeline.judging.judge import (
    JudgePlan,
    WantedJudgement,
    judging,
    plan_judgement,
)
from crane_core.pipeline.judging.judged import annotators_of, judging_campaigns
from crane_core.pipeline.judging.judges import (
    labels_with_pooled_judges,
    who_labelled,
)
from crane_core.pipeline.loading.load import prepare, rebuild
from crane_core.pipeline.places import DataFolder
from crane_core.pipeline.results.evaluate import verdict_frame
from crane_core.pipeline.rows import as_rows
from crane_core.prompts.judge_reply import Presentation
from crane_core.storage import state
from tests.own_labels import FOUR, TWO

OURS = Population("minibench", "ours")
SILENT = replace(
    TWO, labels=tuple(replace(label, credit=None) for label in TWO.labels)
)
"""Labels that count for nothing."""


@pytest.fixture
def plan(answered: DataFolder) -> Plan:
    store = prepare(answered)
    plan = drawn_plan(
        store,
        CampaignRequest(
            "pilot",
            ("ana",),
            OURS,
            Design(margin=0.1, repeats=0),
            seed=7,
            created_by="ana",
        ),
    )
    store.close()
    keep_campaign(answered, plan)
    assert 20 < len(plan.items) < 48
    return plan


def planned(folder: DataFolder, plan: Plan, **more: object) -> JudgePlan:
    store = prepare(folder)
    try:
        usual = {
            "options": {"model": "egret"},
            "presentations": (Presentation.NORMAL,),
            "campaign": plan,
        }
        return plan_judgement(
            store,
            folder,
            WantedJudgement("egret", "minibench", "ours", **usual | more),
        )  # type: ignore[arg-type]
    finally:
        store.close()


def judged(
    folder: DataFolder, wanted: JudgePlan, base_url: str
) -> list[JudgeReply]:
    outcome = carry_out(
        folder,
        wanted.work,
        judging(wanted, asking(Endpoint("egret", base_url), concurrency=8)),
    )
    assert outcome.n_open == 0
    records = ledger.tail(job_file(folder, wanted.job.job)).records
    return [record for record in records if isinstance(record, JudgeReply)]


def label_in_turn(
    folder: DataFolder, plan: Plan, words: tuple[str, ...], n: int
) -> list[Showing]:
    """The first n items of ana's order, labelled with these words in turn."""
    some = plan.orders["ana"][:n]
    for place, showing in enumerate(some):
        act = {
            "event": f"ana-{place:06}",
            "action": "label",
            "item": showing.item,
            "showing": 1,
            "label": words[place % len(words)],
        }
        desk = LabelStore(folder, plan.campaign)
        assert desk.take("ana", [act]).refused == {}
    return list(some)


def by_verdict(replies: list[JudgeReply]) -> dict[tuple[str, ...], str]:
    return {
        (r.instance_id, r.detector, str(r.setting)): json.loads(str(r.text))[
            "label"
        ]
        for r in replies
    }


def assert_rebuilt_alike(
    folder: DataFolder, stamped: str, values: object
) -> None:
    """A column of the judge's labels holds these values, and a rebuild has the same content."""
    contents = []
    for again in (False, True):
        if again:
            rebuild(folder)
        store = prepare(folder)
        found = store.cursor().execute(
            f"SELECT DISTINCT {stamped} FROM judgements WHERE annotator_kind = 'judge'"
        )
        assert (values,) in found.fetchall()
        contents.append(state.content(store.cursor()))
        store.close()
    assert contents[0] == contents[1]


@pytest.mark.slow
def test_exactly_its_items_are_judged_as_people_see_them_under_the_guideline(
    answered: DataFolder, plan: Plan, base_url: str
) -> None:
    replies = judged(answered, planned(answered, plan), base_url)
    of = {
        (
            r.benchmark,
            r.instance_id,
            r.detector,
            str(r.setting),
            r.experiment,
        ): r
        for r in replies
    }
    assert len(of) == len(replies) == len(plan.items)
    assert set(of) == {item.verdict.key for item in plan.items}
    store = prepare(answered)
    texts = item_texts(store, plan)
    for item in plan.items:
        reply, told = of[item.verdict.key], texts[item.item]
        places = [
            reply.prompt.index(str(text).strip())
            for text in (plan.guideline_text, *told[:1], told.diagnosis)
        ]
        assert places == sorted(places)
        assert (reply.guideline, reply.run_index) == (plan.guideline, 0)
    store.close()
    assert_rebuilt_alike(answered, "guideline", plan.guideline)


@pytest.mark.slow
def test_a_new_guideline_is_another_job_with_labels_under_another_name(
    answered: DataFolder, plan: Plan, base_url: str
) -> None:
    first = planned(answered, plan)
    judged(answered, first, base_url)
    assert first.job.annotator == "judge egret on pilot"
    assert planned(answered, plan).work.open == []
    changed = change_guideline(
        answered, "pilot", "Judge otherwise {{body}}.", by="cleo"
    )
    second = planned(answered, plan)
    assert (
        second.job.job != first.job.job
        and second.job.annotator != first.job.annotator
    )
    assert len(second.work.open) == len(plan.items)
    replies = judged(answered, second, base_url)
    assert {reply.guideline for reply in replies} == {changed.version}
    assert all(
        reply.prompt.count("Judge otherwise {{body}}.") == 1
        for reply in replies
    )
    options = json.loads(second.job.options)
    assert (options["campaign"], options["guideline"]) == (
        "pilot",
        changed.version,
    )


def test_its_labels_stand_beside_those_of_people_and_power_their_estimate(
    answered: DataFolder, plan: Plan, base_url: str
) -> None:
    some = label_in_turn(answered, plan, ("correct", "partial", "wrong"), 15)
    labels_of = by_verdict(judged(answered, planned(answered, plan), base_url))
    store = prepare(answered)
    labels, verdicts = (
        labels_with_pooled_judges(store, answered),
        verdict_frame(store),
    )
    found = judges_of(store, "pilot")
    assert judges_of(store, "second") == []
    store.close()
    judge = "judge egret on pilot, repetition 1"
    items = common_items(
        labelled_verdicts(labels, verdicts),
        ["pilot: ana", judge],
        ComparedVerdicts.DIAGNOSES,
    )
    n_on_scale = sum(
        labels_of[plan.item(s.item).verdict.key[1:4]]
        in ("correct", "partial", "wrong")
        for s in some
    )
    table = agreement_with_judges(items, "pilot: ana", [judge]).set_index(
        "coefficient"
    )
    assert table.loc[KAPPA, "n"] == n_on_scale
    [row] = judge_powered(
        labelled_verdicts(labels, verdicts), "pilot: ana", [judge]
    ).to_dict("records")
    assert (row["n"], row["n_more"]) == (15, len(plan.items) - 15)
    assert row["alone"] == pytest.approx(5 / 15)

    assert found == [
        CampaignJudge(judge, plan.guideline, "judge egret on pilot")
    ]
    of_ana, of_final = as_rows(
        beside_people(labels, verdicts, plan, [judge], locked=True)
    )
    assert (of_ana["judge"], of_ana["person"], of_final["person"]) == (
        judge,
        "pilot: ana",
        "pilot: final",
    )
    assert (of_ana["n"], of_ana["kappa"]) == (
        n_on_scale,
        pytest.approx(table.loc[KAPPA, "value"]),
    )
    assert of_ana["percent"] == pytest.approx(table.loc[PERCENT, "value"])
    assert [of_ana[name] for name in ("n_both", "n_more", "alone", "powered")] == [
        row["n"], row["n_more"], row["alone"], row["value"],
    ]  # fmt: skip
    assert of_final["n"] == n_on_scale and of_final["n_more"] is None
    few = labels[
        (labels["annotator"] == judge)
        | labels["instance_id"].isin(labels["instance_id"].unique()[:1])
    ]
    assert beside_people(few, verdicts, plan, [judge], locked=False).empty, (
        "few labels of a blind campaign"
    )


def test_items_without_texts_are_skipped_and_counted(
    answered: DataFolder, plan: Plan
) -> None:
    first = plan.items[0].verdict
    store = prepare(answered)
    store.cursor().execute(
        "UPDATE cases SET diagnosis = NULL WHERE case_id = ?", [first.case_id]
    )
    wanted = WantedJudgement("egret", "minibench", "ours", {}, campaign=plan)
    found = plan_judgement(store, answered, wanted)
    n = sum(item.verdict.case_id == first.case_id for item in plan.items)
    assert found.skipped == {"the benchmark gives no cause of the crash": n}
    assert len(found.cases) == len(plan.items) - n
    store.cursor().execute("UPDATE cases SET diagnosis = NULL")
    with pytest.raises(
        DetectorError, match="No item of 'pilot' has both texts"
    ):
        plan_judgement(store, answered, wanted)
    store.close()


def own_plan(answered: DataFolder, labels: LabelSet) -> Plan:
    store = prepare(answered)
    wish = CampaignRequest(
        "own",
        ("ana",),
        OURS,
        Design(DrawKind.ALL, repeats=0),
        seed=7,
        created_by="ana",
        labels=labels,
    )
    found = drawn_plan(store, wish)
    store.close()
    keep_campaign(answered, found)
    return found


@pytest.mark.slow
def test_a_judge_of_own_labels_is_shown_them_and_its_replies_are_read_against_them(
    answered: DataFolder, base_url: str
) -> None:
    wanted = planned(answered, own_plan(answered, FOUR))
    assert wanted.template.name.startswith("judge-own-labels-")
    replies = judged(answered, wanted, base_url)
    assert {(reply.campaign, reply.labels) for reply in replies} == {
        ("own", "correct,partial,wrong,unclear")
    }
    for label in FOUR.labels:
        assert (
            f'- "{label.code}": {label.word}. {label.means}'
            in replies[0].prompt
        )
    assert replies[0].prompt.index("They have no order.") < replies[
        0
    ].prompt.index("<<<guideline")
    assert {str(found.label) for reply in replies if (found := judgement_of(reply))} == {
        "correct", "partial", "wrong", "unclear", "unverifiable",
    }  # fmt: skip
    assert (
        judgement_of(
            replace(replies[0], text='{"label": "sound", "explanation": "x"}')
        )
        is None
    )
    assert_rebuilt_alike(answered, "campaign", "own")


@pytest.mark.slow
def test_a_judge_of_own_labels_is_compared_on_their_set_and_enters_no_results(
    answered: DataFolder, base_url: str
) -> None:
    plan = own_plan(answered, TWO)
    words = ("sound", "sound", "unsound")
    some = label_in_turn(answered, plan, words, 20)
    said = by_verdict(judged(answered, planned(answered, plan), base_url))
    store = prepare(answered)
    labels, verdicts = (
        labels_with_pooled_judges(store, answered),
        verdict_frame(store),
    )
    [judge] = judges_of(store, "own")
    offered = annotators_of(
        who_labelled(store, answered), verdicts, judging_campaigns(answered)
    )
    store.close()
    assert judge.name not in offered
    assert (
        common_set(labels, ["own: ana", judge.name], label_sets(answered))
        == TWO
    )
    of_ana, _ = as_rows(
        beside_people(labels, verdicts, plan, [judge.name], locked=True)
    )
    both = [
        (words[place % 3], said[plan.item(showing.item).verdict.key[1:4]])
        for place, showing in enumerate(some)
    ]
    on_scale = [(mine, its) for mine, its in both if its in TWO]
    assert of_ana["n"] == len(on_scale) < 20
    assert of_ana["percent"] == pytest.approx(
        sum(mine == its for mine, its in on_scale) / len(on_scale)
    )
    mine, its = zip(*on_scale, strict=True)
    assert of_ana["kappa"] == pytest.approx(cohen_kappa_score(mine, its))
    assert of_ana["alone"] == pytest.approx(14 / 20)
    assert (of_ana["n_both"], of_ana["n_more"]) == (20, len(plan.items) - 20)


def test_own_labels_count_by_credit_and_without_any_there_is_no_estimate() -> (
    None
):
    assert credits_of(study_labels()) == {
        "correct": 1.0, "partial": 0.0, "wrong": 0.0, "misdetected": 0.0, "unverifiable": 0.0,
    }  # fmt: skip
    assert credits_of(FOUR) == {
        "correct": 1.0,
        "partial": 0.5,
        "wrong": 0.0,
        "unverifiable": 0.0,
    }
    assert credits_of(SILENT) == {}
    assert counted_words(study_labels()) == ""
    assert counted_words(SILENT).startswith(
        "The labels of this campaign have no credit"
    )


@pytest.mark.slow
def test_labels_without_credit_still_have_an_agreement(
    answered: DataFolder, base_url: str
) -> None:
    plan = own_plan(answered, SILENT)
    label_in_turn(answered, plan, ("sound",), len(plan.items))
    judged(answered, planned(answered, plan), base_url)
    store = prepare(answered)
    labels, verdicts = (
        labels_with_pooled_judges(store, answered),
        verdict_frame(store),
    )
    [judge] = judges_of(store, "own")
    store.close()
    of_ana, _ = as_rows(
        beside_people(labels, verdicts, plan, [judge.name], locked=True)
    )
    assert of_ana["n"] > 20 and 0 < of_ana["percent"] < 1
    assert of_ana["powered"] is None and of_ana["n_more"] is None
