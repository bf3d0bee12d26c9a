"""Gold items at the desk: told only where the plan says so; the lead's table."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from crane_core.annotation.draw import CampaignRequest
from crane_core.annotation.label_set import study_labels
from crane_core.annotation.plan import Design, DrawKind, Plan, Texts
from crane_core.pipeline.campaigns.campaigns import (
    drawn_plan,
    keep_campaign,
    kept_campaign,
    lock_campaign,
)
from crane_core.pipeline.campaigns.gold import Looks, gold_of_file
from crane_core.storage.store import Store
from tests.given_labels import give_labels

from .conftest import OpenPage, Served
from .desk import (
    OWN_ANSWERS,
    SAVED,
    campaign_of_all,
    choose_own_answers,
    open_desk,
    press,
    shown_item,
    unique,
)
from .screen import (
    TITLES,
    arrives,
    choose,
    click_button,
    fill,
    of_campaign,
    sees,
    settled,
    shows_title,
)


def plan_that_goes_on(store: Store, wish: CampaignRequest) -> Plan:
    """The first draw, by its seed, in which the gold item is not the last that ana labels."""
    plans = (
        drawn_plan(store, replace(wish, seed=seed))
        for seed in range(wish.seed, wish.seed + 10)
    )
    return next(
        plan
        for plan in plans
        if plan.orders["ana"][-1].item != plan.gold[0].item
    )


@pytest.mark.slow
def test_an_annotator_is_told_where_the_plan_says_so(
    open_page: OpenPage, answered_app: Served, tmp_path: Path
) -> None:
    file = tmp_path / "gold.csv"
    file.write_text(
        "instance,detector,setting,label,why,run\nnumpy_1_reproduced,heron,code,wrong,Another <b>cause.,1\n"
    )
    address, folder = answered_app.address, answered_app.folder
    gold = gold_of_file(
        answered_app.store,
        file,
        OWN_ANSWERS,
        Looks(study_labels(), Texts.ONE, blind=True),
    )
    plans = {}
    for name, is_told in (("quiet", False), ("told", True)):
        wish = CampaignRequest(
            unique(name),
            ("ana",),
            OWN_ANSWERS,
            Design(DrawKind.ALL, repeats=0.0),
            7,
            gold=gold,
            gold_feedback=is_told,
        )
        plans[name] = plan_that_goes_on(answered_app.store, wish)
        keep_campaign(folder, plans[name])
    for name, plan in plans.items():
        page = open_desk(open_page(address), address, plan.campaign)
        while (
            shown_item(page, folder, plan.campaign, "ana") != plan.gold[0].item
        ):
            press(page, "1")
        press(page, "1")
        page.wait_for_function(SAVED)
        if name == "quiet":
            expect(page.locator(".cw-desk-told")).to_be_hidden()
            continue
        words = "The previous item had a known label: ✗ wrong. You said ✓ correct. Another <b>cause."
        expect(page.locator(".cw-desk-told")).to_have_text(words)
        press(page, "1")
        expect(page.locator(".cw-desk-told")).to_be_hidden()
    page.goto(f"{address}/campaigns?campaign={plans['told'].campaign}")
    expect(page.get_by_role("heading", name="Gold items")).to_be_visible()
    table = page.locator(".cw-plain").filter(has_text="Accuracy")
    expect(table.locator("tbody tr").first).to_contain_text("0.0%")


@pytest.mark.slow
def test_a_lead_adds_gold_items_from_a_file_and_from_a_locked_campaign(
    open_page: OpenPage, answered_app: Served
) -> None:
    address, folder = answered_app.address, answered_app.folder
    old, new = campaign_of_all(answered_app, unique("old")), unique("golden")
    for name in old.annotators:
        items = [item.item for item in old.items[:3]]
        give_labels(folder, old.campaign, name, dict.fromkeys(items, "partial"))
    lock_campaign(folder, old.campaign, by="lead")
    page = open_page(f"{address}/campaigns")
    shows_title(page, TITLES["/campaigns"])
    choose_own_answers(page)
    fill(page, "Name", new)
    fill(page, "Annotators", "ana, ben")
    page.get_by_text("Gold items", exact=True).click()
    sees(page, "Gold items have a known label")
    give_file(
        page,
        "instance,detector,setting,label\nnumpy_1_reproduced,heron,code,right\n",
    )
    sees(
        page, "gold.csv, line 2: the label 'right' is none of correct, partial"
    )
    expect(page.get_by_text("The plan", exact=True)).to_have_count(0)
    click_button(page, "Remove gold.csv")
    give_file(
        page,
        "instance,detector,setting,label,run\nnumpy_1_reproduced,heron,code,wrong,1\n",
    )
    sees(page, "1 gold item in everybody's order.")
    choose(page, "Or from a locked campaign", old.campaign)
    sees(page, f"'{old.campaign}' has 3 decided items of minibench")
    fill(page, "How many", "2")
    sees(page, "3 gold items in everybody's order.")
    page.get_by_text("Tell annotators the label of each gold item").click()
    expect(
        page.get_by_text(
            f"Gold: 3 items with a known label (gold.csv, {old.campaign})"
        )
    ).to_contain_text("told after each")
    click_button(page, "Create campaign")
    arrives(page, of_campaign(new))
    plan = kept_campaign(folder, new).plan
    assert sorted((entry.origin, entry.label) for entry in plan.gold) == [
        ("gold.csv", "wrong"), (old.campaign, "partial"), (old.campaign, "partial"),
    ]  # fmt: skip
    assert plan.gold_feedback
    assert {
        entry.verdict.key for entry in plan.gold if entry.origin == old.campaign
    } < {item.verdict.key for item in old.items[:3]}


def give_file(page: Page, content: str) -> None:
    page.locator("input[type=file]").first.set_input_files(
        {"name": "gold.csv", "mimeType": "text/csv", "buffer": content.encode()}
    )
    settled(page)
