"""The desk: what it says is saved is on the disk, once; what it refuses is told and is not."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier, Thread
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crane_core import ledger
from crane_core.annotation import guideline as guideline_module
from crane_core.annotation.guideline import guideline, version_of
from crane_core.annotation.order import Showing
from crane_core.annotation.plan import Plan, guideline_of
from crane_core.domain import Annotation, AnnotationAction, Label
from crane_core.errors import CampaignError, LedgerError
from crane_core.pipeline.campaigns.campaigns import (
    annotations_in,
    campaign_file,
    decisions_of,
    label_file,
    lock_campaign,
)
from crane_core.pipeline.campaigns.labelling import (
    LabelStore,
    adjudicate,
    merged_note,
)
from crane_core.pipeline.places import DataFolder
from tests.patience import PATIENCE_S

Keep = Callable[..., tuple[DataFolder, Plan]]


def act(
    event: str, showing: Showing, action: str = "label", **more: Any
) -> dict[str, Any]:
    raw = {
        "event": event,
        "action": action,
        "item": showing.item,
        "showing": showing.showing,
    }
    return raw | ({"label": "partial"} if action == "label" else {}) | more


def acts_on_disk(
    folder: DataFolder, annotator: str = "ana"
) -> list[Annotation]:
    return annotations_in(label_file(folder, "pilot", annotator))


def events_on_disk(folder: DataFolder) -> list[str]:
    return [act.event for act in acts_on_disk(folder)]


def test_what_was_taken_is_on_the_disk_in_its_order(pilot: Keep) -> None:
    folder, plan = pilot()
    desk = LabelStore(folder, "pilot")
    one, two, *_ = plan.orders["ana"]
    taken = desk.take(
        "ana", [act("event-0001", one), act("event-0002", two, label="correct")]
    )
    taken_later = desk.take("ana", [act("event-0003", one, "undo")])
    assert (taken.saved, taken.refused) == (["event-0001", "event-0002"], {})
    assert taken_later.saved == ["event-0003"]
    assert 0 < taken.seconds < PATIENCE_S
    assert [
        (r.event, r.sequence, r.action, r.guideline)
        for r in acts_on_disk(folder)
    ] == [
        ("event-0001", 1, "label", plan.guideline),
        ("event-0002", 2, "label", plan.guideline),
        ("event-0003", 3, "undo", plan.guideline),
    ]
    assert desk.journal("ana").given.keys() == {two}


_ONE_PROCESS = """
import sys
from pathlib import Path
from crane_core.pipeline.campaigns.labelling import LabelStore
from crane_core.pipeline.places import DataFolder

desk = LabelStore(DataFolder(Path(sys.argv[1])), "pilot")
showings = list(desk.plan.orders["ana"])
sys.stdin.readline()  # both processes begin at once
for number in range(40):
    showing = showings[number % len(showings)]
    act = {"event": f"{sys.argv[2]}-{number:04}", "action": "label", "label": "partial"}
    desk.take("ana", [act | {"item": showing.item, "showing": showing.showing}])
"""


@pytest.mark.slow
def test_the_acts_of_one_annotator_in_two_processes_have_one_order(
    pilot: Keep,
) -> None:
    folder, _ = pilot()
    start = [sys.executable, "-c", _ONE_PROCESS, str(folder.path)]
    processes = [
        subprocess.Popen([*start, name], stdin=subprocess.PIPE, text=True)
        for name in ("first", "other")
    ]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.close()
    assert [process.wait(timeout=PATIENCE_S) for process in processes] == [0, 0]
    records = acts_on_disk(folder)
    assert [record.sequence for record in records] == list(range(1, 81))
    assert len({record.event for record in records}) == 80


def test_an_upgrade_of_the_guideline_changes_nothing_of_a_running_campaign(
    pilot: Keep, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder, plan = pilot()
    one, two, *_ = plan.orders["ana"]
    LabelStore(folder, "pilot").take(
        "ana", [act("event-0001", one, guideline=plan.guideline)]
    )
    (tmp_path / "guideline.md").write_text("Judge otherwise.", "utf-8")
    monkeypatch.setattr(guideline_module, "files", lambda _: tmp_path)
    assert guideline() == "Judge otherwise."
    after = LabelStore(folder, "pilot")
    assert guideline_of(after.plan) == "g1"
    taken = after.take(
        "ana",
        [
            act("event-0002", two, guideline=plan.guideline),
            act("event-0003", two, guideline=version_of(guideline())),
        ],
    )
    assert (taken.saved, list(taken.refused)) == (
        ["event-0002"],
        ["event-0003"],
    )
    assert {act.guideline for act in acts_on_disk(folder)} == {version_of("g1")}


def test_a_batch_is_one_write(
    pilot: Keep, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Watched, not replaced: all acts of a message reach the disk together, and once."""
    folder, plan = pilot()
    desk = LabelStore(folder, "pilot")
    written: list[bytes] = []
    write = os.write
    monkeypatch.setattr(
        os,
        "write",
        lambda handle, data: written.append(data) or write(handle, data),
    )
    desk.take(
        "ana",
        [
            act(f"event-{i:04}", showing)
            for i, showing in enumerate(plan.orders["ana"][:9])
        ],
    )
    assert [data.count(b"\n") for data in written] == [9]


