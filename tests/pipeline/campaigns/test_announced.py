"""What channels hear of a campaign: answers to flags and the last label; never an item, a label or a note."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from crane_core.annotation.order import Showing
from crane_core.annotation.plan import Plan
from crane_core.domain import Side
from crane_core.pipeline.campaigns.labelling import LabelStore
from crane_core.pipeline.campaigns.threads import (
    About,
    resolve,
    write_message,
)
from crane_core.pipeline.notifications.announce import wait_for_messages
from crane_core.pipeline.notifications.channels import (
    Channel,
    EventKind,
    add_channel,
    channels,
)
from crane_core.pipeline.places import DataFolder
from tests.patience import PATIENCE_S
from tests.webhooks import needs_apprise, webhook

Keep = Callable[..., tuple[DataFolder, Plan]]
FLAG, DONE = EventKind.FLAG_ANSWERED, EventKind.CAMPAIGN_DONE
TITLE = "Crane Workbench: "


def act(showing: Showing, action: str = "label", n: int = 1) -> dict[str, Any]:
    raw = {
        "event": f"{action}-{n}-{showing.item}-{showing.showing}",
        "action": action,
        "item": showing.item,
        "showing": showing.showing,
    }
    return raw | ({"label": "partial"} if action == "label" else {})


def label_all(desk: LabelStore, annotator: str) -> None:
    order = desk.plan.orders[annotator]
    # Labels of first showings: hidden repeats come later.
    acts = [act(showing) for showing in order if showing.showing == 1]
    *rest, last = acts
    assert desk.take(annotator, rest).refused == {}
    assert desk.take(annotator, [last]).refused == {}
    wait_for_messages(PATIENCE_S)


@needs_apprise
def test_a_person_hears_of_answers_to_the_flags_of_that_person(
    pilot: Keep,
) -> None:
    folder, plan = pilot()
    desk = LabelStore(folder, "pilot")
    showing = plan.orders["ana"][0]
    about = About("ana", showing)
    with webhook() as hook:
        for who in ("ana", "ben"):
            add_channel(folder, hook.channel(who, person=who, path=who))
        add_channel(folder, hook.channel("jobs", EventKind.JOB_ENDED))
        desk.take("ana", [act(showing, "flag")])
        write_message(
            *(folder, "pilot", about, "which?"), by="ana", side=Side.ANNOTATOR
        )
        write_message(
            *(folder, "pilot", about, "the first"), by="lea", side=Side.LEAD
        )
        wait_for_messages(PATIENCE_S)
        resolve(folder, "pilot", about, by="lea", side=Side.LEAD)
        wait_for_messages(PATIENCE_S)
    assert hook.posted == [
        (
            "/ana",
            f"{TITLE}flag answered",
            "A lead answered the flag of ana on an item of the campaign pilot.",
        ),
        (
            "/ana",
            f"{TITLE}flag resolved",
            "A lead resolved the flag of ana on an item of the campaign pilot.",
        ),
    ]


@needs_apprise
def test_the_last_label_is_told_once(pilot: Keep) -> None:
    folder, plan = pilot()
    desk = LabelStore(folder, "pilot")
    with webhook() as hook:
        add_channel(folder, hook.channel("lead", DONE))
        *others, last = plan.annotators
        for name in others:
            label_all(desk, name)
        assert hook.posted == []
        label_all(desk, last)
        assert [(one.title, one.message) for one in hook.posted] == [
            (
                f"{TITLE}campaign done",
                "Every item of the campaign pilot is labelled. Its lead can decide what is open, and lock it.",
            )
        ]
        # A label that is taken back and given again tells nothing new.
        showing = plan.orders[last][0]
        desk.take(last, [act(showing, "undo")])
        desk.take(last, [act(showing, n=2)])
        wait_for_messages(PATIENCE_S)
        assert len(hook.posted) == 1
        assert not any(
            item.item in f"{one.title} {one.message}"
            for item in plan.items
            for one in hook.posted
        )


def test_a_label_is_saved_though_nothing_can_be_told(
    pilot: Keep, caplog: pytest.LogCaptureFixture
) -> None:
    folder, plan = pilot()
    desk = LabelStore(folder, "pilot")
    nowhere = Channel("dead", "json://127.0.0.1:1", "JSON", frozenset({DONE}))
    add_channel(folder, nowhere)
    for name in plan.annotators:
        label_all(desk, name)
    [line] = [one.message for one in caplog.records]
    assert line.startswith(("The message to dead", "Notifications need"))
    assert list(channels(folder)) == ["dead"]
