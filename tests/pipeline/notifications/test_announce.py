"""Events told to channels: to whom, once, and never as a failure of what they tell of."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from crane_core.pipeline.notifications.announce import (
    SENT,
    Event,
    announce,
    announce_found,
    wait_for_messages,
    wants,
)
from crane_core.pipeline.notifications.channels import (
    FILE_NAME,
    Channel,
    EventKind,
    add_channel,
    remove_channel,
)
from crane_core.pipeline.notifications.sending import Message
from crane_core.pipeline.places import DataFolder
from crane_core.replica import VARIABLE
from tests.patience import PATIENCE_S
from tests.webhooks import HIDDEN, needs_apprise, webhook

JOB, BUDGET, FLAG = (
    EventKind.JOB_ENDED,
    EventKind.BUDGET_REACHED,
    EventKind.FLAG_ANSWERED,
)


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    return DataFolder(tmp_path)


def event(
    key: str = "job a", *kinds: EventKind, person: str | None = None
) -> Event:
    return Event(key, kinds or (JOB,), Message(key, "It ended."), person)


def tell(folder: DataFolder, *events: Event) -> None:
    for one in events:
        announce(folder, one)
        wait_for_messages(PATIENCE_S)


@pytest.mark.parametrize(
    ("kinds", "person", "about", "is_told"),
    [
        ([JOB], None, event("a", JOB), True),
        ([FLAG], None, event("a", JOB), False),
        ([], None, event("a", JOB), False),
        ([JOB], None, event("a", BUDGET, JOB), True),
        ([BUDGET], None, event("a", BUDGET, JOB), True),
        ([BUDGET], None, event("a", JOB), False),
        ([FLAG], "ana", event("a", FLAG, person="ana"), True),
        ([FLAG], "ben", event("a", FLAG, person="ana"), False),
        ([FLAG], None, event("a", FLAG, person="ana"), True),
        ([JOB], "ana", event("a", JOB), True),
    ],
)
def test_a_channel_is_told_of_what_it_wants_and_of_no_one_elses_flags(
    kinds: list[EventKind], person: str | None, about: Event, *, is_told: bool
) -> None:
    channel = Channel("c", "json://h", "JSON", frozenset(kinds), person)
    assert wants(channel, about) is is_told


@needs_apprise
def test_each_event_is_told_once_also_after_a_restart(
    folder: DataFolder,
) -> None:
    with webhook() as hook:
        add_channel(folder, hook.channel("team", JOB, BUDGET))
        add_channel(folder, hook.channel("other", FLAG))
        tell(folder, event("job a", BUDGET, JOB), event("job b"))
        # The file is all that another process knows of what this one sent.
        tell(folder, event("job a", BUDGET, JOB), event("job c"))
    assert hook.titles == ["job a", "job b", "job c"]


@needs_apprise
def test_a_channel_that_fails_keeps_no_other_from_hearing(
    folder: DataFolder, caplog: pytest.LogCaptureFixture
) -> None:
    with webhook() as hook:
        dead = f"json://127.0.0.1:1/{HIDDEN}"
        add_channel(folder, Channel("dead", dead, "JSON", frozenset(EventKind)))
        add_channel(folder, hook.channel("team"))
        tell(folder, event(), event())
    assert hook.titles == ["job a"]
    [line] = [one.message for one in caplog.records]
    assert line.startswith("The message to dead (JSON) was not sent: ")
    assert HIDDEN not in caplog.text


@needs_apprise
def test_what_takes_long_keeps_nobody_waiting(folder: DataFolder) -> None:
    with webhook() as hook:
        hook.is_open.clear()
        add_channel(folder, hook.channel())
        announce(folder, event())
        assert hook.posted == []
        hook.is_open.set()
        wait_for_messages(PATIENCE_S)
    assert hook.titles == ["job a"]


@needs_apprise
def test_a_channel_that_was_made_again_hears_of_everything(
    folder: DataFolder,
) -> None:
    with webhook() as hook:
        add_channel(folder, hook.channel("team"))
        add_channel(folder, hook.channel("other", FLAG))
        tell(folder, event("job a"))
        remove_channel(folder, "team")
        tell(folder, event("flag", FLAG))
        add_channel(folder, hook.channel("team"))
        tell(folder, event("job a"))
    assert hook.titles == ["job a", "flag", "job a"]


def test_without_apprise_a_line_of_the_log_names_the_extra(
    folder: DataFolder,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "apprise", None)
    url = f"json://127.0.0.1:1/{HIDDEN}"
    add_channel(folder, Channel("team", url, "JSON", frozenset(EventKind)))
    tell(folder, event(), event())
    [line] = [one.message for one in caplog.records]
    assert "Apprise" in line and "[notify]" in line and HIDDEN not in line


def broken_channels(folder: DataFolder) -> None:
    (folder.path / FILE_NAME).write_text(HIDDEN, "utf-8")
    (folder.path / FILE_NAME).chmod(0o600)


def broken_memory(folder: DataFolder) -> None:
    (folder.path / SENT).write_text("[1", "utf-8")


@pytest.mark.parametrize("damage", [broken_channels, broken_memory])
def test_a_damaged_file_is_told_in_the_log_and_nothing_is_sent(
    folder: DataFolder, caplog: pytest.LogCaptureFixture, damage: object
) -> None:
    add_channel(
        folder, Channel("team", "json://x", "JSON", frozenset(EventKind))
    )
    assert callable(damage)
    damage(folder)
    tell(folder, event())
    [line] = [one.message for one in caplog.records]
    assert "is damaged" in line and "Delete it" in line and HIDDEN not in line


def test_without_a_channel_nothing_is_looked_for(folder: DataFolder) -> None:
    looked: list[str] = []

    def find() -> Event | None:
        looked.append("here")
        return None

    announce_found(folder, find)
    wait_for_messages(PATIENCE_S)
    assert looked == [] and list(folder.path.iterdir()) == []


def test_a_replica_announces_nothing(
    folder: DataFolder,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(VARIABLE, "http://127.0.0.1:8501")
    add_channel(
        folder, Channel("team", "json://x", "JSON", frozenset(EventKind))
    )
    tell(folder, event())
    assert caplog.records == [] and not (folder.path / SENT).exists()