def test_what_is_sent_again_counts_as_saved_and_is_not_written_again(
    pilot: Keep,
) -> None:
    folder, plan = pilot()
    desk = LabelStore(folder, "pilot")
    first, second = (
        act(f"event-{i:04}", showing)
        for i, showing in enumerate(plan.orders["ana"][:2])
    )
    desk.take("ana", [first])
    taken = desk.take("ana", [first, second, second, first])
    assert set(taken.saved) == {"event-0000", "event-0001"}
    assert taken.refused == {}
    assert events_on_disk(folder) == ["event-0000", "event-0001"]
    assert LabelStore(folder, "pilot").take("ana", [second]).saved == [
        "event-0001"
    ]
    assert events_on_disk(folder) == ["event-0000", "event-0001"]


def test_a_refused_act_does_not_hold_back_the_others(pilot: Keep) -> None:
    folder, plan = pilot()
    one, two, *_ = plan.orders["ana"]
    raws: list[dict[str, Any]] = [
        act("event-0001", one),
        act("event-0002", two, label="excellent"),
        act("event-0003", Showing("000000000000", 1)),
        {"event": "x" * 10_000},
        {},
        act("event-0004", two, seconds=10**400, reason=["a"]),
        act("event-0005", two, shown_at="0001-01-01T00:00:00+23:59"),
        act("event-0006", two),
    ]
    taken = LabelStore(folder, "pilot").take("ana", raws)
    assert taken.saved == ["event-0001", "event-0006"] == events_on_disk(folder)
    assert sorted(taken.refused) == sorted(
        [
            "event-0002",
            "event-0003",
            "event-0004",
            "event-0005",
            "None",
            "x" * 64,
        ]
    )
    assert (
        taken.refused["event-0003"]
        == "000000000000, showing 1, is not an item of ana"
    )


def test_an_event_that_was_refused_may_come_again_mended(pilot: Keep) -> None:
    folder, plan = pilot()
    desk = LabelStore(folder, "pilot")
    one = plan.orders["ana"][0]
    assert desk.take("ana", [act("event-0001", one, label="good")]).saved == []
    assert desk.take("ana", [act("event-0001", one, label="wrong")]).saved == [
        "event-0001"
    ]


def test_a_longer_event_that_begins_like_a_saved_one_is_not_saved(
    pilot: Keep,
) -> None:
    folder, plan = pilot()
    desk = LabelStore(folder, "pilot")
    one = plan.orders["ana"][0]
    desk.take("ana", [act("e" * 64, one)])
    assert desk.take("ana", [act("e" * 65, one)]).saved == []


def test_nothing_sent_is_nothing_written(pilot: Keep) -> None:
    folder, _ = pilot()
    assert LabelStore(folder, "pilot").take("ana", []).saved == []
    assert not label_file(folder, "pilot", "ana").exists()


def test_a_check_writes_nothing_and_waits_for_nobody_who_writes(
    pilot: Keep,
) -> None:
    folder, plan = pilot()
    desk = LabelStore(folder, "pilot")
    one, two, *_ = plan.orders["ana"]

    def files() -> list[Path]:
        return sorted(folder.path.rglob("*"))

    before = files()
    assert desk.check("ana", [act("event-0001", one)]).saved == ["event-0001"]
    assert files() == before, "not even a lock"
    desk.take("ana", [act("event-0001", one)])
    with (
        ThreadPoolExecutor(1) as thread,
        ledger.exclusively(label_file(folder, "pilot", "ana")),
    ):
        acts = [
            act("event-0001", one),
            act("event-0002", two),
            act("event-0003", two, label="great"),
        ]
        found = thread.submit(desk.check, "ana", acts).result(PATIENCE_S)
    assert [fresh.event for fresh in found.fresh] == ["event-0002"]
    assert (found.saved, list(found.refused)) == (
        ["event-0001", "event-0002"],
        ["event-0003"],
    )
    assert events_on_disk(folder) == ["event-0001"]


