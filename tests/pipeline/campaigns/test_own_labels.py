"""Campaigns with their own labels, played from creation to replay; agreement and Results follow their set."""

from __future__ import annotations

import csv
import json
import shutil
from itertools import cycle
from pathlib import Path
from uuid import uuid4

import krippendorff
import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from crane_core.annotation.draw import CampaignRequest
from crane_core.annotation.label_set import LabelSet
from crane_core.annotation.order import Showing
from crane_core.annotation.outcome import Provenance
from crane_core.annotation.plan import Design, DrawKind, Plan, Population
from crane_core.domain import Label
from crane_core.errors import CampaignError
from crane_core.pipeline.agreement.agreement import (
    KAPPA,
    NO_ORDER_OF_OWN,
    ComparedVerdicts,
    agreement_table,
    common_items,
    pairwise,
    self_agreement,
)
from crane_core.pipeline.agreement.labelled import labelled_verdicts
from crane_core.pipeline.agreement.so_far import agreement_so_far
from crane_core.pipeline.campaigns.campaigns import (
    drawn_plan,
    journal_of,
    keep_campaign,
    kept_campaign,
    lock_campaign,
)
from crane_core.pipeline.campaigns.disputes import disputes, undecided
from crane_core.pipeline.campaigns.export.files import export_files
from crane_core.pipeline.campaigns.export.forms import write_export
from crane_core.pipeline.campaigns.export.repeat import (
    exported_plan,
    exported_work,
    keep_replayed,
    repeated_plan,
)
from crane_core.pipeline.campaigns.label_frame import (
    KEY,
    final_outcomes,
    label_frame,
    repeat_frame,
)
from crane_core.pipeline.campaigns.label_sets import (
    common_set,
    label_sets,
    standing_words,
)
from crane_core.pipeline.campaigns.labelling import LabelStore, adjudicate
from crane_core.pipeline.campaigns.rounds import Which, label_again
from crane_core.pipeline.campaigns.status import campaign_status
from crane_core.pipeline.judging.judged import (
    annotators_of,
    judged_by,
    judging_campaigns,
)
from crane_core.pipeline.loading.load import prepare
from crane_core.pipeline.places import DataFolder
from crane_core.pipeline.results.evaluate import verdict_frame
from crane_core.pipeline.results.measures import Credit, VoteRule, outcomes
from crane_core.stats import krippendorff_alpha
from crane_core.storage.store import Store
from tests.own_labels import FOUR, TWO

PEOPLE = ("ana", "ben", "cleo")
OURS = Population("minibench", "ours")


def new_plan(
    store: Store, labels: LabelSet, people: tuple[str, ...] = PEOPLE
) -> Plan:
    return drawn_plan(
        store,
        CampaignRequest(
            "pilot",
            people,
            OURS,
            Design(DrawKind.ALL, repeats=0.1),
            seed=3,
            labels=labels,
        ),
    )


def act(action: str, showing: Showing, **more: object) -> dict[str, object]:
    return {
        "event": uuid4().hex,
        "action": action,
        "item": showing.item,
        "showing": showing.showing,
    } | more


def label_all(folder: DataFolder, plan: Plan) -> dict[str, dict[str, str]]:
    """Everybody labels everything; ben differs on every fourth item, cleo on every sixth. Item to label of each."""
    desk = LabelStore(folder, plan.campaign)
    codes = plan.labels.codes
    first = {
        item.item: code
        for item, code in zip(plan.items, cycle(codes), strict=False)
    }
    said = {}
    for name, every in zip(plan.annotators, (0, 4, 6), strict=False):
        other = [
            item
            for place, item in enumerate(first)
            if every and place % every == 0
        ]
        said[name] = first | {
            item: codes[codes.index(first[item]) - 1] for item in other
        }
        order = sorted(plan.orders[name], key=lambda one: one.showing)
        acts = [
            act("label", one, label=said[name][one.item], seconds=9.0)
            for one in order
        ]
        assert desk.take(name, acts).refused == {}
    return said


def check_acts(folder: DataFolder, plan: Plan) -> None:
    """A label of another set is refused; a reason counts only where the label offers it; undo, flag and again work."""
    desk, last = LabelStore(folder, plan.campaign), plan.labels.labels[-1]
    showing = next(one for one in plan.orders["ana"] if one.showing == 1)
    strange = "wrong" if "wrong" not in plan.labels else "sound"
    taken = desk.take("ana", [act("label", showing, label=strange)])
    assert list(taken.refused.values()) == [
        f"'{strange}' is not one of the labels {plan.labels.listed()}"
    ]
    before = journal_of(folder, plan, "ana").given[showing].label
    said = act("label", showing, label=last.code, reason=last.reasons[0])
    assert desk.take("ana", [said, act("flag", showing)]).refused == {}
    assert (
        journal_of(folder, plan, "ana").given[showing].reason == last.reasons[0]
    )
    without = next(label for label in plan.labels.labels if not label.reasons)
    desk.take(
        "ana",
        [act("label", showing, label=without.code, reason=last.reasons[0])],
    )
    assert journal_of(folder, plan, "ana").given[showing].reason is None
    desk.take("ana", [act("undo", showing)])
    assert showing not in journal_of(folder, plan, "ana").given
    desk.take("ana", [act("label", showing, label=before)])
    assert campaign_status(folder, "pilot").n_flagged == 1


