"""`notify`: channels are added, listed, tried and removed, and their addresses are shown nowhere."""

from __future__ import annotations

import io
import json
import sys

import pytest

from crane_core.pipeline.audit import entries
from crane_core.pipeline.notifications.channels import add_channel, channels
from crane_core.pipeline.places import DataFolder
from tests.spoken import Run
from tests.webhooks import HIDDEN, Webhook, needs_apprise, webhook

CLOSED = Webhook(1)
"""Not a server: channels to it can be listed and removed."""


@needs_apprise
def test_a_channel_is_added_tried_listed_and_removed(
    run: Run, folder: DataFolder
) -> None:
    with webhook() as hook:
        url = hook.channel().url
        added = run(
            "notify", "add", "team", url, "--on", "job-ended,campaign-done"
        )
        assert hook.posted == []
        tried = run("notify", "test", "team")
        [posted] = hook.posted
    assert posted.message == "This is a test of the channel team."
    listed, as_json = run("notify", "list"), run("notify", "list", "--json")
    assert listed.out == "team  JSON (json://)  job-ended,campaign-done\n"
    assert json.loads(as_json.out) == [
        {
            "name": "team",
            "address": "JSON (json://)",
            "events": ["job-ended", "campaign-done"],
            "for": None,
        }
    ]
    removed = run("notify", "remove", "team")
    assert run("notify", "list").out == "no channels\n"
    spoken = (added, tried, listed, as_json, removed)
    assert [one.code for one in spoken] == [0] * 5
    assert HIDDEN not in "".join(f"{one.out}{one.err}" for one in spoken)
    noted = [(entry.what, entry.detail) for entry in entries(folder)]
    assert noted == [
        ("removed channel team", "JSON, job-ended, campaign-done"),
        ("added channel team", "JSON, job-ended, campaign-done"),
    ]


@needs_apprise
def test_an_address_is_read_from_the_standard_input(
    run: Run, folder: DataFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = CLOSED.channel().url
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{url}\n"))
    spoken = run("notify", "add", "ana", "-", "--for", "ana")
    assert spoken.code == 0
    kept = channels(folder)["ana"]
    assert (kept.url, kept.person, len(kept.kinds)) == (url, "ana", 4)
    assert "for ana" in run("notify", "list").out


def test_a_channel_that_cannot_be_reached_is_told_on_one_line(
    run: Run, folder: DataFolder
) -> None:
    add_channel(folder, CLOSED.channel())
    tried = run("notify", "test", "team")
    assert tried.code == 1
    [line] = tried.err.splitlines()
    assert line.startswith("error: ") and HIDDEN not in line


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("test", "team"), "There is no channel with the name 'team'."),
        (("remove", "team"), "There is no channel with the name 'team'."),
        (("test", f"json://{HIDDEN}"), "There is no channel"),
        (("add", f"json://{HIDDEN}", "team"), "A channel cannot have the name"),
        (("add", "a", "-"), "The standard input has no address."),
    ],
)
def test_what_cannot_be_done_is_refused_without_an_address(
    run: Run,
    folder: DataFolder,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    told: str,
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    spoken = run("notify", *words)
    assert spoken.code == 1 and told in spoken.err
    assert HIDDEN not in spoken.err and channels(folder) == {}


def test_without_apprise_nothing_is_kept_and_the_extra_is_named(
    run: Run, folder: DataFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "apprise", None)
    spoken = run("notify", "add", "team", f"json://h/{HIDDEN}")
    assert spoken.code == 1 and channels(folder) == {}
    assert (
        "the library Apprise, which is not installed. Install it: `pip install '"
        in spoken.err
    )
    assert "[notify]'`" in spoken.err and HIDDEN not in spoken.err