@pytest.mark.parametrize(
    "stranger", ["eva", "", "../ana", "Ana", "adjudication"]
)
def test_a_stranger_has_no_place(pilot: Keep, stranger: str) -> None:
    folder, plan = pilot()
    desk = LabelStore(folder, "pilot")
    with pytest.raises(
        CampaignError, match="is not an annotator of 'pilot'"
    ) as told:
        desk.take(stranger, [act("event-0001", plan.orders["ana"][0])])
    assert told.value.remedy == "Its annotators are ana, ben."
    with pytest.raises(CampaignError):
        desk.journal(stranger)
    assert not (folder.ledger / "labels").exists()


def test_there_is_no_desk_without_a_campaign(tmp_path: Path) -> None:
    with pytest.raises(CampaignError, match="There is no campaign 'pilot'"):
        LabelStore(DataFolder(tmp_path), "pilot")


def test_a_locked_campaign_takes_nothing_at_a_desk_that_was_open_before(
    pilot: Keep,
) -> None:
    folder, plan = pilot()
    desk = LabelStore(folder, "pilot")
    one, two, *_ = plan.orders["ana"]
    desk.take("ana", [act("event-0001", one)])
    assert desk.lock() is None
    lock = lock_campaign(folder, "pilot", by="eva")
    with pytest.raises(CampaignError, match="was locked by eva"):
        desk.take("ana", [act("event-0002", two)])
    assert desk.lock() == lock
    assert events_on_disk(folder) == ["event-0001"]
    with pytest.raises(CampaignError, match="is locked"):
        adjudicate(
            folder, plan, one.item, by="eva", label=Label.CORRECT, reason="a"
        )


def test_a_campaign_whose_file_is_taken_away_takes_nothing(pilot: Keep) -> None:
    folder, plan = pilot()
    desk = LabelStore(folder, "pilot")
    campaign_file(folder, "pilot").unlink()
    with pytest.raises(CampaignError, match="There is no campaign 'pilot'"):
        desk.take("ana", [act("event-0001", plan.orders["ana"][0])])


def test_when_the_disk_refuses_nothing_counts_as_saved_and_it_can_be_sent_again(
    pilot: Keep,
) -> None:
    folder, plan = pilot()
    desk = LabelStore(folder, "pilot")
    in_the_way = folder.ledger / "labels"
    in_the_way.write_text("a file where a folder is needed")
    raw = act("event-0001", plan.orders["ana"][0])
    with pytest.raises(LedgerError, match="cannot be written"):
        desk.take("ana", [raw])
    assert desk.journal("ana").n_done == 0
    in_the_way.unlink()
    assert desk.take("ana", [raw]).saved == ["event-0001"]
    assert desk.journal("ana").n_done == 1


def test_what_somebody_else_appended_is_seen(pilot: Keep) -> None:
    folder, plan = pilot()
    here, there = LabelStore(folder, "pilot"), LabelStore(folder, "pilot")
    one, two, *_ = plan.orders["ana"]
    here.take("ana", [act("event-0001", one)])
    assert there.journal("ana").given.keys() == {one}
    there.take("ana", [act("event-0002", two), act("event-0003", one, "undo")])
    assert here.journal("ana").given.keys() == {two}
    assert here.take("ana", [act("event-0002", two)]).saved == ["event-0002"]
    assert events_on_disk(folder) == ["event-0001", "event-0002", "event-0003"]


def test_a_file_that_was_replaced_is_read_anew(pilot: Keep) -> None:
    folder, plan = pilot()
    desk = LabelStore(folder, "pilot")
    one, two, three, *_ = plan.orders["ana"]
    desk.take("ana", [act("event-0001", one), act("event-0002", two)])
    file = label_file(folder, "pilot", "ana")
    before = file.read_bytes()
    file.write_bytes(before.replace(b"partial", b"correct") * 2)
    assert {given.label for given in desk.journal("ana").given.values()} == {
        Label.CORRECT
    }
    assert desk.take("ana", [act("event-0003", three)]).saved == ["event-0003"]
    assert desk.journal("ana").given.keys() == {one, two, three}


