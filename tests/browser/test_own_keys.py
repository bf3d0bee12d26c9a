"""A person's keys: kept on the server for every browser, in this one while the server is away, told if unreadable."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from crane_core import ledger
from crane_core.annotation.plan import Plan
from crane_core.domain import KeyChoice
from crane_core.pipeline.campaigns.own_keys import keep_keys, key_file, own_keys
from tests.given_labels import give_labels

from .conftest import TIMEOUT_MS, WIDE, OpenPage, Served
from .desk import (
    COUNT_DIALOGS,
    campaign_of_all,
    in_sight,
    open_desk,
    press,
    press_ready,
    unique,
)
from .line import line_to
from .screen import click_button


@pytest.fixture
def plan(answered_app: Served) -> Plan:
    """Its first annotator labels in no other test: keys are a person's, in every campaign of the app."""
    return campaign_of_all(
        answered_app, unique("keys"), annotators=(unique("kim"), "ben")
    )


def on_server(plan: Plan) -> str:
    return f"Keys are kept for {plan.annotators[0]} on the server, for every browser."


def keep_in_browser(page: Page, person: str, keys: str) -> None:
    """What this browser holds of a person's keys, as a text."""
    page.evaluate(
        "([person, keys]) => localStorage.setItem(`crane-keys ${person}`, keys)",
        [person, keys],
    )


def change(page: Page, words: str, key: str) -> None:
    """Give an action another key, in the dialog."""
    page.keyboard.press("?")
    click_button(page, f"Change the key: {words}")
    page.keyboard.press(key)
    expect(page.locator(".cw-keys-told")).to_contain_text(
        f"{key.upper()} is now the key of"
    )


def key_of(page: Page, label: str) -> Locator:
    return page.locator(f".cw-desk-acts [data-act={label}] kbd")


@pytest.mark.slow
def test_keys_go_with_a_person_to_another_browser_and_to_deciding(
    open_page: OpenPage, answered_app: Served, plan: Plan
) -> None:
    address, folder, kim = (
        answered_app.address,
        answered_app.folder,
        plan.annotators[0],
    )
    for name, said in ((kim, "wrong"), ("ben", "correct")):
        give_labels(folder, plan.campaign, name, {plan.items[0].item: said})
    first = open_desk(
        open_page(address), address, plan.campaign, plan.annotators[0]
    )
    change(first, "correct", "j")
    expect(first.locator(".cw-keys-where")).to_have_text(on_server(plan))
    click_button(first, "Switch off the key: skip")
    expect(first.locator(".cw-keys-where")).to_have_text(on_server(plan))
    assert own_keys(folder, kim) == {
        "isOff": False,
        "keys": {"label-correct": "j", "skip": None},
    }

    other = open_desk(
        open_page(address, color_scheme="light"),
        address,
        plan.campaign,
        plan.annotators[0],
    )  # another browser
    expect(key_of(other, "label-correct")).to_have_text("J")
    expect(key_of(other, "skip")).to_be_hidden()
    press(other, "j")
    other.keyboard.press("?")
    other.get_by_label("Single keys are on").uncheck()
    expect(other.locator(".cw-keys-where")).to_have_text(on_server(plan))

    first = open_desk(first, address, plan.campaign, plan.annotators[0])
    expect(key_of(first, "label-correct")).to_be_hidden()
    before = in_sight(first)
    press_ready(first, "j")
    assert in_sight(first) == before
    first.locator("[data-act=help]").click()
    first.get_by_label("Single keys are on").check()
    expect(first.locator(".cw-keys-where")).to_have_text(on_server(plan))

    other.goto(f"{address}/campaigns?campaign={plan.campaign}&decide=next")
    other.wait_for_selector(".cw-decide .cw-card")
    expect(other.locator("[data-act=label-correct] kbd")).to_have_text("1")
    other.get_by_label("Who decides", exact=True).fill(kim)
    other.get_by_label("Note", exact=True).focus()
    expect(other.locator("[data-act=label-correct] kbd")).to_have_text("J")


