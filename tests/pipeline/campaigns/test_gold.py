"""Gold items: known labels in every order, told from no other, in no outcome; kept by exports and replays."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from scipy.stats import t
from statsmodels.stats.proportion import proportion_confint

from crane_core.annotation.draw import CampaignRequest
from crane_core.annotation.label_set import study_labels
from crane_core.annotation.order import Showing
from crane_core.annotation.plan import (
    Design,
    DrawKind,
    Gold,
    Plan,
    Population,
    Texts,
    plan_from_json,
)
from crane_core.annotation.redeal import PeopleChange
from crane_core.domain import Label
from crane_core.errors import CampaignError
from crane_core.pipeline.campaigns.blind_plan import cover_name
from crane_core.pipeline.campaigns.campaigns import (
    drawn_plan,
    keep_campaign,
    kept_campaign,
    lock_campaign,
)
from crane_core.pipeline.campaigns.cards import card
from crane_core.pipeline.campaigns.disputes import disputes
from crane_core.pipeline.campaigns.export.files import export_files
from crane_core.pipeline.campaigns.export.forms import write_export
from crane_core.pipeline.campaigns.export.repeat import (
    exported_plan,
    exported_work,
    keep_replayed,
    repeated_plan,
)
from crane_core.pipeline.campaigns.gold import (
    Looks,
    gold_of_campaign,
    gold_of_file,
)
from crane_core.pipeline.campaigns.gold_scores import gold_scores
from crane_core.pipeline.campaigns.label_frame import (
    final_outcomes,
    with_campaigns,
)
from crane_core.pipeline.campaigns.label_import import Columns, read_labels
from crane_core.pipeline.campaigns.labelling import LabelStore, adjudicate
from crane_core.pipeline.campaigns.rounds import change_people, open_main
from crane_core.pipeline.campaigns.status import campaign_status, status_words
from crane_core.pipeline.places import DataFolder
from crane_core.storage.labels import verdict_labels
from crane_core.storage.store import Store
from crane_core.ui.annotate.desk import told_of_gold

OURS = Population("minibench", "ours")
HEAD = "instance,detector,setting,label,why,run\n"
ROWS = [
    "numpy_1_reproduced,heron,code,wrong,It names <another> cause.,2",
    "numpy_2_reproduced,heron,code,correct,,1",
    "numpy_2_reproduced,egret,code,partial,,3",
]


@pytest.fixture
def gold(store: Store, tmp_path: Path) -> tuple[Gold, ...]:
    return read(store, tmp_path, *ROWS)


def read(
    store: Store, place: Path, *rows: str, texts: Texts = Texts.ONE
) -> tuple[Gold, ...]:
    file = place / "gold.csv"
    file.write_text(HEAD + "".join(f"{row}\n" for row in rows), "utf-8")
    return gold_of_file(
        store, file, OURS, Looks(study_labels(), texts, blind=True)
    )


def planned(
    store: Store,
    folder: DataFolder,
    gold: tuple[Gold, ...],
    *,
    feedback: bool = False,
    **design: int,
) -> Plan:
    wish = CampaignRequest(
        "pilot",
        ("ana", "ben"),
        OURS,
        Design(kind=DrawKind.ALL, repeats=0.1, **design),
        seed=20_261_121_077,
    )
    plan = drawn_plan(store, replace(wish, gold=gold, gold_feedback=feedback))
    keep_campaign(folder, plan)
    return plan


def give(folder: DataFolder, annotator: str, item: str, label: str) -> None:
    act = {
        "event": uuid4().hex,
        "action": "label",
        "item": item,
        "showing": 1,
        "label": label,
    }
    assert LabelStore(folder, "pilot").take(annotator, [act]).refused == {}


@pytest.mark.slow
def test_gold_is_in_every_order_once_and_in_no_sample(
    store: Store, answered: DataFolder, gold: tuple[Gold, ...]
) -> None:
    plan = planned(store, answered, gold)
    assert (plan.population_size, len(plan.items), len(plan.gold)) == (
        45,
        45,
        3,
    )
    assert not plan.gold_items & {item.item for item in plan.items}
    assert (
        plan_from_json(plan.to_json())
        == plan
        == kept_campaign(answered, "pilot").plan
    )
    for order in plan.orders.values():
        assert sorted(
            s.item for s in order if s.item in plan.gold_items
        ) == sorted(plan.gold_items)
        assert any(showing.showing == 2 for showing in order)
    places = [
        [s.item for s in plan.orders[name]].index(plan.gold[0].item)
        for name in plan.annotators
    ]
    assert places[0] != places[1]


def test_a_plan_without_gold_has_the_orders_that_it_had(store: Store) -> None:
    wish = CampaignRequest(
        "pilot", ("ana",), OURS, Design(kind=DrawKind.ALL, repeats=0.1), seed=7
    )
    first = drawn_plan(store, wish).orders["ana"][0]
    assert first == replace(first, showing=1)
    assert plan_from_json(
        drawn_plan(store, wish)
        .to_json()
        .replace('"gold": [], "gold_feedback": false', '"seed": 7')
    )


def test_the_text_is_that_of_the_run_that_the_label_is_about(
    store: Store, answered: DataFolder, gold: tuple[Gold, ...]
) -> None:
    plan = planned(store, answered, gold)
    shown = [card(store, plan, entry.item).texts for entry in plan.gold]
    assert [
        [(text.text, text.n_runs) for text in texts] for texts in shown
    ] == [
        [("numpy_1 fails, said 0", None)],
        [("numpy_2 fails, said 1", None)],
        [("numpy_2 fails, said 1", None)],
    ]


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (
            "numpy_1_reproduced,heron,runtime+docs,wrong,,1",
            "is not a predicted crash with a text",
        ),
        (
            "numpy_1_reproduced,heron,code,right,,1",
            "is none of correct, partial, wrong",
        ),
        (
            "numpy_1_reproduced,heron,code,wrong,,",
            "its answers have 2 texts; the column run must say which",
        ),
        (
            "numpy_1_reproduced,heron,code,wrong,,9",
            "run '9' has no text; runs with one are 1, 2, 3",
        ),
        (
            f"numpy_1_reproduced,heron,code,wrong,{'x' * 2_001},1",
            "why is longer than 2,000",
        ),
    ],
)
def test_a_row_that_cannot_be_gold_is_named(
    row: str, words: str, store: Store, tmp_path: Path
) -> None:
    with pytest.raises(CampaignError, match=f"line 3.*{words}"):
        read(store, tmp_path, ROWS[0], row)


def test_all_texts_need_no_run_and_one_verdict_is_gold_once(
    store: Store, answered: DataFolder, tmp_path: Path
) -> None:
    [entry] = read(
        store,
        tmp_path,
        "numpy_1_reproduced,heron,code,wrong,,",
        texts=Texts.ALL,
    )
    assert entry.run is None
    with pytest.raises(CampaignError, match="named as gold twice"):
        planned(store, answered, read(store, tmp_path, ROWS[0], ROWS[0]))


def test_the_lead_sees_accuracy_with_an_interval(
    store: Store, answered: DataFolder, gold: tuple[Gold, ...]
) -> None:
    plan = planned(store, answered, gold)
    one, two, three = plan.gold
    for entry, label in ((one, "wrong"), (two, "correct"), (three, "wrong")):
        give(answered, "ana", entry.item, label)
    ana, ben = gold_scores(answered, plan)
    assert (
        ana.n_right,
        ana.n_all,
        ana.accuracy.n,
        ana.accuracy.n_clusters,
    ) == (
        2,
        3,
        3,
        2,
    )
    assert (ben.n_right, ben.accuracy.n) == (0, 0)
    assert 0 <= ana.accuracy.low < 2 / 3 < ana.accuracy.high <= 1
    assert "gold, ana: 2 of 3 right, 66.7% (95% " in status_words(
        campaign_status(answered, "pilot")
    )


def test_with_each_item_of_another_case_the_interval_is_wilsons(
    store: Store, answered: DataFolder, tmp_path: Path
) -> None:
    rows = [
        f"{case}_reproduced,heron,code,correct,,1"
        for case in ("numpy_1", "numpy_2", "pandas_1", "sklearn_1")
    ]
    plan = planned(store, answered, read(store, tmp_path, *rows))
    for entry in plan.gold:
        give(answered, "ana", entry.item, "correct")
    found = gold_scores(answered, plan)[0].accuracy
    alpha = 2 * t.sf(
        t.ppf(0.975, 3), 1e9
    )  # Student's quantile for four cases as a normal one
    low, high = proportion_confint(4, 4, alpha=alpha, method="wilson")
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-6)


def told_to_ana(folder: DataFolder, plan: Plan) -> dict[str, Any] | None:
    label_store = LabelStore(folder, "pilot")
    return told_of_gold(
        plan, label_store.journal("ana"), label_store.names("ana")
    )


def test_the_first_label_counts_where_annotators_are_told_else_the_last(
    store: Store, answered: DataFolder, gold: tuple[Gold, ...]
) -> None:
    plan = planned(store, answered, gold, feedback=True)
    entry = plan.gold[0]
    assert told_to_ana(answered, plan) is None
    give(answered, "ana", entry.item, "correct")
    told = told_to_ana(answered, plan)
    assert told is not None
    name = LabelStore(answered, "pilot").names("ana").of(Showing(entry.item, 1))
    assert (told["id"], told["right"]) == (name, False)
    assert (
        "known label: ✗ wrong.</b> You said ✓ correct. It names &lt;another&gt; cause."
        in told["html"]
    )
    give(answered, "ana", entry.item, "wrong")
    quiet = replace(plan, gold_feedback=False)
    assert [gold_scores(answered, one)[0].n_right for one in (plan, quiet)] == [
        0,
        1,
    ]
    assert told_to_ana(answered, quiet) is None


def test_gold_enters_no_outcome_no_dispute_and_no_agreement(
    store: Store, answered: DataFolder, gold: tuple[Gold, ...]
) -> None:
    plan = planned(store, answered, gold)
    entry, item = plan.gold[0], plan.items[0]
    for name, label in (("ana", "wrong"), ("ben", "correct")):
        give(answered, name, entry.item, label)
        give(answered, name, item.item, label)
    assert entry.item not in final_outcomes(answered, plan)
    assert [dispute.item for dispute in disputes(answered, plan)] == [item.item]
    with pytest.raises(CampaignError, match="needs an item of the campaign"):
        adjudicate(
            answered, plan, entry.item, by="lea", label=Label.WRONG, reason="a"
        )
    frame = with_campaigns(verdict_labels(store.cursor()), answered)
    assert len(frame[frame["campaign"] == "pilot"]) == 2


def test_an_export_hides_gold_until_the_lock_and_a_replay_repeats_it(
    store: Store, answered: DataFolder, gold: tuple[Gold, ...], tmp_path: Path
) -> None:
    plan = planned(store, answered, gold, feedback=True)
    give(answered, "ana", plan.gold[0].item, "wrong")
    hidden = {
        name: b"".join(content())
        for name, content in export_files(answered, "pilot").items()
    }
    assert "gold.csv" not in hidden
    assert all(
        entry.item.encode() not in text
        for text in hidden.values()
        for entry in plan.gold
    )
    rows = list(
        csv.DictReader(io.StringIO(hidden["labels.csv"].decode(), newline=""))
    )
    assert len(rows) == sum(map(len, plan.orders.values()))
    lock_campaign(answered, "pilot", by="lea")
    write_export(
        export_files(answered, "pilot"), tmp_path / "export", force=False
    )
    table = list(
        csv.DictReader((tmp_path / "export" / "gold.csv").open(newline=""))
    )
    assert [
        (row["annotator"], row["label"], row["gold_label"], row["agrees"])
        for row in table[:2]
    ] == [
        ("ana", "wrong", "wrong", "1"),
        ("ana", "", "correct", ""),
    ]
    kept = list(
        csv.DictReader((tmp_path / "export" / "labels.csv").open(newline=""))
    )
    assert not {row["item"] for row in kept} & plan.gold_items
    old = exported_plan(tmp_path / "export" / "plan.json")
    again = repeated_plan(store, old).plan
    assert (again.gold, again.gold_feedback, again.orders) == (
        plan.gold,
        True,
        plan.orders,
    )
    other = repeated_plan(store, old, campaign="second").plan
    assert [entry.verdict for entry in other.gold] == [
        entry.verdict for entry in plan.gold
    ]
    assert not other.gold_items & plan.gold_items
    elsewhere = DataFolder(tmp_path / "elsewhere")
    keep_campaign(elsewhere, old)
    keep_replayed(
        elsewhere, old, exported_work(tmp_path / "export" / "plan.json", old)
    )
    assert gold_scores(elsewhere, old) == gold_scores(answered, plan)


def test_gold_comes_with_the_main_round_and_with_people_who_join(
    store: Store, answered: DataFolder, gold: tuple[Gold, ...]
) -> None:
    plan = planned(store, answered, gold, calibration=4)
    assert {len(order) for order in plan.orders.values()} == {4}
    open_main(answered, "pilot", by="lea")
    change_people(
        answered,
        "pilot",
        PeopleChange(add=("cyd",), replace={"ben": "dan"}),
        by="lea",
    )
    now = kept_campaign(answered, "pilot").plan
    for name in now.present:
        assert sorted(
            s.item for s in now.orders[name] if s.item in now.gold_items
        ) == sorted(now.gold_items)
    assert not {s.item for s in now.orders["ben"]} & now.gold_items


def test_decided_items_of_a_locked_campaign_become_gold_with_the_text_that_was_judged(
    store: Store, answered: DataFolder
) -> None:
    first = planned(store, answered, ())
    one, two, three, *_ = first.items
    for name in ("ana", "ben"):
        give(answered, name, one.item, "partial")
        give(answered, name, two.item, "wrong" if name == "ana" else "correct")
    give(
        answered, "ana", three.item, "wrong"
    )  # one label alone does not decide
    adjudicate(
        answered,
        first,
        two.item,
        by="lea",
        label=Label.CORRECT,
        reason="a",
        note="The second is right.",
    )

    def drawn(n: int) -> tuple[Gold, ...]:
        return gold_of_campaign(
            store,
            answered,
            "pilot",
            n,
            OURS,
            Looks(study_labels(), Texts.ONE, blind=True),
            seed=3,
        )

    with pytest.raises(CampaignError, match="not locked"):
        drawn(1)
    lock_campaign(answered, "pilot", by="lea")
    found = {entry.verdict.key: entry for entry in drawn(2)}
    assert (found[one.verdict.key].label, found[two.verdict.key].label) == (
        "partial",
        "correct",
    )
    assert found[two.verdict.key].why == "The second is right."
    with pytest.raises(CampaignError, match="has 2 decided items"):
        drawn(3)
    wish = CampaignRequest(
        "second",
        ("ana",),
        OURS,
        Design(kind=DrawKind.ALL),
        seed=99,
        gold=tuple(found.values()),
    )
    second = drawn_plan(store, wish)
    for entry in second.gold:
        before = next(
            item.item for item in first.items if item.verdict == entry.verdict
        )
        assert (
            card(store, second, entry.item).texts
            == card(store, first, before).texts
        )


def test_labels_made_elsewhere_may_be_of_gold_items(
    store: Store, answered: DataFolder, gold: tuple[Gold, ...], tmp_path: Path
) -> None:
    plan = planned(store, answered, gold)
    names = [plan.gold[0].item, cover_name(plan, "ana", plan.gold[1].item)]
    (tmp_path / "ana.csv").write_text(
        "item,label\n" + "".join(f"{name},wrong\n" for name in names), "utf-8"
    )
    found = read_labels(
        LabelStore(answered, "pilot"),
        "ana",
        tmp_path / "ana.csv",
        Columns("item", "label"),
        {},
    )
    assert (found.faults, [act["item"] for act in found.acts]) == (
        [],
        [entry.item for entry in plan.gold[:2]],
    )