@pytest.mark.parametrize(
    "leave", [lambda file: file.unlink(), lambda file: file.write_bytes(b"")]
)
def test_a_file_that_was_taken_away_is_not_remembered(
    pilot: Keep, leave: Callable[[Path], object]
) -> None:
    """What the page shows is what the file says: an act sent again is written again."""
    folder, plan = pilot()
    desk = LabelStore(folder, "pilot")
    raw = act("event-0001", plan.orders["ana"][0])
    desk.take("ana", [raw])
    leave(label_file(folder, "pilot", "ana"))
    assert desk.journal("ana").n_done == 0
    assert desk.take("ana", [raw]).saved == ["event-0001"]
    assert events_on_disk(folder) == ["event-0001"]


def test_lines_that_are_no_acts_do_not_stop_the_desk(pilot: Keep) -> None:
    folder, plan = pilot()
    desk = LabelStore(folder, "pilot")
    one, two, *_ = plan.orders["ana"]
    desk.take("ana", [act("event-0001", one)])
    with label_file(folder, "pilot", "ana").open("ab") as file:
        file.write(
            b'not json\n{"record": "campaign"}\n\xff\xfe\n'
            + b"[" * 100_000
            + b"\n"
        )
    assert desk.take("ana", [act("event-0002", two)]).saved == ["event-0002"]
    assert LabelStore(folder, "pilot").journal("ana").given.keys() == {one, two}


