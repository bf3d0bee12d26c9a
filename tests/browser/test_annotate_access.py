"""The desk for everybody: chosen keys, a phone, a screen reader, and what axe-core asks of it."""

from __future__ import annotations

from itertools import pairwise

import pytest
from playwright.sync_api import Page, expect

from crane_core.pipeline.campaigns.campaigns import journal_of, kept_campaign
from crane_core.pipeline.places import DataFolder
from tests.given_labels import give_labels

from .conftest import OpenPage, Served, slow
from .desk import (
    ITEM,
    SAVED,
    campaign_of_all,
    in_sight,
    open_desk,
    press,
    unique,
)
from .screen import click_button, hears_keys, sees, settled
from .test_accessibility import violations

PHONE = {"width": 390, "height": 844}
THUMB = 44
HEADINGS = """() => [...document.querySelectorAll('[data-testid=stMain] :is(h1, h2, h3, h4, h5, h6)')]
    .filter(heading => heading.checkVisibility()).map(heading => Number(heading.tagName[1]))"""
FOCUS = "document.activeElement?.dataset?.act"


@pytest.fixture(scope="module")
def folder(answered_app: Served) -> DataFolder:
    """Everybody labels everything; of two items ana and ben said opposite things."""
    for name in ("phone", "spoken", "axe"):
        campaign_of_all(answered_app, name)
    plan = kept_campaign(answered_app.folder, "axe").plan
    items = sorted(item.item for item in plan.items)[:2]
    for who, label in (("ana", "correct"), ("ben", "wrong")):
        give_labels(
            answered_app.folder, "axe", who, dict.fromkeys(items, label)
        )
    return answered_app.folder


@pytest.fixture(scope="module")
def app(answered_app: Served, folder: DataFolder) -> str:
    return answered_app.address


def change(page: Page, words: str, key: str) -> None:
    """Ask for another key of an action, by the keyboard."""
    page.get_by_role("button", name=f"Change the key: {words}").focus()
    page.keyboard.press("Enter")
    page.keyboard.press(key)


@pytest.mark.slow
def test_keys_are_chosen_switched_off_and_reset(
    answered_app: Served, open_page: OpenPage
) -> None:
    """Keys are a person's in every campaign, so this person labels in no other test."""
    app = answered_app.address
    plan, other = (
        campaign_of_all(answered_app, unique(name), annotators=("kim", "ben"))
        for name in ("keys", "more")
    )
    page = open_desk(open_page(app), app, plan.campaign, "kim")
    correct = page.locator(".cw-desk [data-act=label-correct]")
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keys")
    expect(dialog).to_be_visible()
    change(page, "correct", "n")
    expect(dialog.locator(".cw-keys-told")).to_contain_text(
        "N is the key of “write a note on the current item”"
    )
    page.keyboard.press("r")
    expect(dialog.locator(".cw-keys-told")).to_contain_text(
        "R runs the page again in this app"
    )
    page.keyboard.press("j")
    expect(dialog.locator(".cw-keys-told")).to_contain_text(
        "J is now the key of “correct”"
    )
    click_button(page, "Switch off the key: skip")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(correct.locator("kbd")).to_have_text("J")
    expect(correct).to_have_attribute("aria-keyshortcuts", "J")
    expect(page.locator("[data-act=skip] kbd")).to_be_hidden()

    first = in_sight(page)
    page.keyboard.press("1")
    page.keyboard.press("s")
    assert in_sight(page) == first
    press(page, "j")
    page.wait_for_function(SAVED)
    given = journal_of(answered_app.folder, plan, "kim").given
    assert [str(entry.label) for entry in given.values()] == ["correct"]

    open_desk(
        page, app, other.campaign, "kim"
    )  # kept for the person, in every campaign of this browser
    expect(correct.locator("kbd")).to_have_text("J")
    open_desk(page, app, plan.campaign, "ben")
    expect(correct.locator("kbd")).to_have_text("1")
    open_desk(page, app, plan.campaign, "kim")
    page.get_by_role("button", name="keys", exact=False).last.click()
    page.get_by_label("Single keys are on").uncheck()
    click_button(page, "Close")
    before = in_sight(page)
    page.keyboard.press("j")
    page.keyboard.press("2")
    assert in_sight(page) == before
    expect(correct.locator("kbd")).to_be_hidden()
    page.locator("[data-act=help]").click()
    click_button(page, "Reset to default")
    click_button(page, "Close")
    expect(correct.locator("kbd")).to_have_text("1")
    press(page, "1")
    page.wait_for_function(SAVED)


