"""Sends one message to one address with Apprise, an optional library: the only file that knows it.

What Apprise logs and raises stays in this file, because it may quote an address. A failure is described by the name of
the channel and a few words of ours.
"""

import logging
from importlib.util import find_spec
from threading import Thread
from typing import Any, NamedTuple

from crane_core.errors import NotificationError
from crane_core.pipeline.notifications.channels import MOST_LETTERS, Channel
from crane_core.pipeline.places import install_words

LIMIT_S = 10.0
"""How long a service may take to accept a message; a service that is well takes a second."""
_LOGGER_OF_APPRISE = "apprise"


class Message(NamedTuple):
    """A message in plain text."""

    title: str
    body: str


def service_of(url: str) -> str:
    """The name of the service that an address belongs to; nothing is sent.

    Raises NotificationError, which does not quote the address.
    """
    if len(url) > MOST_LETTERS or not url.isprintable() or not url.strip():
        raise NotificationError(
            f"An address is one line of 1 to {MOST_LETTERS:,} characters.",
            remedy="Copy it again from the service.",
        )
    plugin = _plugin(url.strip())
    if plugin is None:
        raise NotificationError(
            "Apprise does not know this form of address.",
            remedy="Write it as docs/admin/notify.md shows: mailtos, jsons, or the address that Slack shows.",
        )
    return str(plugin.service_name)


def send(channel: Channel, message: Message, limit_s: float = LIMIT_S) -> None:
    """Send it, and return when the service has accepted it. Raises NotificationError, without the address."""
    outcome: list[str | None] = []
    # Checked here, because an exception of a thread would not reach the caller.
    _check_installed()
    # Left behind where it takes longer: a thread cannot be stopped, and nobody waits for this one.
    sender = Thread(
        target=lambda: outcome.append(_sent(channel, message)), daemon=True
    )
    sender.start()
    sender.join(limit_s)
    why = outcome[0] if outcome else f"it took longer than {limit_s:g} s"
    if why is not None:
        raise NotificationError(
            f"The message to {channel.name} ({channel.service}) was not sent: {why}.",
            remedy=f"Try it: `notify test {channel.name}`; if its address has changed, remove it and add it again.",
        )


def _sent(channel: Channel, message: Message) -> str | None:
    """Why it was not sent, without the address; None if it was."""
    try:
        is_sent = _accepted(channel.url, message)
    # A hundred services raise what they like, and the text of it may quote the address: only its class is named.
    except Exception as error:  # noqa: BLE001
        return f"{type(error).__name__} in the library"
    return (
        None if is_sent else "the service was not reached, or did not accept it"
    )


def _accepted(url: str, message: Message) -> bool:
    import apprise

    plugin = _plugin(url)
    if plugin is None:
        return False
    sender = apprise.Apprise(asset=plugin.asset)
    sender.add(plugin)
    # As plain text, which the library escapes for services whose messages are HTML.
    return bool(
        sender.notify(
            title=message.title,
            body=message.body,
            body_format=apprise.NotifyFormat.TEXT,
        )
    )


def _plugin(url: str) -> Any:
    """The library's object for an address, None if it knows none."""
    _check_installed()
    import apprise

    # It warns of failures on its own logger, whose lines may hold hosts, topics and answers of a service.
    logging.getLogger(_LOGGER_OF_APPRISE).disabled = True
    asset = apprise.AppriseAsset(
        app_id="Crane Workbench",
        app_desc="Crane Workbench",
        # No links to pictures and pages of the library in our messages.
        app_url="",
        image_url_mask="",
        image_url_logo="",
        # One after the other and without its limit: with one it works in threads for which the end of this program
        # waits, however long they take. Our thread has the limit.
        async_mode=False,
        service_timeout=0,
        # Messages are our text; `\\n` or `:name:` in it mean themselves.
        interpret_escapes=False,
        interpret_emojis=False,
    )
    return apprise.Apprise.instantiate(
        url, asset=asset, suppress_exceptions=True
    )


def is_installed() -> bool:
    """Whether Apprise is there."""
    return find_spec("apprise") is not None


def _check_installed() -> None:
    if not is_installed():
        raise NotificationError(
            "Notifications need the library Apprise, which is not installed.",
            remedy=install_words("notify"),
        )
