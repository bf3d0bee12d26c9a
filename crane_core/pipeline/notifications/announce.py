"""Notifies channels of an event, beside the work that it is about: it never delays that work and never makes it fail.

notifications-sent.json    by channel: the events that were sent to it, so that a restart does not send them twice

An event is noted before it is sent: where a process is killed in between, one message is missed rather than sent twice.
"""

import json
import logging
import time
from collections.abc import Callable, Mapping
from threading import Lock, Thread
from typing import Any, NamedTuple

from crane_core.errors import CraneError, NotificationError
from crane_core.identity.key import held, replace_file
from crane_core.pipeline.notifications import channels
from crane_core.pipeline.notifications.sending import LIMIT_S, Message, send
from crane_core.pipeline.places import DataFolder
from crane_core.replica import writer

SENT = "notifications-sent.json"
MOST_REMEMBERED = 2_000
"""Events of a channel; the oldest are forgotten."""
_LOG = logging.getLogger(__name__)
_under_way: set[Thread] = set()
_CHANGING = Lock()


class Event(NamedTuple):
    """Something that happened. `key` tells it from all others, also after a restart.

    kinds: what it is, the most special first; a channel gets one message, whichever of them it wants. person: whom it
    is about, which leaves out the channels of other people; None: it is for all.
    """

    key: str
    kinds: tuple[channels.EventKind, ...]
    message: Message
    person: str | None = None


def announce(folder: DataFolder, event: Event) -> None:
    """Notify every channel that this event is for, in a thread; what fails is logged in a line."""
    announce_found(folder, lambda: event)


def announce_found(
    folder: DataFolder, find: Callable[[], Event | None]
) -> None:
    """Announce what the function finds, if anything, which it looks for in the thread too."""
    # A replica serves readers; the process that writes sends the messages.
    if not channels.has_channels(folder) or writer():
        return
    thread = Thread(target=_announce, args=(folder, find), daemon=True)
    with _CHANGING:
        _under_way.difference_update(
            [one for one in _under_way if not one.is_alive()]
        )
        try:
            thread.start()
        except RuntimeError as error:  # the system has no more threads
            _LOG.warning("no notification: %s", error)
            return
        _under_way.add(thread)


def wait_for_messages(limit_s: float = LIMIT_S) -> None:
    """Wait until what was announced has been sent, but no longer than this.

    A command ends right after the job that it tells of, and its threads with it. It calls this before the interpreter
    ends, because from then on Python 3.12 starts no more threads.
    """
    until = time.monotonic() + limit_s
    with _CHANGING:
        waiting = list(_under_way)
    for thread in waiting:
        thread.join(max(0.0, until - time.monotonic()))


def wants(channel: channels.Channel, event: Event) -> bool:
    """Whether an event is for a channel."""
    is_for_others = event.person is not None and channel.person not in (
        None,
        event.person,
    )
    return not is_for_others and not channel.kinds.isdisjoint(event.kinds)


def _announce(folder: DataFolder, find: Callable[[], Event | None]) -> None:
    try:
        event = find()
        if event is None:
            return
        claimed = _claimed(folder, event, channels.channels(folder))
    except (CraneError, OSError) as error:
        _LOG.warning("no notification: %s", error)
        return
    # A service that takes long keeps no other channel waiting.
    senders = [
        Thread(target=_send_or_log, args=(one, event), daemon=True)
        for one in claimed
    ]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join()


def _send_or_log(channel: channels.Channel, event: Event) -> None:
    try:
        send(channel, event.message)
    except CraneError as error:
        _LOG.warning("%s", error)


def _claimed(
    folder: DataFolder, event: Event, known: Mapping[str, channels.Channel]
) -> list[channels.Channel]:
    """The channels that the event is for and was not sent to yet; it is noted as sent to them."""
    with held(folder.path, SENT):
        sent = _sent(folder)
        new = [
            one
            for one in known.values()
            if wants(one, event) and event.key not in sent.get(one.name, ())
        ]
        for one in new:
            before = sent.get(one.name, [])
            sent[one.name] = [*before, event.key][-MOST_REMEMBERED:]
        if new:
            # Channels that were removed are forgotten here, too.
            kept = {name: sent[name] for name in known if name in sent}
            replace_file(folder.path, SENT, kept)
    return new


def _sent(folder: DataFolder) -> dict[str, list[str]]:
    path = folder.path / SENT
    if not path.exists():
        return {}
    try:
        found: Any = json.loads(path.read_text("utf-8"))
        return {
            str(name): [str(key) for key in keys]
            for name, keys in found.items()
        }
    except (ValueError, TypeError, AttributeError) as error:
        raise NotificationError(
            f"{SENT} in the data folder is damaged, so that messages could be sent twice.",
            remedy="Delete it.",
        ) from error
