"""Deciding by keys: every key counts for the item that was on the screen, however fast it comes."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from crane_core.annotation.plan import Plan
from crane_core.pipeline.campaigns.campaigns import decisions_of
from crane_core.pipeline.campaigns.disputes import disputes
from tests.given_labels import give_labels

from .conftest import OpenPage, Served
from .desk import LABELS, SAVED, campaign_of_all, unique
from .screen import sees

N_ITEMS = 12
SHOWN = "document.querySelector('.cw-decide').dataset.item"
NOTE_KEYS = """() => { window.pressed = []; addEventListener('keydown', event => window.pressed.push(
    [document.querySelector('.cw-decide').dataset.item, event.key]), {capture: true}); }"""


def disagree(app: Served) -> Plan:
    """A campaign whose two annotators say opposite things of the first items."""
    plan = campaign_of_all(app, unique("disputed"))
    items = sorted(item.item for item in plan.items)[:N_ITEMS]
    for who, label in (("ana", "correct"), ("ben", "wrong")):
        give_labels(app.folder, plan.campaign, who, dict.fromkeys(items, label))
    return plan


def open_deciding(page: Page, app: Served, plan: Plan) -> Page:
    page.goto(f"{app.address}/campaigns?campaign={plan.campaign}&decide=next")
    page.wait_for_selector(".cw-decide .cw-card")
    return page


def test_keys_as_fast_as_items_change_are_decisions_of_the_items_in_sight(
    answered_app: Served, open_page: OpenPage
) -> None:
    plan = disagree(answered_app)
    page = open_deciding(open_page("about:blank"), answered_app, plan)
    page.get_by_label("Who decides", exact=True).fill("cleo")
    page.get_by_label("Who decides", exact=True).blur()
    page.evaluate(NOTE_KEYS)
    for place in range(N_ITEMS):
        for key in ("123"[place % 3], "45678"[place % 5], "Enter"):
            page.keyboard.press(key)
    sees(page, "No disagreements to resolve.")
    page.wait_for_function(SAVED)
    pressed = page.evaluate("window.pressed")
    folder = answered_app.folder
    wanted: dict[str, list[str]] = {}
    for item, key in pressed:
        wanted.setdefault(item, []).append(key)
    assert len(wanted) == N_ITEMS
    reasons = dict(zip("45678", "abcde", strict=True))
    decided = {
        item: [str(one.label), one.reason, one.annotator]
        for item, one in decisions_of(folder, plan).items()
    }
    assert decided == {
        item: [LABELS[keys[0]], reasons[keys[1]], "cleo"]
        for item, keys in wanted.items()
    }
    files = folder.ledger.rglob(f"{plan.campaign}/**/cleo.jsonl")
    assert (
        sum(len(file.read_text("utf-8").splitlines()) for file in files)
        >= N_ITEMS
    )
    assert all(dispute.decision for dispute in disputes(folder, plan))


@pytest.mark.slow
def test_evidence_has_the_keys_of_the_desk_and_an_item_is_put_off(
    answered_app: Served, open_page: OpenPage
) -> None:
    plan = disagree(answered_app)
    page = open_deciding(open_page("about:blank"), answered_app, plan)
    evidence = page.locator(".cw-desk-evidence")
    expect(evidence.locator(".cw-pair")).to_be_visible()
    page.keyboard.press("e")
    expect(evidence.locator("details:not([open])")).to_have_count(0)
    page.keyboard.press("d")
    expect(evidence).to_be_hidden()
    first = page.evaluate(SHOWN)
    page.keyboard.press("s")
    assert page.evaluate(SHOWN) != first
    page.keyboard.press("Enter")
    expect(page.locator(".cw-decide-told")).to_contain_text(
        "a label, a reason, and who decides"
    )
    page.get_by_label("Note", exact=True).fill("2 of 3")
    expect(page.locator("[data-act^=label-][aria-pressed=true]")).to_have_count(
        0
    )
    sees(page, f"{N_ITEMS} of {N_ITEMS} wait for a decision")
    assert decisions_of(answered_app.folder, plan) == {}
