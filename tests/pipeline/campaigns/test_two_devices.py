"""Two devices of one annotator: neither has the last word over a label that it did not know of."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from crane_core import ledger
from crane_core.annotation.order import Showing
from crane_core.annotation.plan import Plan
from crane_core.cli import main
from crane_core.errors import CampaignError
from crane_core.pipeline.campaigns.campaigns import (
    acts_of,
    journal_of,
    kept_campaign,
    label_file,
    lock_campaign,
)
from crane_core.pipeline.campaigns.desk_names import desk_names
from crane_core.pipeline.campaigns.labelling import LabelStore, Taken
from crane_core.pipeline.loading.load import prepare
from crane_core.pipeline.places import DataFolder
from tests.browser.desk import keep_all

UNCHECKED = object()


@pytest.fixture
def plan(answered: DataFolder) -> Plan:
    store = prepare(answered)
    try:
        return keep_all(answered, store, "pilot")
    finally:
        store.close()


class Desk:
    """A browser of ana: numbers its acts, and says over which label it gives one."""

    def __init__(self, folder: DataFolder, device: str) -> None:
        self.store, self.device, self.n = LabelStore(folder, "pilot"), device, 0

    def act(
        self,
        action: str,
        item: str,
        label: str | None = None,
        *,
        over: object = None,
    ) -> dict[str, Any]:
        self.n += 1
        act = {
            "event": f"{self.device}-{self.n:04}",
            "action": action,
            "item": item,
            "showing": 1,
            "label": label,
        }
        return act | {"over": over, "device": self.device, "number": self.n}

    def send(self, *acts: dict[str, Any]) -> Taken:
        taken = self.store.take("ana", acts)
        assert taken.refused == {}
        return taken


def in_force(folder: DataFolder, plan: Plan, item: str) -> str | None:
    given = journal_of(folder, plan, "ana").given.get(Showing(item, 1))
    return given.label if given else None


def test_a_stale_device_is_told_and_may_confirm(
    answered: DataFolder, plan: Plan
) -> None:
    item = plan.items[0].item
    phone, laptop = Desk(answered, "phone-aaaa"), Desk(answered, "laptop-bbb")
    first = phone.act("label", item, "correct")
    assert phone.send(first).saved == [first["event"]]
    stale = laptop.act("label", item, "wrong")
    taken = laptop.send(stale)
    assert (taken.saved, set(taken.overtaken)) == ([], {stale["event"]})
    assert taken.overtaken[stale["event"]].label == "correct"
    assert in_force(answered, plan, item) == "correct"

    undo = laptop.act("undo", item, over="something older")
    reason = laptop.act("reason", item, over=stale["event"]) | {"reason": "a"}
    assert set(laptop.send(undo, reason).overtaken) == {
        undo["event"],
        reason["event"],
    }
    assert in_force(answered, plan, item) == "correct"

    confirmed = laptop.act("label", item, "wrong", over=first["event"])
    assert laptop.send(confirmed).saved == [confirmed["event"]]
    assert in_force(answered, plan, item) == "wrong"
    assert set(
        phone.send(phone.act("undo", item, over=first["event"])).overtaken
    ) == {"phone-aaaa-0002"}


def test_what_one_device_does_in_one_batch_is_no_conflict_and_a_second_copy_neither(
    answered: DataFolder, plan: Plan
) -> None:
    item = plan.items[0].item
    phone = Desk(answered, "phone-aaaa")
    label = phone.act("label", item, "wrong")
    undo = phone.act("undo", item, over=label["event"])
    again = phone.act("label", item, "correct")
    reason = phone.act("label", item, "partial", over=again["event"]) | {
        "reason": "a"
    }
    assert phone.send(label, undo, again, reason).overtaken == {}
    second_copy = phone.send(label, undo, again, reason)
    assert second_copy.saved == [
        act["event"] for act in (label, undo, again, reason)
    ]
    assert (
        second_copy.overtaken,
        journal_of(answered, plan, "ana").n_acts,
    ) == ({}, 4)
    assert in_force(answered, plan, item) == "partial"


def test_an_act_that_arrives_late_from_the_same_device_takes_its_place_before(
    answered: DataFolder, plan: Plan
) -> None:
    item = plan.items[0].item
    phone = Desk(answered, "phone-aaaa")
    early, late = (
        phone.act("label", item, "wrong"),
        phone.act("label", item, "correct"),
    )
    assert phone.send(late).saved == [late["event"]]
    assert phone.send(early).saved == [early["event"]]
    assert in_force(answered, plan, item) == "correct"


def test_acts_of_an_earlier_desk_are_taken_as_they_were(
    answered: DataFolder, plan: Plan
) -> None:
    item = plan.items[0].item
    store = LabelStore(answered, "pilot")
    for n, label in enumerate(("correct", "wrong")):
        act = {
            "event": f"earlier-{n}",
            "action": "label",
            "item": item,
            "showing": 1,
            "label": label,
        }
        assert store.take("ana", [act]).overtaken == {}
    assert in_force(answered, plan, item) == "wrong"
    line = label_file(answered, "pilot", "ana").read_bytes().splitlines()[0]
    assert not {"device", "number", "over"} & json.loads(line).keys()
    assert ledger.to_line(ledger.from_line(line)).strip() != b""


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"device": "x", "number": 1}, "device must be"),
        ({"device": "phone-aaaa"}, "number must count"),
        ({"device": "phone-aaaa", "number": True}, "number must count"),
        ({"device": "phone-aaaa", "number": 2**31}, "number must count"),
        ({"number": 3}, "device must be"),
    ],
)
def test_a_device_has_a_name_and_a_count(
    more: dict[str, object], words: str, answered: DataFolder, plan: Plan
) -> None:
    act = {
        "event": "event-0001",
        "action": "label",
        "item": plan.items[0].item,
        "showing": 1,
        "label": "wrong",
    }
    [refusal] = (
        LabelStore(answered, "pilot").take("ana", [act | more]).refused.values()
    )
    assert words in refusal


def desk_file(
    folder: DataFolder,
    plan: Plan,
    path: Path,
    acts: list[dict[str, Any]],
    **more: object,
) -> Path:
    """What a desk lets its annotator download."""
    names = desk_names(folder, plan, "ana")
    desk = {
        "campaign": "pilot",
        "annotator": "ana",
        "made": plan.created_at,
        "refused": "locked",
    } | more
    lines = [
        {k: v for k, v in act.items() if k not in ("item", "showing")}
        | {"id": names.of(Showing(act["item"], 1))}
        | desk
        for act in acts
    ]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")
    return path


def run(folder: DataFolder, file: Path, *more: str) -> int:
    command = [
        "--data",
        str(folder.path),
        "campaign",
        "labels",
        "pilot",
        "--file",
        str(file),
        "--annotator",
        "ana",
    ]
    return main([*command, *more])


def test_labels_refused_after_the_lock_are_handed_in_by_the_lead(
    answered: DataFolder,
    plan: Plan,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    one, other, third = (item.item for item in plan.items[:3])
    phone = Desk(answered, "phone-aaaa")
    saved = phone.act("label", third, "correct")
    phone.send(saved)
    lock_campaign(answered, "pilot", by="ben")
    first = phone.act("label", one, "wrong")
    acts = [
        phone.act("label", other, "partial"), saved, first, phone.act("undo", one, over=first["event"]),
        phone.act("label", one, "correct"), phone.act("note", one) | {"note": "seen twice"},
    ]  # fmt: skip
    file = desk_file(
        answered, plan, tmp_path / "pilot-ana-not-saved.jsonl", acts
    )
    assert run(answered, file) == 1
    assert "--reopen" in capsys.readouterr().err
    assert kept_campaign(answered, "pilot").lock is not None

    assert run(answered, file, "--reopen", "lea") == 0
    told = capsys.readouterr().out
    assert "3 labels of ana stored" in told
    assert "1 acts were stored already" in told
    assert [in_force(answered, plan, item) for item in (one, other, third)] == [
        "correct",
        "partial",
        "correct",
    ]
    plan_now, lock = kept_campaign(answered, "pilot")
    assert (lock, plan_now.rounds[-1].by) == (None, "lea")
    assert "pilot-ana-not-saved.jsonl" in plan_now.rounds[-1].why
    assert all(act.source for act in acts_of(answered, plan, "ana")[1:])
    lock_campaign(answered, "pilot", by="lea")
    with pytest.raises(CampaignError):
        phone.send(phone.act("label", one, "wrong"))


def test_a_desk_file_with_faults_stores_nothing_and_opens_nothing(
    answered: DataFolder,
    plan: Plan,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    one, other = (item.item for item in plan.items[:2])
    laptop = Desk(answered, "laptop-bbb")
    laptop.send(laptop.act("label", one, "correct"))
    lock_campaign(answered, "pilot", by="ben")
    phone = Desk(answered, "phone-aaaa")
    good = phone.act("label", other, "wrong")
    faulty: dict[str, tuple[list[dict[str, Any]], dict[str, object]]] = {
        "labelled correct already, elsewhere": (
            [phone.act("label", one, "wrong")],
            {},
        ),
        "not of ana in pilot": ([good], {"annotator": "ben"}),
        "made 2020": ([good], {"made": "2020-01-01T00:00:00+00:00"}),
        "is not one of the labels": (
            [phone.act("label", other, "splendid")],
            {},
        ),
        "is not an item of ana": ([good], {"id": "000000000000"}),
        "is not a number": ([good], {"number": "first"}),
    }
    for words, (acts, more) in faulty.items():
        file = desk_file(answered, plan, tmp_path / "desk.jsonl", acts, **more)
        assert run(answered, file, "--reopen", "lea") == 1, words
        assert words in capsys.readouterr().err
        assert kept_campaign(answered, "pilot").lock is not None
        assert journal_of(answered, plan, "ana").n_acts == 1
    file = desk_file(answered, plan, tmp_path / "desk.jsonl", [good])
    with file.open("a") as lines:
        lines.write("[1]\n{not json\n\n")
    assert run(answered, file, "--reopen", "lea", "--skip-invalid") == 0
    assert "2 invalid row" in capsys.readouterr().out
    assert in_force(answered, plan, other) == "wrong"


def test_a_note_of_a_stale_device_stands_below_the_other_one(
    answered: DataFolder, plan: Plan
) -> None:
    item = plan.items[0].item
    phone, laptop = Desk(answered, "phone-aaaa"), Desk(answered, "laptop-bbb")
    phone.send(
        phone.act("note", item) | {"note": "cell 4 is cut", "note_before": ""}
    )
    laptop.send(
        laptop.act("note", item) | {"note": "wrong line", "note_before": ""}
    )
    assert journal_of(answered, plan, "ana").notes == {
        Showing(item, 1): "cell 4 is cut\nwrong line"
    }

    phone.send(
        phone.act("note", item)
        | {"note": "done", "note_before": "cell 4 is cut\nwrong line"}
    )
    assert journal_of(answered, plan, "ana").notes == {Showing(item, 1): "done"}


def test_two_notes_that_are_too_long_together_are_refused_with_the_way_on(
    answered: DataFolder, plan: Plan
) -> None:
    item = plan.items[0].item
    phone, laptop = Desk(answered, "phone-aaaa"), Desk(answered, "laptop-bbb")
    phone.send(
        phone.act("note", item) | {"note": "a" * 1_500, "note_before": ""}
    )
    long = laptop.act("note", item) | {"note": "b" * 1_500, "note_before": ""}
    assert (
        "shorten yours"
        in laptop.store.take("ana", [long]).refused[long["event"]]
    )
    assert journal_of(answered, plan, "ana").notes == {
        Showing(item, 1): "a" * 1_500
    }
