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
from .desk import campaign_of_all, unique
from .screen import choose, click_row, settled, title

pytestmark = pytest.mark.browser

SAID = ("correct", "wrong", "wrong", "partial", "correct")


@pytest.fixture
def plan(answered_app: Served) -> Plan:
    """A campaign of two, in which ana gave the labels of SAID; her third item is flagged."""
    made = campaign_of_all(answered_app, unique("listed"))
    desk = LabelStore(answered_app.folder, made.campaign)
    for place, label in enumerate(SAID):
        showing = desk.journal("ana").upcoming(1)[0]
        known = {"item": showing.item, "showing": showing.showing}
        acts = [{"event": uuid4().hex, "action": "label", "label": label} | known]
        acts += [{"event": uuid4().hex, "action": "flag"} | known] if place == 2 else []
        assert desk.take("ana", acts).refused == {}
    return made


def labels(journal: Journal) -> list[Label]:
    return [
        journal.given[showing].label
        for showing in journal.order
        if showing in journal.given
    ]


def test_one_item_is_found_and_changed_and_no_other(
    open_page: OpenPage, answered_app: Served, plan: Plan
) -> None:
    page = open_page(
        f"{answered_app.address}/annotate?campaign={plan.campaign}&annotator=ana"
    )
    page.wait_for_selector(".cw-desk .cw-card")
    page.get_by_role("button", name="My items").click()
    expect(title(page)).to_have_text("My items")
    expect(page.get_by_text("5 of 5 items")).to_be_visible()
    choose(settled(page), "Label", "✗ wrong")
    expect(page.get_by_text("2 of 5 items")).to_be_visible()
    page.get_by_text("Flagged", exact=True).click()
    expect(page.get_by_text("1 of 5 items")).to_be_visible()
    click_row(settled(page), 0)
    expect(title(page)).to_have_text("My item")
    expect(page.locator(".cw-card")).to_be_visible()
    page.get_by_text("◐ partial", exact=True).click()
    choose(page, "Reason", "symptom only")
    page.get_by_label("Note").fill("seen again")
    page.get_by_role("button", name="Save").click()
    expect(title(page)).to_have_text("My items")
    expect(page.get_by_text(re.compile("of 5 items"))).to_be_visible()
    after = journal_of(answered_app.folder, plan, "ana")
    assert labels(after) == [
        Label(word) for word in ("correct", "wrong", "partial", "partial", "correct")
    ]
    changed = after.order[2]
    assert (after.given[changed].reason, after.notes, set(after.flags)) == (
        "b",
        {changed: "seen again"},
        {changed},
    )
    page.get_by_role("button", name="Continue labelling").click()
    page.wait_for_selector(".cw-desk .cw-card")


@pytest.mark.slow
def test_nothing_labelled_is_said(
    open_page: OpenPage, answered_app: Served, plan: Plan
) -> None:
    page = open_page(
        f"{answered_app.address}/annotate?campaign={plan.campaign}&annotator=ben&own=list"
    )
    expect(page.get_by_text("You have not labelled any item yet.")).to_be_visible()
