"""Evidence at the desk: what differs is open at once, one key unfolds the rest, and the crash line is marked in it."""

from __future__ import annotations

from playwright.sync_api import expect

from .conftest import OpenPage, Served
from .desk import campaign_of_all, in_sight, press, unique
from .screen import click_button

IN_SIGHT = (
    """part => part.checkVisibility() && !part.closest('details:not([open])')"""
)


def test_evidence_opens_with_what_differs_and_a_key_unfolds_the_rest(
    answered_app: Served, open_page: OpenPage
) -> None:
    plan = campaign_of_all(answered_app, unique("evidence"))
    page = open_page(
        f"{answered_app.address}/annotate?campaign={plan.campaign}&annotator=ana"
    )
    page.wait_for_selector(".cw-desk-card .cw-crash")
    page.keyboard.press("d")
    evidence = page.locator(".cw-desk-evidence")
    expect(evidence.locator(".cw-pair")).to_be_visible()
    changed = evidence.locator(".cw-changed-0, .cw-changed-1").all()
    assert changed
    assert all(
        part.evaluate(IN_SIGHT)
        for part in [*changed, evidence.locator(".cw-crash").first]
    )
    assert evidence.locator("details:not([open])").count() > 0
    page.keyboard.press("e")
    expect(evidence.locator("details:not([open])")).to_have_count(0)
    page.keyboard.press("e")
    expect(evidence.locator("details:not([open])").first).to_be_attached()
    page.keyboard.press("d")
    expect(evidence).to_be_hidden()
    before = in_sight(page)
    press(page, "1")
    page.keyboard.press("e")
    expect(evidence.locator(".cw-pair")).to_be_visible()
    expect(evidence.locator("details:not([open])")).to_have_count(0)
    assert in_sight(page) != before
    click_button(page, "unfold all")
    expect(evidence.locator("details:not([open])").first).to_be_attached()
