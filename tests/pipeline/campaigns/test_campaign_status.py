"""Status and disputes of a running campaign, from the ledger alone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from crane_core.annotation.draw import CampaignRequest
from crane_core.annotation.order import Showing
from crane_core.annotation.outcome import Provenance
from crane_core.annotation.plan import Design, DrawKind, Plan, Population
from crane_core.domain import Label, Side
from crane_core.pipeline.campaigns.campaigns import (
    drawn_plan,
    keep_campaign,
    lock_campaign,
)
from crane_core.pipeline.campaigns.disputes import disputes, undecided
from crane_core.pipeline.campaigns.labelling import LabelStore, adjudicate
from crane_core.pipeline.campaigns.status import (
    campaign_status,
    open_words,
    status_json,
    status_words,
    waiting_words,
)
from crane_core.pipeline.campaigns.threads import About, resolve
from crane_core.pipeline.loading.load import prepare
from crane_core.pipeline.places import DataFolder


@pytest.fixture
def plan(answered: DataFolder) -> Iterator[Plan]:
    """48 items, every one for ana, ben and cleo; the database is gone again when a test begins."""
    store = prepare(answered)
    design = Design(kind=DrawKind.ALL, repeats=0.05)
    drawn = drawn_plan(
        store,
        CampaignRequest(
            "pilot",
            ("ana", "ben", "cleo"),
            Population("minibench", "ours"),
            design,
            seed=4,
        ),
    )
    store.close()
    answered.database.unlink()
    keep_campaign(answered, drawn)
    return drawn


def act(
    folder: DataFolder,
    annotator: str,
    item: str,
    action: str,
    showing: int = 1,
    **more: object,
) -> None:
    event = f"{annotator}-{item}-{showing}-{action}-{len(more)}"
    raw = {
        "event": event,
        "action": action,
        "item": item,
        "showing": showing,
    } | more
    assert LabelStore(folder, "pilot").take(annotator, [raw]).refused == {}


def test_an_untouched_campaign_owes_everything(
    answered: DataFolder, plan: Plan
) -> None:
    status = campaign_status(answered, "pilot")
    assert status.outcomes == dict.fromkeys(Provenance, 0) | {
        Provenance.UNLABELLED: 48
    }
    assert [(p.n_done, p.n_all, p.n_unlabelled) for p in status.progress] == [
        (0, 50, 48)
    ] * 3
    assert [p.pace.median_s for p in status.progress] == [None] * 3
    assert open_words(status) == ["unlabelled items: ana 48, ben 48, cleo 48"]


def test_progress_counts_labels_flags_skips_and_speed(
    answered: DataFolder, plan: Plan
) -> None:
    one, two, three = (
        showing.item
        for showing in [s for s in plan.orders["ana"] if s.showing == 1][:3]
    )
    act(answered, "ana", one, "label", label="correct", seconds=2.0)
    act(answered, "ana", two, "label", label="wrong", seconds=10.0)
    act(answered, "ana", two, "flag")
    act(answered, "ana", three, "skip")
    act(answered, "ben", one, "label", label="correct", seconds=4.0)
    act(answered, "ben", two, "label", label="partial", seconds=4.0)
    status = campaign_status(answered, "pilot")
    ana = status.progress[0]
    assert (
        ana.n_done,
        ana.n_all,
        ana.n_flagged,
        ana.n_skipped,
        ana.n_unlabelled,
    ) == (
        2,
        50,
        1,
        1,
        46,
    )
    assert (ana.pace.median_s, ana.pace.n_quick) == (6.0, 1)
    assert [part.shares for part in ana.parts] == [
        {"correct": 1.0},
        {"wrong": 1.0},
    ]
    counts = {
        Provenance.UNANIMOUS: 1,
        Provenance.OPEN: 1,
        Provenance.UNLABELLED: 46,
    }
    assert status.outcomes == dict.fromkeys(Provenance, 0) | counts
    assert (status.n_differ, len(status.waiting), status.n_flagged) == (1, 1, 1)
    assert open_words(status)[1] == "to decide: 1 item with different labels"
    assert (
        "ana: 2 of 50, 1 skipped, 1 flagged, median 6 s, 1 quick"
        in status_words(status)
    )
    assert status_json(status)["annotators"][0]["done"] == 2
    adjudicate(answered, plan, two, by="dora", label=Label.WRONG, reason="b")
    after = campaign_status(answered, "pilot")
    assert (
        after.n_differ,
        len(after.waiting),
        after.outcomes[Provenance.ADJUDICATED],
    ) == (1, 0, 1)


def test_a_status_tells_no_label_of_an_item(
    answered: DataFolder, plan: Plan
) -> None:
    for item in plan.items[:6]:
        act(answered, "ana", item.item, "label", label="correct", seconds=2.0)
    told = status_words(campaign_status(answered, "pilot")) + str(
        status_json(campaign_status(answered, "pilot"))
    )
    assert [item.item for item in plan.items if item.item in told] == []
    assert "correct" not in told


def test_a_locked_campaign_says_so(answered: DataFolder, plan: Plan) -> None:
    lock_campaign(answered, "pilot", by="dora")
    status = campaign_status(answered, "pilot")
    assert "48 items, locked by dora at 20" in status_words(status)
    assert status_json(status)["locked"]["by"] == "dora"
    assert "result: no item has a final label" in status_words(status)
    assert status_json(status)["result"] is None


def test_a_locked_campaign_tells_its_result(
    answered: DataFolder, plan: Plan
) -> None:
    one, two = sorted(item.item for item in plan.items)[:2]
    act(answered, "ana", one, "label", label="correct")
    act(answered, "ana", two, "label", label="wrong")
    assert campaign_status(answered, "pilot").result is None
    lock_campaign(answered, "pilot", by="dora")
    status = campaign_status(answered, "pilot")
    found = status_json(status)["result"]
    assert found["correct"]["items"] == 2
    assert found["partial"]["share"] == 0.0
    assert found["correct"]["share"] + found["wrong"]["share"] == (
        pytest.approx(1.0)
    )
    assert "result: 2 items of" in status_words(status)
    assert "    partial: 0.0% (95% 0.0% to" in status_words(status)


def test_items_with_different_labels_come_up_at_once_and_flagged_ones_when_all_have_labelled(
    answered: DataFolder, plan: Plan
) -> None:
    differs, flagged, agreed = sorted(item.item for item in plan.items)[:3]
    for item, label in (
        (differs, "wrong"),
        (flagged, "correct"),
        (agreed, "correct"),
    ):
        act(
            answered,
            "ana",
            item,
            "label",
            label=label,
            reason="a" if label == "wrong" else None,
        )
        act(answered, "ben", item, "label", label="correct")
    act(answered, "ana", flagged, "flag")
    act(answered, "ana", differs, "note", note="<b>look</b>")
    (first,) = disputes(answered, plan)
    assert (first.item, first.differs, first.decision) == (differs, True, None)
    assert [(s.annotator, s.label, s.reason, s.note) for s in first.said] == [
        ("ana", Label.WRONG, "a", "<b>look</b>"), ("ben", Label.CORRECT, None, ""), ("cleo", None, None, ""),
    ]  # fmt: skip
    act(answered, "cleo", flagged, "label", label="correct")
    both = disputes(answered, plan)
    assert [(entry.item, entry.differs) for entry in both] == [
        (differs, True),
        (flagged, False),
    ]
    decision = adjudicate(
        answered, plan, differs, by="dora", label=Label.CORRECT, reason="a"
    )
    decided = disputes(answered, plan)
    assert decided[0].decision == decision
    assert [entry.item for entry in undecided(decided)] == [flagged]


def test_a_flag_on_the_second_showing_brings_the_item_up(
    answered: DataFolder, plan: Plan
) -> None:
    again = next(
        showing for showing in plan.orders["ana"] if showing.showing == 2
    )
    for annotator in plan.annotators:
        act(answered, annotator, again.item, "label", label="partial")
    act(answered, "ana", again.item, "flag", showing=2)
    assert Showing(again.item, 2) in plan.orders["ana"]
    assert [
        (entry.item, entry.differs) for entry in disputes(answered, plan)
    ] == [(again.item, False)]


def test_a_flag_asks_for_a_decision_until_its_thread_is_resolved(
    answered: DataFolder, plan: Plan
) -> None:
    item = sorted(entry.item for entry in plan.items)[0]
    for annotator in plan.annotators:
        act(answered, annotator, item, "label", label="correct")
    act(answered, "ana", item, "flag")
    flagged = campaign_status(answered, "pilot")
    assert waiting_words(flagged) == "1 flagged item"
    assert "to decide: 1 flagged item" in open_words(flagged)
    assert "to decide: 1 flagged item" in status_words(flagged)
    assert status_json(flagged)["open"]["undecided"] == 1
    assert flagged.progress[0].n_flagged == flagged.n_flagged == 1

    about = About("ana", Showing(item, 1))
    resolve(answered, "pilot", about, by="lea", side=Side.LEAD)
    resolved = campaign_status(answered, "pilot")
    assert (resolved.waiting, resolved.n_flagged) == ([], 0)
    assert resolved.progress[0].n_flagged == 0
    assert disputes(answered, plan) == []

    act(answered, "ana", item, "unflag")
    act(answered, "ana", item, "flag", note="again")
    assert len(campaign_status(answered, "pilot").waiting) == 1


def test_a_decided_item_stays_one_when_its_labels_agree_later(
    answered: DataFolder, plan: Plan
) -> None:
    item = sorted(entry.item for entry in plan.items)[0]
    act(answered, "ana", item, "label", label="correct")
    act(answered, "ben", item, "label", label="wrong")
    assert waiting_words(campaign_status(answered, "pilot")) == (
        "1 item with different labels"
    )
    adjudicate(answered, plan, item, by="dora", label=Label.CORRECT, reason="a")
    act(answered, "ben", item, "undo")
    (kept,) = disputes(answered, plan)
    assert (kept.differs, undecided([kept])) == (False, [])