def decide_all(folder: DataFolder, plan: Plan) -> None:
    decided = plan.labels.codes[0]
    with pytest.raises(CampaignError, match="one of its labels"):
        adjudicate(
            folder,
            plan,
            plan.items[0].item,
            by="lea",
            label="misdetected",
            reason="a",
        )
    for dispute in undecided(disputes(folder, plan)):
        adjudicate(
            folder, plan, dispute.item, by="lea", label=decided, reason="a"
        )
    assert undecided(disputes(folder, plan)) == []


@pytest.mark.parametrize(
    "labels",
    [
        pytest.param(FOUR, id="four"),
        pytest.param(TWO, id="two", marks=pytest.mark.slow),
    ],
)
def test_a_campaign_with_its_own_labels_is_played_and_replayed(
    answered: DataFolder, tmp_path: Path, labels: LabelSet
) -> None:
    elsewhere = DataFolder(
        Path(shutil.copytree(answered.path, tmp_path / "elsewhere"))
    )
    store = prepare(answered)
    plan = new_plan(store, labels)
    store.close()
    keep_campaign(answered, plan)
    assert kept_campaign(answered, "pilot").plan.labels == labels
    said = label_all(answered, plan)
    check_acts(answered, plan)
    check_so_far(answered, plan, said)
    again = label_again(
        answered, "pilot", Which(labels=(labels.codes[-1],)), by="lea"
    )
    assert set(again.items) == {
        item
        for name in said
        for item, code in said[name].items()
        if code == labels.codes[-1]
    }
    plan = kept_campaign(answered, "pilot").plan
    label_all(answered, plan)
    decide_all(answered, plan)
    lock_campaign(answered, "pilot", by="lea")
    finals = final_outcomes(answered, plan)
    assert {final.label for final in finals.values()} <= set(labels.codes)
    assert Provenance.ADJUDICATED in {
        final.provenance for final in finals.values()
    }
    write_export(export_files(answered, "pilot"), tmp_path / "out", force=False)
    check_export(tmp_path / "out", labels, len(plan.items))
    store = prepare(elsewhere)
    old = exported_plan(tmp_path / "out" / "plan.json")
    copy = repeated_plan(store, old, guideline_text=old.guideline_text).plan
    store.close()
    work = exported_work(tmp_path / "out" / "plan.json", copy)
    keep_campaign(elsewhere, copy)
    keep_replayed(elsewhere, copy, work)
    replayed = kept_campaign(elsewhere, "pilot").plan
    assert (replayed.labels, final_outcomes(elsewhere, replayed)) == (
        labels,
        finals,
    )
    prepare(elsewhere).close()


def check_so_far(
    folder: DataFolder, plan: Plan, said: dict[str, dict[str, str]]
) -> None:
    """The alpha of three people is krippendorff's, for labels without an order."""
    so_far = agreement_so_far(folder, plan, locked=False)
    numbers = [
        [plan.labels.codes.index(said[name][item.item]) for item in plan.items]
        for name in PEOPLE
    ]
    expected = krippendorff.alpha(
        np.array(numbers, dtype=float), level_of_measurement="nominal"
    )
    assert so_far.coefficient == krippendorff_alpha.NOMINAL.name
    assert so_far.found is not None and so_far.found.value == pytest.approx(
        expected
    )


