"""A team of four on the Campaigns page: calibration, main round, one replaced, items labelled again after the lock."""

from __future__ import annotations

from uuid import uuid4

import pytest
from playwright.sync_api import Page

from crane_core.pipeline.campaigns.campaigns import kept_campaign
from crane_core.pipeline.campaigns.labelling import LabelStore
from crane_core.pipeline.places import DataFolder

from .conftest import OpenPage, Served
from .desk import choose_own_answers, open_desk, press_ready, unique
from .screen import (
    choose,
    click_button,
    fill,
    of_campaign,
    open_part,
    sees,
    settled,
    shows_title,
)


def label_all(
    folder: DataFolder, name: str, *people: str, label: str = "correct"
) -> None:
    """Everything that these people have to label now, as their desks would send it."""
    desk = LabelStore(folder, name)
    for who in people:
        while coming := desk.journal(who).upcoming(1):
            known = {"item": coming[0].item, "showing": coming[0].showing}
            act = {
                "event": f"{who}-{uuid4().hex}",
                "action": "label",
                "label": label,
            } | known
            assert desk.take(who, [act]).refused == {}


def create(page: Page, name: str) -> None:
    choose_own_answers(page)
    fill(page, "Name", name)
    fill(page, "Annotators", "ana, ben, cem, dia")
    page.get_by_text("all of them", exact=True).click()
    choose(settled(page), "Who labels what", "some annotators per item")
    settled(page)
    fill(page, "Calibration items", "8")
    sees(page, "each item by 2 of them. All label the same 8 items first")
    click_button(page, "Create campaign")
    shows_title(page, of_campaign(name))


@pytest.mark.slow
def test_a_team_from_calibration_to_a_second_round(
    open_page: OpenPage, answered_app: Served
) -> None:
    name, address, folder = (
        unique("team"),
        answered_app.address,
        answered_app.folder,
    )
    page = open_page(f"{address}/campaigns")
    create(page, name)
    plan = kept_campaign(folder, name).plan
    assert {len(order) for order in plan.orders.values()} == {8}
    label_all(folder, name, "ana", "ben", "cem", "dia")

    page.reload()
    sees(page, "All have labelled the 8 calibration items.")
    click_button(settled(page), "Go on to the main round")
    sees(page, "Everybody labels the 8 calibration items now")
    opening = page.get_by_test_id("stForm").filter(
        has_text="Open the main round"
    )
    opening.get_by_label("Changed by").fill("lead")
    click_button(page, "Open the main round")
    sees(page, "lead: the main round is open for ana, ben, cem, dia.")
    label_all(folder, name, "ana")

    with page.context.new_page() as bens:
        open_desk(bens, address, name, "ben")
        page.get_by_text("Somebody leaves or is replaced").click()
        choose(page, "Annotator", "ben")
        fill(page, "Taken over by", "eva")
        page.get_by_test_id("stExpander").filter(
            has_text="Somebody leaves"
        ).get_by_label("Changed by").fill("lead")
        click_button(page, "Change")
        sees(page, "lead: eva joined; ben left.")
        press_ready(bens, "1")
        sees(bens, "You no longer label in this campaign.")
    label_all(folder, name, "cem", "dia", "eva", label="wrong")

    page.reload()
    open_part(page, "Result").get_by_label("Locked by").fill("lead")
    page.get_by_text("Lock it although items are open").click()
    click_button(page, "Lock campaign")
    sees(page, "Locked by lead at")
    open_part(page, "People and guideline")
    page.get_by_text("Label items again").click()
    again = page.get_by_test_id("stExpander").filter(
        has_text="Label items again"
    )
    again.get_by_label("Changed by").fill("lead")
    click_button(again, "Open the campaign and label again")
    sees(page, "items are labelled again by ana, cem, dia, eva.")
    assert kept_campaign(folder, name).lock is None
    open_desk(page, address, name, "eva")
