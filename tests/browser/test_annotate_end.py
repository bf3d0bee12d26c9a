"""The last items of a desk: a campaign is labelled to its end, put off, taken back, opened again."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from crane_core.annotation.draw import CampaignRequest
from crane_core.annotation.plan import Design, DrawKind, Plan, Population
from crane_core.pipeline.campaigns.campaigns import (
    drawn_plan,
    journal_of,
    keep_campaign,
    lock_campaign,
)
from crane_core.pipeline.campaigns.rounds import open_main
from crane_core.pipeline.places import DataFolder

from .conftest import OpenPage, Served
from .desk import (
    ITEM,
    SAVED,
    campaign_of_all,
    in_sight,
    press,
    press_ready,
    shown_item,
)
from .desk import open_desk as open_first

NAME = "short"
CALIBRATED = "calibrated"


@pytest.fixture(scope="module")
def folder(study_app: Served) -> DataFolder:
    return study_app.folder


@pytest.fixture(scope="module")
def plan(study_app: Served) -> Plan:
    """Few items: all detected crashes of one library. Another campaign of them begins with a calibration round."""
    of_one_library = Population(
        "junobench", "crane-llm-2025-10", libraries=("seaborn",)
    )
    calibrated = CampaignRequest(
        CALIBRATED,
        ("ana", "ben"),
        of_one_library,
        Design(DrawKind.ALL, calibration=2),
        seed=7,
    )
    keep_campaign(study_app.folder, drawn_plan(study_app.store, calibrated))
    return campaign_of_all(study_app, NAME, of_one_library)


@pytest.fixture(scope="module")
def app(study_app: Served, plan: Plan) -> str:
    return study_app.address


def open_desk(page: Page, app: str, annotator: str) -> Page:
    page.goto(f"{app}/annotate?campaign={NAME}&annotator={annotator}")
    page.wait_for_selector(".cw-desk .cw-desk-card > *")
    return page


def leave(page: Page, plan: Plan, annotator: str, n: int) -> None:
    """Label or take back until so many items are left, whatever was labelled before."""
    done = int(page.locator(".cw-desk").get_attribute("data-done") or 0)
    more = len(plan.orders[annotator]) - n - done
    for _ in range(abs(more)):
        press(page, "1" if more > 0 else "u")
    page.wait_for_function(SAVED)


@pytest.mark.slow
def test_a_desk_is_whole_at_its_end_and_when_opened_again(
    app: str, folder: DataFolder, plan: Plan, open_page: OpenPage
) -> None:
    page = open_desk(open_page(app), app, "ana")
    n = len(plan.orders["ana"])
    leave(page, plan, "ana", 0)
    end = page.get_by_text(f"All {n} items are labelled.")
    expect(end).to_be_visible()
    open_desk(page, app, "ana")
    expect(end).to_be_visible()
    expect(page.locator(".cw-desk-progress")).to_have_text(f"{n} of {n}")
    press_ready(page, "u")
    expect(page.locator(".cw-desk-last")).to_contain_text("Undone")
    press_ready(page, "2")
    page.wait_for_function(SAVED)
    expect(end).to_be_visible()
    assert journal_of(folder, plan, "ana").is_finished()


@pytest.mark.slow
def test_an_item_put_off_at_the_end_is_never_called_labelled(
    app: str, folder: DataFolder, plan: Plan, open_page: OpenPage
) -> None:
    page = open_desk(open_page(app), app, "ben")
    leave(page, plan, "ben", 1)
    last = in_sight(page)
    page.evaluate(
        "() => { window.told = []; const card = document.querySelector('.cw-desk-card'); new MutationObserver("
        "() => window.told.push(card.innerText)).observe(card, {childList: true}); }"
    )
    press_ready(page, "s")
    expect(page.locator(".cw-desk-progress")).to_contain_text("1 skipped")
    assert in_sight(page) == last
    assert not [
        text for text in page.evaluate("window.told") if "are labelled" in text
    ]


@pytest.mark.slow
def test_a_note_is_kept_by_whoever_labels_with_the_mouse_while_it_is_open(
    app: str, folder: DataFolder, plan: Plan, open_page: OpenPage
) -> None:
    page = open_desk(open_page(app), app, "ben")
    leave(page, plan, "ben", 1)
    name, item = in_sight(page), shown_item(page, folder, NAME, "ben")
    page.keyboard.press("n")
    page.keyboard.type("half a thought")
    page.locator("[data-act=label-wrong]").click()
    page.wait_for_function(f"before => {ITEM} !== before", arg=name)
    page.wait_for_function(SAVED)
    journal = journal_of(folder, plan, "ben")
    assert {showing.item: note for showing, note in journal.notes.items()} == {
        item: "half a thought"
    }
    assert journal.labelled[-1].item == item


@pytest.mark.slow
def test_a_desk_works_where_the_browser_grants_no_secure_context(
    app: str, folder: DataFolder, plan: Plan, open_page: OpenPage
) -> None:
    """Over plain http from another machine a browser has no crypto.randomUUID."""
    page = open_page(
        app, color_scheme="light"
    )  # its own browser: the script stays with the tab
    page.add_init_script("delete Crypto.prototype.randomUUID")
    open_desk(page, app, "ben")
    assert page.evaluate("crypto.randomUUID") is None
    leave(page, plan, "ben", 1)
    press_ready(page, "u")
    expect(page.locator(".cw-desk-last")).to_contain_text("Undone")
    page.wait_for_function(SAVED)


@pytest.mark.slow
def test_a_finished_desk_of_a_locked_campaign_offers_nothing_that_is_refused(
    app: str, folder: DataFolder, plan: Plan, open_page: OpenPage
) -> None:
    page = open_desk(open_page(app), app, "ana")
    leave(page, plan, "ana", 0)
    lock_campaign(folder, NAME, by="ana")
    open_desk(page, app, "ana")
    expect(page.locator(".cw-desk-end")).to_contain_text(
        "You can close this page."
    )
    expect(page.locator(".cw-desk-end")).not_to_contain_text(
        "undo the last label"
    )
    expect(page.locator(".cw-desk-last")).to_contain_text("Locked by ana")


@pytest.mark.slow
def test_the_end_of_calibration_says_what_follows(
    app: str, folder: DataFolder, open_page: OpenPage
) -> None:
    page = open_first(open_page(app), app, CALIBRATED)
    press(page, "1")
    press(page, "2")
    end = page.locator(".cw-desk-end")
    expect(end).to_contain_text("All 2 items are labelled.")
    expect(end).to_contain_text("This was the calibration round.")
    expect(end).to_contain_text("Then the lead opens the main round")
    page.wait_for_function(SAVED)
    open_main(folder, CALIBRATED, by="lea")
    page.reload()
    page.wait_for_selector(".cw-desk .cw-card")
    expect(end).to_have_count(0)
