"""Own labels of a campaign: pasted when it is created, pressed at the desk, stored, shown to the lead."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from crane_core.pipeline.campaigns.campaigns import journal_of, kept_campaign
from tests.own_labels import FOUR, FOUR_TEXT

from .conftest import OpenPage, Served
from .desk import SAVED, choose_own_answers, open_desk, press, unique
from .screen import (
    TITLES,
    arrives,
    click_button,
    fill,
    of_campaign,
    sees,
    shows_title,
)


@pytest.mark.slow
def test_a_fourth_label_is_added_pressed_and_stored(
    answered_app: Served, open_page: OpenPage
) -> None:
    name, app, folder = (
        unique("four"),
        answered_app.address,
        answered_app.folder,
    )
    page = open_page(f"{app}/campaigns")
    shows_title(page, TITLES["/campaigns"])
    choose_own_answers(page)
    page.get_by_text("Labels other than correct, partial, wrong").click()
    fill(page, "Label file", FOUR_TEXT.replace('key = "4"', 'key = "3"'))
    sees(page, "labels 4, key: labels 3 has '3' already; choose another.")
    expect(page.get_by_text("The plan", exact=True)).to_have_count(0)
    fill(page, "Label file", FOUR_TEXT)
    expect(page.locator(".cw-labels tr")).to_have_text(
        [
            re.compile("1✓ correct"),
            re.compile("2◐ partial"),
            re.compile("3✗ wrong"),
            re.compile("4. unclear"),
        ]
    )
    fill(page, "Name", name)
    fill(page, "Annotators", "ana, ben")
    sees(page, "Labels: with unclear (nominal)")
    click_button(page, "Create campaign")
    shows_title(page, of_campaign(name))
    plan = kept_campaign(folder, name).plan
    assert plan.labels == FOUR

    open_desk(page, app, name)
    buttons = page.locator(".cw-desk-labels button")
    expect(buttons).to_have_text(
        ["1 ✓ correct", "2 ◐ partial", "3 ✗ wrong", "4 ? unclear"]
    )
    press(page, "4")
    page.wait_for_function(SAVED)
    expect(page.locator(".cw-desk-last")).to_contain_text(
        "Previous item: ? unclear Why? 7 too vague"
    )
    page.keyboard.press("5")  # a reason that unclear does not offer
    page.keyboard.press("7")
    expect(page.locator("[data-act=reason-vague]")).to_have_attribute(
        "aria-pressed", "true"
    )
    page.wait_for_function(SAVED)
    press(page, "1")
    page.wait_for_function(SAVED)
    given = list(journal_of(folder, plan, "ana").given.values())
    assert [(one.label, one.reason) for one in given] == [
        ("unclear", "vague"),
        ("correct", None),
    ]
    page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Keys").get_by_role("row")
    expect(keys.nth(3)).to_contain_text(re.compile(r"unclear\s*4"))
    expect(keys.nth(4)).to_contain_text("why the last label is")

    page.goto(f"{app}/campaigns?campaign={name}&part=Result")
    arrives(page, of_campaign(name))
    sees(page, "Without credit: unclear; those diagnoses count as not judged.")
