"""A flagged item: the lead answers, the annotator finds the answer at the desk and in My items, and resolves it."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from crane_core.annotation.thread import ThreadState
from crane_core.pipeline.campaigns.labelling import LabelStore
from crane_core.pipeline.campaigns.threads import all_threads, messages_of

from .conftest import OpenPage, Served
from .desk import campaign_of_all, unique
from .screen import click_button, click_row, sees, settled, shows_title


@pytest.mark.slow
def test_a_question_is_answered_read_and_resolved(
    open_page: OpenPage, answered_app: Served
) -> None:
    address, folder = answered_app.address, answered_app.folder
    plan = campaign_of_all(answered_app, unique("asked"))
    showing = plan.orders["ana"][0]
    about = {"item": showing.item, "showing": showing.showing}
    acts = [
        {"event": "ana-flag-1", "action": "flag"} | about,
        {"event": "ana-note-1", "action": "note", "note": "two <b>causes</b>?"}
        | about,
    ]
    assert LabelStore(folder, plan.campaign).take("ana", acts).refused == {}
    page = open_page(f"{address}/campaigns?campaign={plan.campaign}")
    listed = page.locator(".cw-plain tbody tr")
    expect(listed).to_have_count(1)
    expect(listed.locator("[data-head=Note]")).to_have_text(
        "two <b>causes</b>?"
    )
    sees(page, "1 open, 0 answered, 0 resolved.")
    sees(page, "1 flagged item comes up for a decision once labelled by all.")
    settled(page)
    listed.get_by_role("link").click()
    shows_title(page, "The item that ana flagged waits for an answer")
    sees(page, "Note: two <b>causes</b>?")
    expect(page.locator(".cw-card")).to_be_visible()
    page.get_by_label("Message", exact=True).fill("The first <i>one</i>.")
    page.get_by_label("Your name").fill("lea")
    click_button(page, "Send")
    expect(page.locator(".cw-message")).to_contain_text("The first <i>one</i>.")
    page.goto(f"{address}/annotate?campaign={plan.campaign}&annotator=ana")
    expect(page.locator(".cw-desk-thread")).to_contain_text(
        "The first <i>one</i>."
    )
    expect(page.locator(".cw-desk-answers")).to_have_text(
        "The lead answered one of your items: see My items."
    )
    page.goto(f"{address}/annotate?campaign={plan.campaign}&annotator=ben")
    expect(page.locator(".cw-desk .cw-card")).to_be_visible()
    expect(page.locator(".cw-desk-thread")).to_be_hidden()
    page.goto(
        f"{address}/annotate?campaign={plan.campaign}&annotator=ana&own=list"
    )
    sees(page, "The lead answered 1 of your items")
    click_row(settled(page), 0)
    expect(page.locator(".cw-message")).to_contain_text("The first <i>one</i>.")
    click_button(page, "Resolve")
    sees(page, "resolved it")
    assert [thread.state for thread in all_threads(folder, plan).threads] == [
        ThreadState.RESOLVED
    ]
    assert [
        message.written_by for message in messages_of(folder, plan.campaign)
    ] == [
        "lea",
        "ana",
    ]
