"""The guideline on the page is the campaign's own, and its version is what labels are stored with."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from crane_core.annotation.draw import CampaignRequest, draw_plan
from crane_core.annotation.guideline import version_of
from crane_core.annotation.plan import Design, DrawKind, Plan
from crane_core.pipeline.campaigns.campaigns import (
    acts_of,
    keep_campaign,
    population,
)
from crane_core.pipeline.campaigns.export.files import export_files
from crane_core.pipeline.campaigns.guideline import (
    change_guideline,
    current_guideline,
)

from .conftest import OpenPage, Served
from .desk import (
    OWN_ANSWERS,
    READY,
    SAVED,
    open_desk,
    press,
    press_ready,
    unique,
)
from .screen import settled

pytestmark = pytest.mark.browser

ANSWERED_WITH = "version => document.querySelector('.cw-desk').cwDesk.snapshot.guideline === version"
OLD = "Judge the cause that the text names."


def campaign_with(app: Served, guideline: str) -> Plan:
    """A campaign of ana alone with this guideline."""
    verdicts, left_out = population(app.store, OWN_ANSWERS)
    wish = CampaignRequest(
        unique("guided"), ("ana",), OWN_ANSWERS, Design(DrawKind.ALL), seed=7
    )
    created_at = "2026-11-21T10:00:00+00:00"
    plan = draw_plan(
        wish,
        verdicts,
        guideline=guideline,
        created_at=created_at,
        left_out=left_out,
    )
    keep_campaign(app.folder, plan)
    return plan


@pytest.mark.slow
def test_a_campaign_keeps_its_guideline_when_the_program_has_another(
    answered_app: Served, open_page: OpenPage
) -> None:
    text = "Judge as it was agreed when this campaign began."
    plan = campaign_with(answered_app, text)
    page = open_desk(
        open_page("about:blank"), answered_app.address, plan.campaign
    )
    press_ready(page, "1")
    page.wait_for_function(SAVED)
    page.get_by_role("button", name="Guideline").click()
    expect(page.get_by_text(text)).to_be_visible()
    expect(page.get_by_text("Your task.")).to_have_count(0)
    expect(
        page.get_by_text(f"version {version_of(text)}, stored with every label")
    ).to_be_visible()
    assert [
        act.guideline for act in acts_of(answered_app.folder, plan, "ana")
    ] == [version_of(text)]


def label(page: Page, key: str) -> None:
    """Press the key of a label, and wait until the next item stands and the server has answered."""
    press(page, key)
    page.wait_for_function(SAVED)


@pytest.mark.slow
def test_an_annotator_is_told_of_a_change_and_labels_carry_the_version_they_were_given_under(
    answered_app: Served, open_page: OpenPage
) -> None:
    """The lead stores a new version on the page while an annotator labels; both versions are in the export."""
    folder = answered_app.folder
    plan = campaign_with(answered_app, f"{OLD}\n")
    page = open_desk(
        open_page("about:blank", color_scheme="dark"),
        answered_app.address,
        plan.campaign,
    )
    news, changes = (
        page.locator(".cw-desk-news"),
        page.locator(".cw-desk-changes"),
    )
    label(page, "1")
    lead = open_page(
        f"{answered_app.address}/campaigns?campaign={plan.campaign}&part=People+and+guideline",
        color_scheme="light",
    )
    lead.get_by_text("Change the guideline").click()
    lead.get_by_label("Text, Markdown").fill(
        f"{OLD} Symptoms alone are partial."
    )
    lead.get_by_label("Author").fill("lea")
    expect(lead.locator(".cw-prose .cw-word").first).to_have_text(
        re.compile("Symptoms")
    )
    lead.get_by_role("button", name="Store new version").click()
    expect(lead.get_by_text(re.compile("^Changed .* by lea$"))).to_be_visible()
    second = current_guideline(folder, plan)

    label(
        page, "2"
    )  # this item was shown before the answer that told of the change
    page.wait_for_function(ANSWERED_WITH, arg=second.version)
    page.wait_for_function(READY)
    expect(news).to_be_hidden()
    label(page, "3")
    expect(news).to_contain_text("The guideline has changed.")
    page.keyboard.press("g")
    expect(changes).to_contain_text("Symptoms alone are partial.")
    expect(changes).to_contain_text("lea, ")
    page.keyboard.press("Escape")
    expect(changes).to_be_hidden()
    expect(news).to_be_hidden()
    label(page, "1")
    settled(page)
    page.get_by_role("button", name="Guideline").click()
    expect(
        page.get_by_text(f"version {second.version}, stored with every label")
    ).to_be_visible()
    page.get_by_text(
        re.compile(f"Version {plan.guideline}, until .*: 3 of your labels")
    ).click()
    expect(
        page.get_by_test_id("stExpanderDetails").get_by_text(OLD, exact=True)
    ).to_be_visible()

    versions = [act.guideline for act in acts_of(folder, plan, "ana")]
    assert versions == [*[plan.guideline] * 3, second.version]
    again = open_desk(page, answered_app.address, plan.campaign)
    expect(again.locator(".cw-desk-news")).to_be_hidden()
    change_guideline(folder, plan.campaign, "Judge again.", by="lea")
    expect(
        open_desk(page, answered_app.address, plan.campaign).locator(
            ".cw-desk-news"
        )
    ).to_be_visible()
    files = export_files(folder, plan.campaign)
    assert (
        b"".join(files[f"guideline-{plan.guideline}.md"]())
        == f"{OLD}\n".encode()
    )
    assert (
        b"".join(files[f"guideline-{second.version}.md"]())
        == second.text.encode()
    )
