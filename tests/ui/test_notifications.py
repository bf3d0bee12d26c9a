"""Notifications on Data and Annotate: each person is shown the channels of that person, and nobody an address."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from crane_core.pipeline.notifications.channels import (
    add_channel,
    channels,
    remove_channel,
)
from tests.ui.lab import Lab
from tests.webhooks import HIDDEN, Webhook

HEADING = "Notifications"
CLOSED = Webhook(1)


@pytest.fixture
def lab_with_channels(lab: Lab) -> Iterator[Lab]:
    """The lab with a channel of ana, one of ben and one of a group."""
    for name in ("ana", "ben"):
        add_channel(lab.folder, CLOSED.channel(f"to-{name}", person=name))
    add_channel(lab.folder, CLOSED.channel("room"))
    yield lab
    for name in channels(lab.folder):
        remove_channel(lab.folder, name)


def test_a_person_chooses_among_own_channels_and_sees_no_address(
    lab_with_channels: Lab,
) -> None:
    lab = lab_with_channels
    # Ana labels in a blind campaign, so that she cannot open Data.
    seen = lab.visitor("ana@lab.example").sees("annotate")
    assert seen.shows(HEADING) and seen.shows("to-ana")
    assert not any(map(seen.shows, ("to-ben", "room: JSON", HIDDEN)))


def test_a_person_with_a_channel_finds_it_on_data_too(
    lab_with_channels: Lab,
) -> None:
    lab = lab_with_channels
    add_channel(lab.folder, CLOSED.channel("to-ada", person="ada"))
    seen = lab.visitor("ada@lab.example").sees("data")
    assert seen.shows(HEADING) and seen.shows("to-ada")


@pytest.mark.parametrize("name", ["vic", "lea"])
def test_who_has_no_channel_is_shown_none(
    lab_with_channels: Lab, name: str
) -> None:
    seen = lab_with_channels.visitor(f"{name}@lab.example").sees("data")
    assert seen.shows("Inventory") and not seen.shows(HEADING)


def test_without_channels_there_is_no_section(lab: Lab) -> None:
    seen = lab.visitor("vic@lab.example").sees("data")
    assert seen.shows("Inventory") and not seen.shows(HEADING)