def together(*works: Callable[[], None]) -> None:
    """Run all at once; what one raises, is raised here."""
    start = Barrier(len(works))
    raised: list[BaseException] = []

    def run(work: Callable[[], None]) -> None:
        start.wait()
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - told below
            raised.append(error)

    threads = [Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert raised == []


def label_all(
    desk: LabelStore,
    annotator: str,
    order: tuple[Showing, ...],
    tab: str,
    word: str,
) -> None:
    """Every showing of the order, in batches that overlap, half of them under events that the other tab uses, too."""
    raws = [
        act(
            f"shared-{i:04}" if i % 2 else f"{tab}-{i:08}",
            showing,
            label=word,
            seconds=1.0,
        )
        for i, showing in enumerate(order)
    ]
    for i in range(len(raws)):
        taken = desk.take(annotator, raws[max(0, i - 3) : i + 1])
        assert taken.refused == {}
        assert raws[i]["event"] in taken.saved


def held(
    folder: DataFolder, desk: LabelStore, plan: Plan, annotator: str
) -> None:
    """What holds however acts came: nothing lost, nothing doubled, and the desk knows what the disk has."""
    order = plan.orders[annotator]
    wanted = {
        f"{tab}-{i:08}"
        for tab in ("left", "right")
        for i in range(0, len(order), 2)
    }
    wanted |= {f"shared-{i:04}" for i in range(1, len(order), 2)}
    records = acts_on_disk(folder, annotator)
    assert {record.event for record in records} == wanted
    journal = desk.journal(annotator)
    assert journal.n_done == len(journal.labelled) == len(order)
    first_copies = {record.event: record for record in reversed(records)}
    in_order = sorted(first_copies.values(), key=records.index)
    last = {
        Showing(record.item, record.showing): record.label
        for record in in_order
    }
    assert {
        showing: given.label for showing, given in journal.given.items()
    } == last
    assert repr(journal) == repr(LabelStore(folder, "pilot").journal(annotator))


@pytest.mark.parametrize("n_desks", [1, 2])
def test_two_tabs_of_one_annotator_write_every_event_once(
    pilot: Keep, n_desks: int
) -> None:
    """Of one process, or of two desks on one folder."""
    folder, plan = pilot(80)
    left = LabelStore(folder, "pilot")
    right = left if n_desks == 1 else LabelStore(folder, "pilot")
    order = plan.orders["ana"]
    together(
        lambda: label_all(left, "ana", order, "left", "correct"),
        lambda: label_all(right, "ana", order, "right", "wrong"),
    )
    held(folder, left, plan, "ana")
    assert repr(left.journal("ana")) == repr(right.journal("ana"))
    records = acts_on_disk(folder)
    assert [record.sequence for record in records] == list(
        range(1, len(records) + 1)
    )
    assert len(records) == len({record.event for record in records})


def test_two_annotators_at_once_have_a_file_each(pilot: Keep) -> None:
    folder, plan = pilot(80)
    desk = LabelStore(folder, "pilot")

    def work(annotator: str) -> None:
        for tab in ("left", "right"):
            label_all(desk, annotator, plan.orders[annotator], tab, "partial")

    together(lambda: work("ana"), lambda: work("ben"))
    for annotator in ("ana", "ben"):
        held(folder, desk, plan, annotator)


def test_a_journal_can_be_read_while_another_tab_labels(pilot: Keep) -> None:
    folder, plan = pilot(200)
    desk = LabelStore(folder, "pilot")
    done: list[int] = []

    def read() -> None:
        while not done or done[-1] < len(plan.orders["ana"]):
            journal = desk.journal("ana")
            assert all(
                journal.given[showing].label == Label.PARTIAL
                for showing in journal.undoable()
            )
            assert (
                sum(given.seconds for given in journal.given.values())
                == journal.n_done
            )
            assert journal.given.keys().isdisjoint(journal.upcoming(16))
            done.append(journal.n_done)

    def write() -> None:
        for i, showing in enumerate(plan.orders["ana"]):
            desk.take("ana", [act(f"event-{i:04}", showing, seconds=1.0)])

    together(read, write)
    assert done == sorted(done)


def test_a_decision_is_on_the_disk_with_who_and_why(pilot: Keep) -> None:
    folder, plan = pilot()
    item = plan.items[0].item
    decision = adjudicate(
        folder,
        plan,
        item,
        by="eva",
        label=Label.WRONG,
        reason="b",
        note="seen \n together",
    )
    assert (decision.annotator, decision.action, decision.reason, decision.note, decision.sequence) == (
        "eva", AnnotationAction.ADJUDICATE, "b", "seen \n together", 1,
    )  # fmt: skip
    assert decisions_of(folder, plan) == {item: decision}
    again = adjudicate(
        folder, plan, item, by="eva", label=Label.CORRECT, reason="a"
    )
    assert (again.sequence, again.note) == (2, None)
    assert again.event != decision.event


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"item": "000000000000"}, "The decision is invalid"),
        ({"label": Label.MISDETECTED}, "The decision is invalid"),
        ({"label": "excellent"}, "The decision is invalid"),
        ({"reason": "z"}, "The decision is invalid"),
        ({"reason": ""}, "The decision is invalid"),
        ({"note": "x" * 2_001}, "longer than 2,000"),
        ({"note": "half \ud83d"}, "does not accept this record"),
        ({"by": ""}, "is not a valid name for an adjudicator"),
        ({"by": "../ana"}, "is not a valid name for an adjudicator"),
        ({"by": "Eva M."}, "is not a valid name for an adjudicator"),
    ],
)
def test_what_is_no_decision_is_refused_and_not_written(
    pilot: Keep, change: dict[str, Any], told: str
) -> None:
    folder, plan = pilot()
    words = {
        "item": plan.items[0].item,
        "by": "eva",
        "label": Label.WRONG,
        "reason": "b",
    } | change
    item = words.pop("item")
    with pytest.raises((CampaignError, LedgerError), match=told):
        adjudicate(folder, plan, item, **words)
    assert decisions_of(folder, plan) == {}


WORDS = st.sampled_from(["", "too short", "see cell 4", "wrong line", "odd"])


@pytest.mark.parametrize(
    ("stored", "before", "written", "merged"),
    [
        ("", "", "mine", "mine"),
        ("mine", "mine", "mine, longer", "mine, longer"),
        ("mine", "mine", "", ""),
        ("theirs", "", "mine", "theirs\nmine"),
        ("theirs\nmine", "mine", "mine, longer", "theirs\nmine, longer"),
        ("theirs\nmine", "mine", "", "theirs"),
        ("theirs", "mine", "", "theirs"),
        ("theirs", "", "theirs", "theirs"),
        ("theirs\nmine", "", "mine", "theirs\nmine"),
    ],
)
def test_a_text_that_the_device_did_not_know_stays(
    stored: str, before: str, written: str, merged: str
) -> None:
    assert merged_note(stored, before, written) == merged


@given(before=WORDS, theirs=WORDS, mine=WORDS)
def test_no_text_of_either_is_lost(before: str, theirs: str, mine: str) -> None:
    merged = merged_note(theirs, before, mine)
    assert mine in merged
    assert theirs == before or theirs in merged
