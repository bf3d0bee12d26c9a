"""One message to one address: what comes, how long it may take, and that no failure shows the address."""

from __future__ import annotations

import logging
import re
import sys
import time

import pytest

from crane_core.errors import NotificationError
from crane_core.pipeline.notifications.channels import MOST_LETTERS, Channel
from crane_core.pipeline.notifications.sending import (
    Message,
    send,
    service_of,
)
from crane_core.pipeline.places import CHECKOUT
from tests.patience import met_limit_s
from tests.webhooks import HIDDEN, needs_apprise, webhook

MESSAGE = Message("Crane Workbench: job ended", r"a <b> & c_d: \n, 80 of 80.")


@needs_apprise
def test_a_message_comes_as_it_was_written() -> None:
    with webhook() as hook:
        send(hook.channel(), MESSAGE)
        [posted] = hook.posted
    assert posted == (f"/{HIDDEN}", *MESSAGE)


@needs_apprise
@pytest.mark.parametrize("trouble", ["refused", "nobody there", "no address"])
def test_a_failure_shows_no_address(
    trouble: str,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    caplog.set_level(logging.DEBUG, logger="apprise")
    with webhook() as hook:
        hook.status = 500
        url = {
            "refused": hook.channel().url,
            "nobody there": f"json://127.0.0.1:1/{HIDDEN}",
            "no address": f"{HIDDEN}://{HIDDEN}",
        }[trouble]
        channel = Channel("team", url, "JSON", frozenset())
        with pytest.raises(NotificationError) as refused:
            send(channel, MESSAGE)
    assert "The message to team (JSON) was not sent" in str(refused.value)
    out, err = capfd.readouterr()
    assert HIDDEN not in f"{refused.value}{out}{err}{caplog.text}"


@needs_apprise
def test_a_service_that_does_not_answer_is_left_at_the_limit() -> None:
    began = time.monotonic()
    with webhook() as hook:
        hook.is_open.clear()
        with pytest.raises(NotificationError, match="took longer than"):
            send(hook.channel(), MESSAGE, limit_s=0.2)
        assert time.monotonic() - began < met_limit_s(3)


@needs_apprise
def test_the_service_of_an_address_is_named_without_sending() -> None:
    with webhook() as hook:
        assert service_of(hook.channel().url) == "JSON"
        assert hook.posted == []
    hooked = "https://hooks.slack.com/services/T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ"
    assert service_of(hooked) == "Slack"


@needs_apprise
def test_the_addresses_of_the_guide_are_known() -> None:
    guide = (CHECKOUT / "docs" / "admin" / "notify.md").read_text("utf-8")
    shown = re.findall(r"^\| [a-zA-Z]+ \| `(\w+://[^`]+)`", guide, re.MULTILINE)
    services = [service_of(url) for url in shown]
    assert services == [
        "E-Mail",
        "Power Automate / Workflows (for MSTeams)",
        "JSON",
    ]


@needs_apprise
@pytest.mark.parametrize(
    "url",
    [f"{HIDDEN}://x", HIDDEN, f"file:///etc/{HIDDEN}"],
)
def test_what_apprise_does_not_know_is_refused_without_quoting_it(
    url: str,
) -> None:
    with pytest.raises(NotificationError, match="does not know") as refused:
        service_of(url)
    assert HIDDEN not in str(refused.value)


@pytest.mark.parametrize(
    "url", ["", " ", f"json://a\n{HIDDEN}", HIDDEN * MOST_LETTERS]
)
def test_an_address_is_a_line(url: str) -> None:
    with pytest.raises(NotificationError, match="one line") as refused:
        service_of(url)
    assert HIDDEN not in str(refused.value)


def test_without_apprise_its_extra_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "apprise", None)
    channel = Channel("team", f"json://{HIDDEN}", "JSON", frozenset())
    with pytest.raises(NotificationError) as of_adding:
        service_of(channel.url)
    with pytest.raises(NotificationError) as of_sending:
        send(channel, MESSAGE)
    for refused in (of_adding, of_sending):
        assert "the library Apprise" in str(refused.value)
        assert "[notify]'`" in refused.value.remedy
        assert HIDDEN not in str(refused.value)