@pytest.mark.slow
def test_keys_that_a_browser_had_before_are_kept_on_the_server(
    open_page: OpenPage, answered_app: Served, plan: Plan
) -> None:
    kim = plan.annotators[0]
    page = open_page(answered_app.address, color_scheme="light")
    keep_in_browser(page, kim, '{"isOff": false, "keys": {"flag": "j"}}')
    open_desk(page, answered_app.address, plan.campaign, plan.annotators[0])
    expect(key_of(page, "flag")).to_have_text("J")
    page.keyboard.press("?")
    expect(page.locator(".cw-keys-where")).to_have_text(on_server(plan))
    assert own_keys(answered_app.folder, kim) == {
        "isOff": False,
        "keys": {"flag": "j"},
    }


@pytest.mark.slow
def test_keys_work_while_the_server_is_away_and_reach_it_later(
    browser: Browser, answered_app: Served, plan: Plan
) -> None:
    folder, kim = answered_app.folder, plan.annotators[0]
    context = browser.new_context(viewport=WIDE)
    context.set_default_timeout(TIMEOUT_MS)
    try:
        with line_to(answered_app.address) as line:
            page = open_desk(
                context.new_page(),
                line.address,
                plan.campaign,
                plan.annotators[0],
            )
            page.evaluate(COUNT_DIALOGS)
            line.cut()
            page.wait_for_function(
                "window.dialogs > 0 && !document.querySelector('[data-testid=stDialog]')"
            )
            change(page, "correct", "j")
            waits = f"Keys are kept for {kim} in this browser; the server has not stored them yet."
            expect(page.locator(".cw-keys-where")).to_have_text(waits)
            keys = page.get_by_role("dialog", name="Keys")
            click_button(keys, "Close")
            expect(keys).to_be_hidden()
            press(page, "j")
            assert own_keys(folder, kim) is None
            page.close()
            line.mend()
            page = open_desk(
                context.new_page(),
                line.address,
                plan.campaign,
                plan.annotators[0],
            )
            expect(key_of(page, "label-correct")).to_have_text("J")
            page.keyboard.press("?")
            expect(page.locator(".cw-keys-where")).to_have_text(on_server(plan))
    finally:
        context.close()
    assert own_keys(folder, kim) == {
        "isOff": False,
        "keys": {"label-correct": "j"},
    }


@pytest.mark.slow
def test_keys_that_cannot_be_read_are_told_and_the_standard_keys_are_on(
    open_page: OpenPage, answered_app: Served, plan: Plan
) -> None:
    address, folder, kim = (
        answered_app.address,
        answered_app.folder,
        plan.annotators[0],
    )
    file = key_file(folder, kim)
    assert isinstance(file, Path)
    ledger.append(
        file,
        KeyChoice(
            kim,
            "2026-11-21T10:00:00.000+00:00",
            '{"isOff": false, "keys": {"skip": "r"}}',
        ),
    )
    page = open_desk(
        open_page(address, color_scheme="dark"),
        address,
        plan.campaign,
        plan.annotators[0],
    )
    notice = page.locator(".cw-keys-notice")
    expect(notice).to_have_text(
        f"The keys kept for {kim} cannot be read, so the standard keys are on: 'r' cannot be the key of skip. "
        "Choose them again in the list of keys."
    )
    press(page, "1")
    change(page, "correct", "j")
    expect(page.locator(".cw-keys-where")).to_have_text(on_server(plan))
    expect(notice).to_be_hidden()
    keep_in_browser(page, kim, '{"isOff": false, "keys": {"flag": 7}}')
    keep_keys(folder, kim, {"isOff": False, "keys": {"label-correct": "k"}})
    open_desk(
        page, address, plan.campaign, plan.annotators[0]
    )  # the server's are valid, and hold here too
    expect(key_of(page, "label-correct")).to_have_text("K")
    expect(notice).to_be_hidden()
    page.goto(f"{address}/annotate?practice=1")
    keep_in_browser(page, "", "not JSON")
    page.reload()
    page.wait_for_selector(".cw-desk .cw-card")
    expect(notice).to_have_text(
        "The keys kept in this browser cannot be read, so the standard keys are on."
    )
