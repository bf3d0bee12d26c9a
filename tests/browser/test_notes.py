"""Tags and comments by hand: written on a pair, found in the list, removed and brought back."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from .conftest import OpenPage, StartApp
from .screen import click_button, fill, sees, settled, shows_title

PAIR = "cases?benchmark=minibench&case=pandas_1"


def test_a_tag_and_a_comment_are_kept_found_and_removed(
    start_app: StartApp, open_page: OpenPage
) -> None:
    address = start_app()
    page = open_page(f"{address}/{PAIR}")
    shows_title(page, "pandas_1")
    add_tag(settled(page), "off by one")
    write_comment(page, "<b>see</b> cell 2")
    notes = page.locator(".st-key-notes")
    expect(notes.locator(".cw-note-text")).to_have_text("<b>see</b> cell 2")
    sees(page, "1 tag, 1 comment")

    page = open_page(f"{address}/cases?benchmark=minibench&tag=off+by+one")
    chips = page.locator(".st-key-case_chips")
    expect(
        chips.get_by_role("button", name="Tag: off by one ✕")
    ).to_be_visible()
    expect(page.locator(".cw-cases tr[data-case] th")).to_have_count(1)
    expect(page.locator(".cw-cases .cw-tag")).to_have_text("off by one")

    page = open_page(f"{address}/{PAIR}")
    shows_title(page, "pandas_1")
    notes = settled(page).locator(".st-key-note_tags")
    notes.get_by_role("button", name="off by one ✕").click()
    expect(notes.get_by_role("button", name="off by one")).to_have_count(0)
    settled(page).get_by_text("Removed notes (1)").click()
    click_button(page, "Restore")
    expect(notes.get_by_role("button", name="off by one ✕")).to_be_visible()


def add_tag(page: Page, words: str) -> None:
    page.get_by_role("button", name="Add tag").click()
    field = page.get_by_role("combobox", name="Tag")
    field.fill(words)
    field.press("Enter")
    # Blurred, so that the list of words cannot cover the button.
    field.blur()
    click_button(settled(page), "Add", exact=True)
    tag = page.locator(".st-key-note_tags").get_by_role("button", name=words)
    expect(tag).to_be_visible()


def write_comment(page: Page, text: str) -> None:
    # Drawn again for the new tag, the page would close what was opened meanwhile.
    click_button(settled(page), "Write", exact=True)
    fill(page, "Comment; @name mentions a person", text)
    click_button(page, "Save")
