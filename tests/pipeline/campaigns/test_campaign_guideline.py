"""The guideline of a campaign: changed while it is open, every version kept, each label under its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from crane_core import ledger
from crane_core.annotation.guideline import MOST_CHARACTERS, version_of
from crane_core.annotation.order import Showing
from crane_core.annotation.plan import Plan
from crane_core.domain import CampaignGuideline, Label
from crane_core.errors import CampaignError
from crane_core.ledger.chain import breaks
from crane_core.pipeline.campaigns.campaigns import (
    acts_of,
    campaign_file,
    kept_campaign,
    lock_campaign,
)
from crane_core.pipeline.campaigns.guideline import (
    change_guideline,
    current_guideline,
    guideline_versions,
)
from crane_core.pipeline.campaigns.labelling import LabelStore, adjudicate
from crane_core.pipeline.places import DataFolder

Keep = Callable[..., tuple[DataFolder, Plan]]
FIRST, SECOND = version_of("g1"), version_of("Judge otherwise.\n")


def act(event: str, showing: Showing, **more: Any) -> dict[str, Any]:
    return {
        "event": event,
        "action": "label",
        "label": "wrong",
        "item": showing.item,
        "showing": showing.showing,
    } | more


def test_a_change_is_a_line_of_the_ledger_and_the_plan_stays(
    pilot: Keep,
) -> None:
    folder, plan = pilot()
    changed = change_guideline(folder, "pilot", "Judge otherwise.", by=" Cleo ")
    assert (changed.version, changed.text, changed.by) == (
        SECOND,
        "Judge otherwise.\n",
        "Cleo",
    )
    assert [entry.version for entry in guideline_versions(folder, plan)] == [
        FIRST,
        SECOND,
    ]
    assert current_guideline(folder, plan) == changed
    assert kept_campaign(folder, "pilot").plan == plan
    file = campaign_file(folder, "pilot")
    assert ledger.tail(file).records[1] == CampaignGuideline(
        "pilot", changed.since, "Cleo", "Judge otherwise.\n"
    )
    assert list(breaks(file.read_bytes())) == []


def test_an_earlier_text_can_come_back(pilot: Keep) -> None:
    folder, plan = pilot()
    for text in ("Judge otherwise.", "g1", "Judge otherwise."):
        change_guideline(folder, "pilot", text, by="cleo")
    versions = [entry.version for entry in guideline_versions(folder, plan)]
    assert versions == [FIRST, SECOND, version_of("g1\n"), SECOND]


@pytest.mark.parametrize(
    ("text", "by", "words"),
    [
        ("g1\n\n", "cleo", "is the guideline of 'pilot' already"),
        ("\n", "cleo", "is empty"),
        ("x" * MOST_CHARACTERS, "cleo", "characters"),
        ("Judge otherwise.", " ", "the name of its author"),
        ("Judge otherwise.", "c" * 81, "the name of its author"),
    ],
)
def test_what_cannot_be_a_new_version_is_refused_and_nothing_is_stored(
    text: str, by: str, words: str, pilot: Keep
) -> None:
    folder, plan = pilot()
    with pytest.raises(CampaignError, match=words):
        change_guideline(folder, "pilot", text, by=by)
    assert (
        len(guideline_versions(folder, plan))
        == len(ledger.tail(campaign_file(folder, "pilot")).records)
        == 1
    )


def test_after_the_lock_nothing_changes(pilot: Keep) -> None:
    folder, plan = pilot()
    lock_campaign(folder, "pilot", by="cleo")
    with pytest.raises(CampaignError, match="locked by cleo"):
        change_guideline(folder, "pilot", "Judge otherwise.", by="cleo")
    ledger.append(
        campaign_file(folder, "pilot"),
        CampaignGuideline("pilot", "2026-01-02", "dora", "Written late."),
    )
    assert [entry.version for entry in guideline_versions(folder, plan)] == [
        FIRST
    ]


def test_an_act_is_stamped_with_the_version_that_was_on_the_screen(
    pilot: Keep,
) -> None:
    folder, plan = pilot()
    one, two, three, four, *_ = plan.orders["ana"]
    desk = LabelStore(folder, "pilot")
    assert desk.take("ana", [act("event-0001", one)]).refused == {}
    change_guideline(folder, "pilot", "Judge otherwise.", by="cleo")
    assert [entry.version for entry in desk.guidelines()] == [FIRST, SECOND]
    taken = desk.take(
        "ana",
        [
            act("event-0002", two, guideline=FIRST),
            act("event-0003", three, guideline=SECOND),
            act("event-0004", four, guideline="0123456789ab"),
            act("event-0005", four),
        ],
    )
    assert list(taken.refused) == ["event-0004", "event-0005"]
    assert (
        taken.refused["event-0005"] == f"guideline must be {FIRST} or {SECOND}"
    )
    assert [entry.guideline for entry in acts_of(folder, plan, "ana")] == [
        FIRST,
        FIRST,
        SECOND,
    ]
    assert {show: given.guideline for show, given in desk.journal("ana").given.items()} == {
        one: FIRST, two: FIRST, three: SECOND
    }  # fmt: skip


def test_a_decision_is_made_under_the_version_in_force(pilot: Keep) -> None:
    folder, plan = pilot()
    item = plan.items[0].item
    before = adjudicate(
        folder, plan, item, by="cleo", label=Label.WRONG, reason="a"
    )
    change_guideline(folder, "pilot", "Judge otherwise.", by="cleo")
    after = adjudicate(
        folder, plan, item, by="cleo", label=Label.WRONG, reason="a"
    )
    assert (before.guideline, after.guideline) == (plan.guideline, SECOND)
