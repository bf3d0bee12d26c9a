"""Two tabs of one person in one browser: the second says so, and only one takes labels."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page, expect

from benchmarks._server import serve
from crane_core.annotation.draw import CampaignRequest
from crane_core.annotation.plan import Design, Kind
from crane_core.pipeline.campaigns.campaigns import drawn_plan, journal_of, keep_campaign
from crane_core.pipeline.loading.load import prepare
from crane_core.pipeline.places import DataFolder

from .desk import OWN_ANSWERS, SAVED, in_sight, press

pytestmark = pytest.mark.browser

ASIDE = "This desk is open in another tab"


def open_desk(page: Page, address: str) -> Page:
    page.goto(f"{address}/annotate?campaign=pilot&annotator=ana")
    page.wait_for_selector(".cw-desk .cw-card")
    return page


def test_the_second_tab_says_so_and_takes_no_label_until_it_is_chosen(answered: DataFolder, browser: Browser) -> None:
    store = prepare(answered)
    plan = drawn_plan(store, CampaignRequest("pilot", ("ana",), OWN_ANSWERS, Design(Kind.ALL), seed=7))
    store.close()
    keep_campaign(answered, plan)
    context = browser.new_context()
    try:
        with serve(answered.path) as address:
            first = open_desk(context.new_page(), address)
            press(first, "1")
            first.wait_for_function(SAVED)
            second = open_desk(context.new_page(), address)
            notice = second.locator(".cw-desk-notice")
            expect(notice).to_contain_text(ASIDE)
            shown = in_sight(second)
            second.keyboard.press("3")
            expect(second.locator("[data-act=label-wrong]")).to_be_disabled()
            assert in_sight(second) == shown == in_sight(first)
            press(first, "2")
            first.wait_for_function(SAVED)

            notice.get_by_role("button", name="Label in this tab").click()
            expect(notice).to_be_hidden()
            assert in_sight(second) == in_sight(first)
            expect(first.locator(".cw-desk-notice")).to_contain_text(ASIDE)
            first.keyboard.press("3")
            press(second, "1")
            second.wait_for_function(SAVED)
            first.close()
            assert open_desk(second, address).locator(".cw-desk-notice").is_hidden()
            context.close()
    finally:
        context.close()
    given = journal_of(answered, plan, "ana").given
    assert [str(entry.label) for entry in sorted(given.values(), key=lambda entry: entry.sequence)] == [
        "correct", "partial", "correct"
    ]  # fmt: skip
