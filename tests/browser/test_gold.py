"""Gold items at the desk: told only where the plan says so; the lead's table."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from crane_core.annotation.draw import Wish
from crane_core.annotation.label_set import study_labels
from crane_core.annotation.plan import Design, Kind, Texts
from crane_core.pipeline.campaigns import drawn_plan, keep_campaign
from crane_core.pipeline.gold import Looks, gold_of_file
from crane_core.pipeline.load import prepare
from crane_core.pipeline.places import DataFolder

from .conftest import Host, OpenPage
from .desk import OWN_ANSWERS, in_sight, press

pytestmark = pytest.mark.browser


def test_an_annotator_is_told_where_the_plan_says_so(
    open_page: OpenPage, host: Host, answered: DataFolder, tmp_path: Path
) -> None:
    file = tmp_path / "gold.csv"
    file.write_text(
        "instance,detector,setting,label,why,run\nnumpy_1_reproduced,heron,code,wrong,Another <b>cause.,1\n"
    )
    store = prepare(answered)
    gold = gold_of_file(store, file, OWN_ANSWERS, Looks(study_labels(), Texts.ONE, blind=True))
    plans = {}
    for name, is_told in (("quiet", False), ("told", True)):
        wish = Wish(name, ("ana",), OWN_ANSWERS, Design(Kind.ALL, repeats=0.0), 7, gold=gold, gold_feedback=is_told)
        plans[name] = drawn_plan(store, wish)
        keep_campaign(answered, plans[name])
    store.close()
    with host(answered.path) as address:
        for name, plan in plans.items():
            page = open_page(f"{address}/annotate?campaign={name}&annotator=ana")
            page.wait_for_selector(".cw-desk .cw-card")
            while in_sight(page) != plan.gold[0].item:
                press(page, "1")
            press(page, "1")
            expect(page.locator(".cw-desk-saved")).to_have_text("saved")
            if name == "quiet":
                expect(page.locator(".cw-desk-told")).to_be_hidden()
                continue
            words = "The previous item had a known label: ✗ wrong. You said ✓ correct. Another <b>cause."
            expect(page.locator(".cw-desk-told")).to_have_text(words)
            press(page, "1")
            expect(page.locator(".cw-desk-told")).to_be_hidden()
        page.goto(f"{address}/campaigns?campaign=told")
        expect(page.get_by_role("heading", name="Gold items")).to_be_visible()
        table = page.get_by_test_id("stDataFrame").filter(has_text="Accuracy")
        expect(table.locator("tbody tr").first).to_contain_text("0.0%")
