"""The guideline on the page is the campaign's own, and its version is what labels are stored with."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from benchmarks._server import serve
from crane_core.annotation.draw import Wish, draw_plan
from crane_core.annotation.guideline import version_of
from crane_core.annotation.plan import Design, Kind, Population
from crane_core.pipeline.campaigns import acts_of, keep_campaign, population
from crane_core.pipeline.load import prepare
from crane_core.pipeline.places import DataFolder

from .conftest import OpenPage

pytestmark = pytest.mark.browser

SAVED = "document.querySelector('.cw-desk-saved')?.textContent === 'saved'"
OURS = Population("minibench", "ours")


def open_desk(page: Page, address: str) -> Page:
    page.goto(f"{address}/annotate?campaign=pilot&annotator=ana")
    page.wait_for_selector(".cw-desk .cw-card")
    return page


def test_a_campaign_keeps_its_guideline_when_the_program_has_another(answered: DataFolder, open_page: OpenPage) -> None:
    text = "Judge as it was agreed when this campaign began."
    store = prepare(answered)
    verdicts, left_out = population(store, OURS)
    store.close()
    wish = Wish("pilot", ("ana",), OURS, Design(Kind.ALL), seed=7)
    plan = draw_plan(wish, verdicts, guideline=text, created_at="2026-11-21T10:00:00+00:00", left_out=left_out)
    keep_campaign(answered, plan)
    with serve(answered.path) as address:
        page = open_desk(open_page(address), address)
        page.keyboard.press("1")
        page.wait_for_function(SAVED)
        page.get_by_role("button", name="Guideline").click()
        expect(page.get_by_text(text)).to_be_visible()
        expect(page.get_by_text("Your task.")).to_have_count(0)
        expect(page.get_by_text(f"version {version_of(text)}, stored with every label")).to_be_visible()
        page.goto("about:blank")
    assert [act.guideline for act in acts_of(answered, plan, "ana")] == [version_of(text)]
