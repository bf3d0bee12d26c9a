"""A person's keys: kept on the server for every browser, in this one while the server is away, told if unreadable."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from benchmarks._server import free_port, serve
from crane_core import ledger
from crane_core.annotation.plan import Plan
from crane_core.domain import KeyChoice
from crane_core.pipeline.campaigns.labelling import LabelStore
from crane_core.pipeline.campaigns.own_keys import keep_keys, key_file, own_keys
from crane_core.pipeline.places import DataFolder

from .conftest import WIDE, Host, OpenPage
from .desk import COUNT_DIALOGS, campaign_of_all, in_sight, press, press_ready

pytestmark = pytest.mark.browser

NAME = "keys"
ON_SERVER = "Keys are kept for ana on the server, for every browser."


@pytest.fixture
def plan(answered: DataFolder) -> Plan:
    return campaign_of_all(answered, NAME)


def open_desk(page: Page, address: str) -> Page:
    page.goto(f"{address}/annotate?campaign={NAME}&annotator=ana")
    page.wait_for_selector(".cw-desk .cw-card")
    return page


def change(page: Page, words: str, key: str) -> None:
    """Give an action another key, in the dialog."""
    page.keyboard.press("?")
    page.get_by_role("button", name=f"Change the key: {words}").click()
    page.keyboard.press(key)
    expect(page.locator(".cw-keys-told")).to_contain_text(f"{key.upper()} is now the key of")


def key_of(page: Page, label: str) -> Locator:
    return page.locator(f".cw-desk-acts [data-act={label}] kbd")


def test_keys_go_with_a_person_to_another_browser_and_to_deciding(
    open_page: OpenPage, host: Host, answered: DataFolder, plan: Plan
) -> None:
    for name, said in (("ana", "wrong"), ("ben", "correct")):
        act = {"event": f"{name}-first", "action": "label", "item": plan.items[0].item, "showing": 1, "label": said}
        assert LabelStore(answered, NAME).take(name, [act]).refused == {}
    with host(answered.path) as address:
        first = open_desk(open_page(address), address)
        change(first, "correct", "j")
        expect(first.locator(".cw-keys-where")).to_have_text(ON_SERVER)
        first.get_by_role("button", name="Switch off the key: skip").click()
        expect(first.locator(".cw-keys-where")).to_have_text(ON_SERVER)
        assert own_keys(answered, "ana") == {"isOff": False, "keys": {"label-correct": "j", "skip": None}}

        other = open_desk(open_page(address, color_scheme="light"), address)  # another browser
        expect(key_of(other, "label-correct")).to_have_text("J")
        expect(key_of(other, "skip")).to_be_hidden()
        press(other, "j")
        other.keyboard.press("?")
        other.get_by_label("Single keys are on").uncheck()
        expect(other.locator(".cw-keys-where")).to_have_text(ON_SERVER)

        first = open_desk(first, address)
        expect(key_of(first, "label-correct")).to_be_hidden()
        before = in_sight(first)
        press_ready(first, "j")
        assert in_sight(first) == before
        first.locator("[data-act=help]").click()
        first.get_by_label("Single keys are on").check()
        expect(first.locator(".cw-keys-where")).to_have_text(ON_SERVER)

        other.goto(f"{address}/campaigns?campaign={NAME}&decide=next")
        other.wait_for_selector(".cw-decide .cw-card")
        expect(other.locator("[data-act=label-correct] kbd")).to_have_text("1")
        other.get_by_label("Who decides", exact=True).fill("ana")
        other.get_by_label("Note", exact=True).focus()
        expect(other.locator("[data-act=label-correct] kbd")).to_have_text("J")


def test_keys_that_a_browser_had_before_are_kept_on_the_server(
    open_page: OpenPage, host: Host, answered: DataFolder, plan: Plan
) -> None:
    with host(answered.path) as address:
        page = open_page(address, color_scheme="light")
        page.evaluate("""localStorage.setItem('crane-keys ana', '{"isOff": false, "keys": {"flag": "j"}}')""")
        open_desk(page, address)
        expect(key_of(page, "flag")).to_have_text("J")
        page.keyboard.press("?")
        expect(page.locator(".cw-keys-where")).to_have_text(ON_SERVER)
    assert own_keys(answered, "ana") == {"isOff": False, "keys": {"flag": "j"}}


def test_keys_work_while_the_server_is_away_and_reach_it_later(
    browser: Browser, answered: DataFolder, plan: Plan
) -> None:
    port = free_port()
    context = browser.new_context(viewport=WIDE)
    context.set_default_timeout(60_000)
    try:
        page = context.new_page()
        with serve(answered.path, port=port, end_with=signal.SIGKILL) as address:
            open_desk(page, address)
            page.evaluate(COUNT_DIALOGS)
        page.wait_for_function("window.dialogs > 0 && !document.querySelector('[data-testid=stDialog]')")
        change(page, "correct", "j")
        waits = "Keys are kept for ana in this browser; the server has not stored them yet."
        expect(page.locator(".cw-keys-where")).to_have_text(waits)
        page.get_by_role("button", name="Close").click()
        press(page, "j")
        assert own_keys(answered, "ana") is None
        page.close()
        page = context.new_page()
        with serve(answered.path, port=port):
            open_desk(page, address)
            expect(key_of(page, "label-correct")).to_have_text("J")
            page.keyboard.press("?")
            expect(page.locator(".cw-keys-where")).to_have_text(ON_SERVER)
    finally:
        context.close()
    assert own_keys(answered, "ana") == {"isOff": False, "keys": {"label-correct": "j"}}


def test_keys_that_cannot_be_read_are_told_and_the_standard_keys_are_on(
    open_page: OpenPage, host: Host, answered: DataFolder, plan: Plan
) -> None:
    file = key_file(answered, "ana")
    assert isinstance(file, Path)
    ledger.append(file, KeyChoice("ana", "2026-11-21T10:00:00.000+00:00", '{"isOff": false, "keys": {"skip": "r"}}'))
    with host(answered.path) as address:
        page = open_desk(open_page(address, color_scheme="dark"), address)
        notice = page.locator(".cw-keys-notice")
        expect(notice).to_have_text(
            "The keys kept for ana cannot be read, so the standard keys are on: 'r' cannot be the key of skip. "
            "Choose them again in the list of keys."
        )
        press(page, "1")
        change(page, "correct", "j")
        expect(page.locator(".cw-keys-where")).to_have_text(ON_SERVER)
        expect(notice).to_be_hidden()
        page.evaluate('localStorage.setItem(\'crane-keys ana\', \'{"isOff": false, "keys": {"flag": 7}}\')')
        keep_keys(answered, "ana", {"isOff": False, "keys": {"label-correct": "k"}})
        open_desk(page, address)  # the server's are valid, and hold here too
        expect(key_of(page, "label-correct")).to_have_text("K")
        expect(notice).to_be_hidden()
        page.goto(f"{address}/annotate?practice=1")
        page.evaluate("localStorage.setItem('crane-keys ', 'not JSON')")
        page.reload()
        page.wait_for_selector(".cw-desk .cw-card")
        expect(notice).to_have_text("The keys kept in this browser cannot be read, so the standard keys are on.")