def test_a_phone_has_the_labels_in_reach_and_the_texts_first(
    app: str, open_page: OpenPage
) -> None:
    page = open_desk(open_page(app), app, "phone")
    page.set_viewport_size(PHONE)
    # Opened at a phone's size: there is no key to name.
    page.reload()
    expect(page.locator(".cw-desk-previous")).to_contain_text("Press a button")
    expect(page.locator(".cw-desk-help")).to_be_hidden()
    acts = page.locator(".cw-desk-acts button:visible")
    main = page.get_by_test_id("stMain")
    for place in (0, 100_000):
        main.evaluate("(main, top) => main.scrollTo({top})", place)
        boxes = [box for button in acts.all() if (box := button.bounding_box())]
        assert len(boxes) == 8
        assert all(
            box["height"] >= THUMB and box["width"] >= THUMB for box in boxes
        )
        assert all(
            box["x"] >= 0 and box["x"] + box["width"] <= PHONE["width"]
            for box in boxes
        )
        assert all(box["y"] + box["height"] <= PHONE["height"] for box in boxes)
    tops = [page.locator(f".cw-card {part}").evaluate("part => part.getBoundingClientRect().top") for part in
            (".cw-truth", ".cw-diagnoses", ".cw-code")]  # fmt: skip
    assert tops == sorted(tops)
    page.keyboard.press("d")
    page.wait_for_selector(".cw-desk-evidence .cw-pair")
    main.evaluate("main => main.scrollTo({top: 100_000})")
    assert int(main.evaluate("main => main.scrollTop")) > 0
    before = in_sight(page)
    acts.first.click()
    page.wait_for_function(f"before => {ITEM} !== before", arg=before)
    assert main.evaluate("main => main.scrollTop") == 0
    assert main.evaluate("main => main.scrollWidth <= main.clientWidth")


@pytest.mark.slow
def test_the_next_item_is_announced_the_focus_stays_and_headings_are_in_order(
    app: str, open_page: OpenPage
) -> None:
    page = open_desk(open_page(app), app, "spoken")
    live = page.locator(".cw-desk-live")
    expect(live).to_have_attribute("aria-live", "polite")
    expect(live).to_have_text("")
    wrong = page.locator(".cw-desk-acts button", has_text="wrong")
    wrong.focus()
    act = page.evaluate(FOCUS)
    press(page, "Enter")
    expect(live).to_contain_text("Item 2 of ")
    assert page.evaluate(FOCUS) == act
    reasons = page.locator("[data-act^=reason-]")
    expect(reasons).to_have_count(6)
    assert not reasons.first.evaluate(
        "button => Boolean(button.closest('[role=status], [aria-live]'))"
    )
    reasons.first.focus()
    page.keyboard.press("Enter")
    expect(reasons.first).to_have_attribute("aria-pressed", "true")
    page.wait_for_function(SAVED)
    assert page.evaluate(FOCUS) == "reason-a"
    page.keyboard.press("d")
    page.wait_for_selector(".cw-desk-evidence .cw-pair")
    levels = page.evaluate(HEADINGS)
    assert levels[0] == 1
    assert all(later <= earlier + 1 for earlier, later in pairwise(levels))


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", slow("dark")])
def test_desk_keys_and_deciding_are_accessible(
    theme: str, app: str, open_page: OpenPage
) -> None:
    page = open_desk(
        open_page("about:blank", color_scheme=theme), app, "axe", "ben"
    )
    page.keyboard.press("e")
    page.wait_for_selector(".cw-desk-evidence .cw-pair")
    missed = {"desk": violations(page)}
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    missed["keys"] = violations(page)
    page.goto(f"{app}/campaigns?campaign=axe&decide=next")
    page.wait_for_selector(".cw-decide .cw-desk-evidence .cw-pair")
    page.keyboard.press("2")
    missed["deciding"] = violations(page)
    for part in ("Progress", "People+and+guideline", "Result"):
        page.goto(f"{app}/campaigns?campaign=axe&part={part}")
        expect(page.locator(".cw-chip")).to_be_visible()
        missed[part] = violations(settled(page))
    assert {place: found for place, found in missed.items() if found} == {}


def test_who_labels_finds_no_answer_from_the_desk(
    app: str, folder: DataFolder, open_page: OpenPage
) -> None:
    page = open_page(app)
    hits = page.get_by_role("listbox").get_by_role("option")

    def finds(words: str) -> list[str]:
        hears_keys(page).keyboard.press("Control+k")
        page.keyboard.type(words)
        # The search in texts stands last or first in every answer, so it tells that the answer is there.
        sees(page, f"Cases that contain “{words}”")
        found = hits.all_inner_texts()
        page.keyboard.press("Escape")
        return found

    open_desk(page, app, "spoken", "ana")
    for words in ("torch missed by GPT-5", "numpy_1", "+RT"):
        assert len(finds(words)) == 1
    page.goto(f"{app}/cases")
    assert len(finds("numpy_1")) > 1