def check_export(out: Path, labels: LabelSet, n_items: int) -> None:
    with (out / "labels.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["label"] for row in rows} == set(labels.codes)
    assert len({row["item"] for row in rows}) == n_items
    told = (out / "README.txt").read_text("utf-8")
    assert all(
        f"  {label.code}  {label.words}: " in told for label in labels.labels
    )
    assert standing_words(labels) in told
    schema = json.loads((out / "labels.schema.json").read_text("utf-8"))[
        "properties"
    ]
    assert schema["label"]["enum"] == [*labels.codes, None]
    assert schema["reason"]["enum"] == [*labels.reason_words, None]


def test_a_replay_refuses_a_label_that_the_plan_does_not_have(
    answered: DataFolder, tmp_path: Path
) -> None:
    store = prepare(answered)
    plan = new_plan(store, TWO)
    store.close()
    keep_campaign(answered, plan)
    label_all(answered, plan)
    lock_campaign(answered, "pilot", by="lea")
    write_export(export_files(answered, "pilot"), tmp_path / "out", force=False)
    acts = tmp_path / "out" / "acts.jsonl"
    acts.write_text(
        acts.read_text("utf-8").replace('"unsound"', '"great"'), "utf-8"
    )
    with pytest.raises(
        CampaignError, match="'great' is not one of its labels, sound, unsound"
    ):
        exported_work(tmp_path / "out" / "plan.json", plan)


@pytest.fixture
def locked(
    answered: DataFolder,
) -> tuple[DataFolder, Plan, dict[str, dict[str, str]]]:
    """Four labels, two people, locked."""
    store = prepare(answered)
    plan = new_plan(store, FOUR, PEOPLE[:2])
    store.close()
    keep_campaign(answered, plan)
    said = label_all(answered, plan)
    decide_all(answered, plan)
    lock_campaign(answered, "pilot", by="lea")
    return answered, plan, said


def test_agreement_is_on_the_campaign_s_set_and_nominal_labels_have_no_weights(
    locked: tuple[DataFolder, Plan, dict[str, dict[str, str]]],
) -> None:
    folder, plan, said = locked
    store = prepare(folder)
    try:
        labels, verdicts = label_frame(store, folder), verdict_frame(store)
        who = ["pilot: ana", "pilot: ben"]
        assert common_set(labels, who, label_sets(folder)) == FOUR
        items = common_items(
            labelled_verdicts(labels, verdicts),
            who,
            ComparedVerdicts.DIAGNOSES,
            FOUR,
        )
        table = agreement_table(items).set_index("coefficient")
        first, second = (
            [said[name][item.item] for item in plan.items]
            for name in PEOPLE[:2]
        )
        assert table.loc[KAPPA, "value"] == pytest.approx(
            cohen_kappa_score(first, second)
        )
        assert pairwise(items)["value"].tolist() == [
            pytest.approx(cohen_kappa_score(first, second))
        ]
        unordered = table["why"] == NO_ORDER_OF_OWN
        assert (
            len(unordered[unordered]) == 4
            and table.loc[unordered, "value"].isna().all()
        )
        of_study = common_items(
            labelled_verdicts(labels, verdicts), who, ComparedVerdicts.DIAGNOSES
        )
        assert set(of_study.off_scale["label"]) == {"unclear"}
        again = self_agreement(repeat_frame(folder), label_sets(folder))
        assert again.loc[
            again["coefficient"] == "Percent agreement", "value"
        ].tolist() == [
            1.0,
            1.0,
        ]
    finally:
        store.close()


def test_results_count_own_labels_by_credit(
    locked: tuple[DataFolder, Plan, dict[str, dict[str, str]]],
) -> None:
    """unclear has no credit: it counts as not judged, and no other label stands for it."""
    folder, plan, _ = locked
    store = prepare(folder)
    try:
        labels, verdicts = label_frame(store, folder), verdict_frame(store)
        rows = judged_by(verdicts, labels, "pilot: final", plan).set_index(KEY)
        finals = final_outcomes(folder, plan)
        code_of = {
            item.verdict.key: finals[item.item].label for item in plan.items
        }
        rows = rows.loc[list(code_of)]
        study = {
            "correct": 1.0,
            "partial": 0.5,
            "wrong": 0.0,
            "unclear": np.nan,
        }
        expected = [study[str(code)] for code in code_of.values()]
        assert {"unclear"} < set(code_of.values())
        assert rows["human"].tolist() == [
            Label.UNVERIFIABLE if code == "unclear" else code
            for code in code_of.values()
        ]
        half = outcomes(rows.reset_index(), VoteRule.MAJORITY, Credit.HALF)
        strict = outcomes(rows.reset_index(), VoteRule.MAJORITY, Credit.STRICT)
        assert half.worth is not None and strict.worth is not None
        np.testing.assert_array_equal(half.worth, expected)
        np.testing.assert_array_equal(
            strict.worth, np.where(np.array(expected) == 0.5, 0.0, expected)
        )
        assert half.is_labelled.all()
        assert judging_campaigns(folder) == {"pilot"}
        assert (
            annotators_of(labels, verdicts, judging_campaigns(folder))[-1]
            == "pilot: final"
        )
    finally:
        store.close()


def test_labels_without_one_of_the_study_do_not_judge_results(
    answered: DataFolder,
) -> None:
    store = prepare(answered)
    plan = new_plan(store, TWO)
    store.close()
    keep_campaign(answered, plan)
    label_all(answered, plan)
    lock_campaign(answered, "pilot", by="lea")
    assert judging_campaigns(answered) == frozenset()
    assert (
        standing_words(TWO)
        == "Results does not count these labels, because none of them is one of the study's."
    )
