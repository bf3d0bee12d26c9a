"""The channels on which people are notified, kept in one file of the data folder that only its owner can open.

notifications.json    by the name of a channel: its address, which service that is, its events and its person

An address holds a secret, so that it is written to this file and to nowhere else: no error, log, page, export or backup
has it, and the repr of a channel leaves it out. Only commands on this machine add addresses; a visitor who could name
one would make the server call it.
"""

import json
import re
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from crane_core.annotation.plan import NAME
from crane_core.errors import NotificationError
from crane_core.identity.key import held, replace_file
from crane_core.pipeline.places import DataFolder

FILE_NAME = "notifications.json"
MOST_CHANNELS = 100
MOST_LETTERS = 2_000
"""Of an address."""
_SCHEME = re.compile(r"[A-Za-z0-9+.-]{1,20}://")


class EventKind(StrEnum):
    """The events that a channel can choose."""

    JOB_ENDED = "job-ended"
    BUDGET_REACHED = "budget-reached"
    FLAG_ANSWERED = "flag-answered"
    CAMPAIGN_DONE = "campaign-done"


@dataclass(frozen=True, slots=True)
class Channel:
    """One address. `person`: whose it is, as campaigns call them; None: it is of a group, such as a team's room."""

    name: str
    url: str = field(repr=False)
    service: str
    kinds: frozenset[EventKind]
    person: str | None = None

    @property
    def masked(self) -> str:
        """The service and the scheme of the address.

        Not the library's own masked address: that one shows the topic of ntfy, and path and headers of a webhook, each
        of which may be the secret.
        """
        scheme = _SCHEME.match(self.url)
        return f"{self.service} ({scheme[0].lower() if scheme else '…'})"

    @property
    def listed_kinds(self) -> list[EventKind]:
        """Its events in the order of `EventKind`."""
        return [kind for kind in EventKind if kind in self.kinds]


def channels(folder: DataFolder) -> dict[str, Channel]:
    """Every channel by name. Raises NotificationError if the file is damaged or can be read by others."""
    path = folder.path / FILE_NAME
    try:
        mode = path.stat().st_mode
        text = path.read_text("utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise _unusable("cannot be read") from error
    if stat.S_IMODE(mode) & 0o077:
        raise NotificationError(
            f"{FILE_NAME} in the data folder can be read by others, and holds secrets.",
            remedy=f"`chmod 600 {FILE_NAME}`; if others had access, make new addresses at the services.",
        )
    try:
        members = json.loads(text)
        return {name: _channel(name, one) for name, one in members.items()}
    except (ValueError, TypeError, KeyError, AttributeError):
        # Without the cause: its text would quote a line of the file.
        raise _unusable("is damaged") from None


def has_channels(folder: DataFolder) -> bool:
    """Whether there may be one: a look that costs nothing, made after each label."""
    return (folder.path / FILE_NAME).exists()


def channel_named(folder: DataFolder, name: str) -> Channel:
    """The channel of this name. Raises NotificationError if there is none."""
    return _of(channels(folder), name)


def add_channel(folder: DataFolder, channel: Channel) -> None:
    """Keep a new channel. Raises NotificationError, and keeps nothing, if the name is invalid or taken."""
    check_channel_name(channel.name)
    with held(folder.path, FILE_NAME):
        known = channels(folder)
        if channel.name in known:
            raise NotificationError(
                f"There is a channel {channel.name} already.",
                remedy=f"Use another name, or `notify remove {channel.name}` first.",
            )
        if len(known) >= MOST_CHANNELS:
            raise NotificationError(
                f"There are {MOST_CHANNELS} channels already, the most there can be.",
                remedy="Remove one first: `notify remove NAME`.",
            )
        _keep(folder, {**known, channel.name: channel})


def remove_channel(folder: DataFolder, name: str) -> Channel:
    """Forget a channel; the one that it was. Raises NotificationError if there is none of this name."""
    with held(folder.path, FILE_NAME):
        known = channels(folder)
        removed = _of(known, name)
        _keep(folder, {key: one for key, one in known.items() if key != name})
    return removed


def choose_events(
    folder: DataFolder,
    name: str,
    kinds: Iterable[EventKind],
    *,
    person: str | None,
) -> None:
    """Send these events to a channel from now on, which may be none. Raises NotificationError.

    person: who chooses, which has to be whose channel it is; None: the only user of this machine, who may choose for
    all.
    """
    with held(folder.path, FILE_NAME):
        known = channels(folder)
        channel = _of(known, name)
        # In the same words as for a name that is unknown: what others have is not told.
        if person is not None and channel.person != person:
            raise _unknown(name)
        changed = replace(channel, kinds=frozenset(kinds))
        _keep(folder, {**known, name: changed})


def channels_of(folder: DataFolder, person: str | None) -> list[Channel]:
    """The channels whose events this person may choose, by name; None: all of them."""
    found = channels(folder).values()
    return sorted(
        (one for one in found if person is None or one.person == person),
        key=lambda one: one.name,
    )


def check_channel_name(name: str) -> None:
    """Raises NotificationError unless a channel can have this name."""
    if not NAME.fullmatch(name):
        raise NotificationError(
            f"A channel cannot have the name {_quoted(name)}.",
            remedy="Use 1 to 40 of a-z, 0-9, dot, dash and underscore; start with a letter or digit.",
        )


def _of(known: Mapping[str, Channel], name: str) -> Channel:
    if name not in known:
        raise _unknown(name)
    return known[name]


def _unknown(name: str) -> NotificationError:
    return NotificationError(
        f"There is no channel with the name {_quoted(name)}.",
        remedy="`notify list` shows the channels.",
    )


def _quoted(name: str) -> str:
    """The name, unless it looks like an address, which may have been typed in its place."""
    return "that was given" if ":" in name else repr(name[:40])


def _channel(name: str, members: Mapping[str, Any]) -> Channel:
    person = members["person"]
    return Channel(
        name=name,
        url=str(members["url"]),
        service=str(members["service"]),
        kinds=frozenset(EventKind(kind) for kind in members["events"]),
        person=None if person is None else str(person),
    )


def _keep(folder: DataFolder, known: Mapping[str, Channel]) -> None:
    """Replace the file as a whole; without a channel there is no file."""
    if not known:
        Path(folder.path / FILE_NAME).unlink(missing_ok=True)
        return
    document = {
        name: {
            "url": channel.url,
            "service": channel.service,
            "events": [str(kind) for kind in channel.listed_kinds],
            "person": channel.person,
        }
        for name, channel in sorted(known.items())
    }
    replace_file(folder.path, FILE_NAME, document)


def _unusable(why: str) -> NotificationError:
    return NotificationError(
        f"{FILE_NAME} in the data folder {why}.",
        remedy="Delete it, and add the channels again: `notify add`.",
    )
