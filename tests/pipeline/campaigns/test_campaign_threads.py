"""Threads in the ledger: who may write what, who reads whose, what an export and a rebuild keep."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from crane_core import ledger
from crane_core.annotation.order import Showing
from crane_core.annotation.plan import Plan
from crane_core.annotation.thread import ThreadState
from crane_core.domain import CampaignMessage, Side
from crane_core.errors import CampaignError
from crane_core.ledger.chain import breaks
from crane_core.pipeline.campaigns.campaigns import keep_campaign, lock_campaign
from crane_core.pipeline.campaigns.export.files import export_files
from crane_core.pipeline.campaigns.export.forms import write_export
from crane_core.pipeline.campaigns.export.repeat import (
    exported_plan,
    exported_work,
    keep_replayed,
)
from crane_core.pipeline.campaigns.labelling import LabelStore
from crane_core.pipeline.campaigns.threads import (
    MAX_MESSAGE,
    About,
    all_threads,
    message_file,
    messages_of,
    resolve,
    write_message,
)
from crane_core.pipeline.places import DataFolder

Keep = Callable[..., tuple[DataFolder, Plan]]


def act(
    desk: LabelStore, annotator: str, showing: Showing, action: str, **more: str
) -> None:
    known = {"item": showing.item, "showing": showing.showing, "action": action}
    event = f"{annotator}-{action}-{showing.item}-{showing.showing}"
    assert desk.take(annotator, [{"event": event} | known | more]).refused == {}


def ask(folder: DataFolder, about: About, text: str) -> None:
    write_message(
        folder, "pilot", about, text, by=about.annotator, side=Side.ANNOTATOR
    )


def answer(folder: DataFolder, about: About, text: str) -> None:
    write_message(folder, "pilot", about, text, by="lea", side=Side.LEAD)


def test_an_annotator_asks_the_lead_answers_and_resolves(pilot: Keep) -> None:
    folder, plan = pilot()
    desk = LabelStore(folder, "pilot")
    one, two, *_ = plan.orders["ana"]
    for showing in (one, two):
        act(desk, "ana", showing, "flag")
    act(desk, "ana", one, "note", note="which cause?")
    assert {thread.state for thread in all_threads(folder, plan).threads} == {
        ThreadState.OPEN
    }
    answer(folder, About("ana", one), " The first, see the guideline.\n")
    [waiting, answered] = all_threads(folder, plan).threads
    assert (waiting.showing, answered.showing, answered.note) == (
        two,
        one,
        "which cause?",
    )
    assert [(m.written_by, m.side, m.text) for m in answered.messages] == [
        ("lea", Side.LEAD, "The first, see the guideline.")
    ]
    assert desk.threads("ana")[one] == answered
    resolve(folder, "pilot", About("ana", one), by="ana", side=Side.ANNOTATOR)
    assert [thread.state for thread in all_threads(folder, plan).threads] == [
        ThreadState.OPEN,
        ThreadState.RESOLVED,
    ]
    assert list(breaks(message_file(folder, "pilot").read_bytes())) == []


def test_an_annotator_gets_no_thread_of_another(pilot: Keep) -> None:
    folder, plan = pilot()
    desk = LabelStore(folder, "pilot")
    shared = plan.orders["ana"][0]
    for name in ("ana", "ben"):
        act(desk, name, shared, "flag")
        act(desk, name, shared, "note", note=f"note of {name}")
        ask(folder, About(name, shared), f"question of {name}")
        answer(folder, About(name, shared), f"answer to {name}")
    [thread] = desk.threads("ana").values()
    assert [message.text for message in thread.messages] == [
        "question of ana",
        "answer to ana",
    ]
    assert "ben" not in repr(thread)
    with pytest.raises(CampaignError, match="'eva' is not an annotator"):
        desk.threads("eva")


def test_a_lead_who_labels_too_reads_of_an_item_after_labelling_it(
    pilot: Keep,
) -> None:
    folder, plan = pilot()
    desk = LabelStore(folder, "pilot")
    one = Showing(plan.items[0].item, 1)
    act(desk, "ben", one, "flag")
    act(desk, "ana", Showing(plan.items[1].item, 1), "flag")
    seen = all_threads(folder, plan, reader="ana")
    assert ([thread.annotator for thread in seen.threads], seen.n_withheld) == (
        ["ana"],
        1,
    )
    assert len(all_threads(folder, plan, reader="lea").threads) == 2
    act(desk, "ana", one, "label", label="wrong")
    assert all_threads(folder, plan, reader="ana").n_withheld == 0


@pytest.mark.parametrize(
    ("text", "by", "side", "words"),
    [
        ("", "lea", Side.LEAD, "1 to 2,000 characters"),
        (" \n", "lea", Side.LEAD, "1 to 2,000 characters"),
        ("x" * (MAX_MESSAGE + 1), "lea", Side.LEAD, "has 2,001"),
        ("Why?", " ", Side.LEAD, "the name of its writer"),
        ("Why?", "l" * 81, Side.LEAD, "the name of its writer"),
        ("Why?", "ben", Side.ANNOTATOR, "the annotator of the item, or a lead"),
    ],
)
def test_what_is_no_message_is_refused_and_nothing_is_stored(
    text: str, by: str, side: Side, words: str, pilot: Keep
) -> None:
    folder, plan = pilot()
    with pytest.raises(CampaignError, match=words):
        write_message(
            folder,
            "pilot",
            About("ana", plan.orders["ana"][0]),
            text,
            by=by,
            side=side,
        )
    assert not message_file(folder, "pilot").exists()


def test_a_thread_needs_an_item_of_its_annotator_and_an_open_campaign(
    pilot: Keep,
) -> None:
    folder, plan = pilot()
    for about in (
        About("ana", Showing("0" * 12, 1)),
        About("eva", plan.orders["ana"][0]),
    ):
        with pytest.raises(CampaignError, match="no such item"):
            answer(folder, about, "Look again.")
    lock_campaign(folder, "pilot", by="lea")
    with pytest.raises(CampaignError, match="takes no more messages"):
        answer(folder, About("ana", plan.orders["ana"][0]), "Look again.")
    assert messages_of(folder, "pilot") == []


def test_a_lone_surrogate_is_stored_as_a_question_mark(pilot: Keep) -> None:
    folder, plan = pilot()
    ask(folder, About("ana", plan.orders["ana"][0]), "why \ud800 <b>?")
    assert [message.text for message in messages_of(folder, "pilot")] == [
        "why ? <b>?"
    ]


def test_an_export_holds_messages_and_hides_the_item_until_the_lock(
    pilot: Keep, tmp_path: Path
) -> None:
    folder, plan = pilot()
    one = plan.orders["ana"][0]
    ask(folder, About("ana", one), "Two causes?")
    answer(folder, About("ana", one), "The first.")
    hidden = b"".join(export_files(folder, "pilot")["messages.jsonl"]())
    assert (hidden.count(b"\n"), one.item.encode() in hidden) == (2, False)
    lock_campaign(folder, "pilot", by="lea")
    write_export(
        export_files(folder, "pilot"), tmp_path / "export", force=False
    )
    found = ledger.tail(tmp_path / "export" / "messages.jsonl").records
    assert found == messages_of(folder, "pilot")
    plan_file = tmp_path / "export" / "plan.json"
    again = DataFolder(tmp_path / "again")
    keep_campaign(again, exported_plan(plan_file))
    keep_replayed(again, plan, exported_work(plan_file, plan))
    assert messages_of(again, "pilot") == found
    assert all(isinstance(record, CampaignMessage) for record in found)
    stranger = ledger.to_line(found[0]).replace(b'"ana"', b'"eva"')
    (tmp_path / "export" / "messages.jsonl").write_bytes(stranger)
    with pytest.raises(CampaignError, match="a message is about"):
        exported_work(plan_file, plan)
