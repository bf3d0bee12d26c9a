"""Channels in their file: who can read it, who may choose, and that no address leaves it."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from crane_core.errors import NotificationError
from crane_core.pipeline.notifications.channels import (
    FILE_NAME,
    MOST_CHANNELS,
    Channel,
    EventKind,
    add_channel,
    channel_named,
    channels,
    channels_of,
    choose_events,
    has_channels,
    remove_channel,
)
from crane_core.pipeline.places import DataFolder
from crane_core.runtime.hidden_files import hidden_names

HIDDEN = "h1ddenpart"
URL = f"slack://{HIDDEN}/{HIDDEN}/{HIDDEN}"


def channel(
    name: str = "team", *kinds: EventKind, person: str | None = None
) -> Channel:
    return Channel(name, URL, "Slack", frozenset(kinds), person)


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    return DataFolder(tmp_path)


def test_what_was_added_is_read_again_by_its_owner_alone(
    folder: DataFolder,
) -> None:
    assert not has_channels(folder) and channels(folder) == {}
    kept = channel("ana", EventKind.JOB_ENDED, person="ana")
    add_channel(folder, kept)
    add_channel(folder, channel("team"))
    assert channels(folder) == {"ana": kept, "team": channel("team")}
    mode = stat.S_IMODE((folder.path / FILE_NAME).stat().st_mode)
    assert mode == 0o600
    assert remove_channel(folder, "ana") == kept
    assert list(channels(folder)) == ["team"]
    remove_channel(folder, "team")
    assert not has_channels(folder)


def test_no_repr_error_or_mask_shows_an_address(folder: DataFolder) -> None:
    add_channel(folder, channel())
    [kept] = channels(folder).values()
    assert kept.masked == "Slack (slack://)"
    assert HIDDEN not in repr(kept)
    path = folder.path / FILE_NAME
    for text in (
        path.read_text("utf-8")[:-9],
        f'["{URL}"]',
        f'{{"a": "{URL}"}}',
    ):
        path.write_text(text, "utf-8")
        with pytest.raises(NotificationError, match="is damaged") as refused:
            channels(folder)
        assert HIDDEN not in str(refused.value)
        assert refused.value.__cause__ is None


def test_a_mask_of_an_address_without_a_scheme_shows_none_of_it() -> None:
    assert Channel("a", HIDDEN, "Other", frozenset()).masked == "Other (…)"


def test_a_file_that_others_can_read_is_refused(folder: DataFolder) -> None:
    add_channel(folder, channel())
    (folder.path / FILE_NAME).chmod(0o640)
    with pytest.raises(NotificationError, match="can be read by others"):
        channels(folder)


@pytest.mark.parametrize("name", ["", "Team", "a b", "../x", "x" * 41, "-x"])
def test_a_name_that_is_none_is_refused(folder: DataFolder, name: str) -> None:
    with pytest.raises(NotificationError, match="cannot have the name"):
        add_channel(folder, channel(name))
    assert not has_channels(folder)


def test_an_address_in_the_place_of_a_name_is_not_quoted(
    folder: DataFolder,
) -> None:
    with pytest.raises(NotificationError) as refused:
        add_channel(folder, channel(URL))
    assert HIDDEN not in str(refused.value)
    with pytest.raises(NotificationError) as refused:
        channel_named(folder, URL)
    assert HIDDEN not in str(refused.value)


def test_a_name_is_taken_once_and_channels_are_bounded(
    folder: DataFolder,
) -> None:
    add_channel(folder, channel("c0"))
    with pytest.raises(NotificationError, match="already"):
        add_channel(folder, channel("c0"))
    for number in range(1, MOST_CHANNELS):
        add_channel(folder, channel(f"c{number}"))
    with pytest.raises(NotificationError, match="the most there can be"):
        add_channel(folder, channel("another"))
    assert len(channels(folder)) == MOST_CHANNELS


def test_a_person_chooses_among_the_channels_of_that_person(
    folder: DataFolder,
) -> None:
    add_channel(folder, channel("to-ben", EventKind.JOB_ENDED, person="ben"))
    add_channel(folder, channel("to-ana", EventKind.JOB_ENDED, person="ana"))
    add_channel(folder, channel("room", EventKind.JOB_ENDED))
    assert [one.name for one in channels_of(folder, "ana")] == ["to-ana"]
    choose_events(folder, "to-ana", [EventKind.FLAG_ANSWERED], person="ana")
    for other in ("to-ben", "room"):
        with pytest.raises(NotificationError, match="There is no channel"):
            choose_events(folder, other, [], person="ana")
    # Without logins one person uses the app, and has all of them.
    names = [one.name for one in channels_of(folder, None)]
    assert names == ["room", "to-ana", "to-ben"]
    choose_events(folder, "room", [], person=None)
    assert {
        name: one.listed_kinds for name, one in channels(folder).items()
    } == {
        "room": [],
        "to-ana": [EventKind.FLAG_ANSWERED],
        "to-ben": [EventKind.JOB_ENDED],
    }
    assert {one.url for one in channels(folder).values()} == {URL}


def test_a_notebook_beside_it_is_not_shown_the_file(folder: DataFolder) -> None:
    add_channel(folder, channel())
    folder.database.touch()
    assert FILE_NAME in hidden_names(folder.path)
