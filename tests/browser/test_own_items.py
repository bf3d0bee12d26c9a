"""My items: the list of what one labelled, its filters, and one item that is changed in place."""

from __future__ import annotations

import re
from uuid import uuid4

import pytest
from playwright.sync_api import expect

from crane_core.annotation.journal import Journal
from crane_core.annotation.plan import Plan
from crane_core.domain import Label
from crane_core.pipeline.campaigns.campaigns import journal_of
from crane_core.pipeline.campaigns.labelling import LabelStore

from .conftest import OpenPage, Served
from .desk import campaign_of_all, open_desk, unique
from .screen import choose, click_button, click_row, sees, settled, shows_title

SAID = ("correct", "wrong", "wrong", "partial", "correct")


@pytest.fixture
def plan(answered_app: Served) -> Plan:
    """A campaign of two, in which ana gave the labels of SAID; her third item is flagged."""
    made = campaign_of_all(answered_app, unique("listed"))
    desk = LabelStore(answered_app.folder, made.campaign)
    for place, label in enumerate(SAID):
        showing = desk.journal("ana").upcoming(1)[0]
        known = {"item": showing.item, "showing": showing.showing}
        acts = [
            {"event": uuid4().hex, "action": "label", "label": label} | known
        ]
        acts += (
            [{"event": uuid4().hex, "action": "flag"} | known]
            if place == 2
            else []
        )
        assert desk.take("ana", acts).refused == {}
    return made


def labels(journal: Journal) -> list[Label]:
    return [
        journal.given[showing].label
        for showing in journal.order
        if showing in journal.given
    ]


@pytest.mark.slow
def test_one_item_is_found_and_changed_and_no_other(
    open_page: OpenPage, answered_app: Served, plan: Plan
) -> None:
    address = answered_app.address
    page = open_desk(open_page(address), address, plan.campaign)
    click_button(page, "My items")
    shows_title(page, "My items")
    expect(page).to_have_title("My items · Annotate · Crane Workbench")
    sees(page, "5 of 5 items")
    choose(settled(page), "Label", "✗ wrong")
    sees(page, "2 of 5 items")
    page.get_by_text("Flagged", exact=True).click()
    sees(page, "1 of 5 items")
    click_row(settled(page), 0)
    shows_title(page, "My item")
    expect(page.locator(".cw-card")).to_be_visible()
    page.get_by_text("◐ partial", exact=True).click()
    choose(page, "Reason", "symptom only")
    page.get_by_label("Note").fill("seen again")
    click_button(page, "Save")
    shows_title(page, "My items")
    sees(page, re.compile("of 5 items"))
    after = journal_of(answered_app.folder, plan, "ana")
    assert labels(after) == [
        Label(word)
        for word in ("correct", "wrong", "partial", "partial", "correct")
    ]
    changed = after.order[2]
    assert (after.given[changed].reason, after.notes, set(after.flags)) == (
        "b",
        {changed: "seen again"},
        {changed},
    )
    click_button(page, "Continue labelling")
    page.wait_for_selector(".cw-desk .cw-card")


@pytest.mark.slow
def test_nothing_labelled_is_said(
    open_page: OpenPage, answered_app: Served, plan: Plan
) -> None:
    page = open_page(
        f"{answered_app.address}/annotate?campaign={plan.campaign}&annotator=ben&own=list"
    )
    sees(page, "You have not labelled any item yet.")
