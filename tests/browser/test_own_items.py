"""My items: the list of what one labelled, its filters, and one item that is changed in place."""

from __future__ import annotations

import re
from uuid import uuid4

import pytest
from playwright.sync_api import expect

from crane_core.annotation.draw import CampaignRequest
from crane_core.annotation.journal import Journal
from crane_core.annotation.plan import Design, Kind, Plan, Population
from crane_core.domain import Label
from crane_core.pipeline.campaigns.campaigns import drawn_plan, journal_of, keep_campaign
from crane_core.pipeline.campaigns.labelling import LabelStore
from crane_core.pipeline.places import DataFolder
from crane_core.storage.store import open_store

from .conftest import Host, OpenPage
from .screen import choose, click_row, settled, title

pytestmark = pytest.mark.browser

SAID = ("correct", "wrong", "wrong", "partial", "correct")


@pytest.fixture
def plan(answered: DataFolder) -> Plan:
    """A campaign of two, in which ana gave the labels of SAID; her third item is flagged."""
    store = open_store(answered.database)
    wish = CampaignRequest("pilot", ("ana", "ben"), Population("minibench", "ours"), Design(Kind.ALL), seed=7)
    made = drawn_plan(store, wish)
    store.close()
    keep_campaign(answered, made)
    desk = LabelStore(answered, "pilot")
    for place, label in enumerate(SAID):
        showing = desk.journal("ana").upcoming(1)[0]
        known = {"item": showing.item, "showing": showing.showing}
        acts = [{"event": uuid4().hex, "action": "label", "label": label} | known]
        acts += [{"event": uuid4().hex, "action": "flag"} | known] if place == 2 else []
        assert desk.take("ana", acts).refused == {}
    return made


def labels(journal: Journal) -> list[Label]:
    return [journal.given[showing].label for showing in journal.order if showing in journal.given]


def test_one_item_is_found_and_changed_and_no_other(
    open_page: OpenPage, host: Host, answered: DataFolder, plan: Plan
) -> None:
    with host(answered.path) as address:
        page = open_page(f"{address}/annotate?campaign=pilot&annotator=ana")
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
        after = journal_of(answered, plan, "ana")
        assert labels(after) == [Label(word) for word in ("correct", "wrong", "partial", "partial", "correct")]
        changed = after.order[2]
        assert (after.given[changed].reason, after.notes, set(after.flags)) == ("b", {changed: "seen again"}, {changed})
        page.get_by_role("button", name="Continue labelling").click()
        page.wait_for_selector(".cw-desk .cw-card")


def test_nothing_labelled_is_said(open_page: OpenPage, host: Host, answered: DataFolder, plan: Plan) -> None:
    with host(answered.path) as address:
        page = open_page(f"{address}/annotate?campaign=pilot&annotator=ben&own=list")
        expect(page.get_by_text("You have not labelled any item yet.")).to_be_visible()
