"""What stands around every page: name and groups of the menu, search, copied link, glossary, help."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from .conftest import OpenPage, slow
from .screen import (
    MENU,
    TITLES,
    arrives,
    click_button,
    hears_keys,
    query,
    sees,
    settled,
    shows_title,
    wait_for_query,
)

GROUPS = """item => [...document.querySelectorAll(item)]
    .map(found => getComputedStyle(found, '::before').content.match(/^"([^"]+)"/)?.[1])
    .map((name, place) => name && [name, place]).filter(Boolean)"""
OF_MENU = [["Study", 0], ["Label", 4], ["Run", 7]]
NAME = "logo => getComputedStyle(document.querySelector(logo).parentElement, '::after').content"

APART = """width => {
    const bar = document.querySelector('.cw-tools').getBoundingClientRect();
    const links = [...document.querySelectorAll('[data-testid=stTopNavLink]')].map(a => a.getBoundingClientRect());
    return innerWidth === width && bar.right <= width
        && links.every(link => link.right <= bar.left || link.bottom <= bar.top);
}"""
"""Whether the bar stands beside the menu or below it, and on the screen."""


def search(page: Page, words: str) -> None:
    hears_keys(page).keyboard.press("/")
    field = page.get_by_role("combobox", name="Search for")
    expect(field).to_be_focused()
    field.press_sequentially(words)
    field.press("Enter")


@pytest.mark.slow
def test_where_the_menu_has_no_room_it_says_that_the_page_is_among_the_others(
    facts_app: str, open_page: OpenPage
) -> None:
    page = open_page(f"{facts_app}/runs")
    page.set_viewport_size({"width": 768, "height": 900})
    more = page.get_by_test_id("stTopNavSection")
    expect(more).to_have_css("font-weight", "600")
    page.get_by_test_id("stTopNavLink").filter(has_text="Cases").click()
    shows_title(page, TITLES["/cases"])
    expect(more).not_to_have_css("font-weight", "600")


@pytest.mark.parametrize(
    ("path", "terms"),
    [
        ("/results?part=Runtime+state", ["−RT", "+RT"]),
        slow("/ablations", ["+RT", "detection alone", "majority of answers"]),
        slow("/cases", ["−RT", "+RT"]),
        slow("/cases?case=pandas_1", ["+RT", "majority"]),
        slow(
            "/runs?benchmark=junobench&experiment=crane-llm-2025-10&detector=gpt-5&setting=runtime",
            ["+RT"],
        ),
    ],
)
def test_a_term_says_what_it_means_to_pointer_and_keyboard(
    path: str, terms: list[str], facts_app: str, open_page: OpenPage
) -> None:
    page = settled(open_page(facts_app + path))
    found = page.get_by_test_id("stMain").locator("abbr.cw-term")
    expect(found.nth(len(terms) - 1)).to_be_attached()
    assert settled(page) and found.all_inner_texts()[: len(terms)] == terms
    meaning = found.first.get_attribute("title")
    assert meaning
    page.keyboard.press("Tab")
    found.first.focus()
    assert (
        page.evaluate(
            "getComputedStyle(document.activeElement, '::after').content"
        )
        == f'"{meaning}"'
    )


def test_the_bar_searches_copies_and_explains(
    facts_app: str, open_page: OpenPage
) -> None:
    page = settled(
        open_page(
            f"{facts_app}/agreement",
            permissions=["clipboard-read", "clipboard-write"],
        )
    )
    assert (
        page.evaluate(NAME, "[data-testid=stHeaderLogo]") == '"Crane Workbench"'
    )
    assert (
        page.evaluate(GROUPS, "[data-testid=stTopNav] .rc-overflow-item")
        == OF_MENU
    )

    click_button(page, "Copy link")
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == page.url

    page.keyboard.press("?")
    help_ = page.get_by_role("region", name="Help")
    sees(help_, "show this list")
    glossary = help_.locator(".cw-terms")
    sees(glossary, "Code only: the detector reads")
    for term in ("−RT", "+RT", "S", "R", "V", "vote", "strict"):
        expect(glossary.locator("dt", has_text=term).first).to_be_attached()
    with page.expect_popup() as opened:
        page.get_by_role("link", name="Documentation of this page").click()
    expect(opened.value.get_by_text("Cohen's kappa").first).to_be_visible()
    assert (
        opened.value.url
        == f"{facts_app}/docs/researcher/statistics/cohen-kappa.html"
    )
    opened.value.close()
    page.keyboard.press("Escape")
    expect(help_).to_be_hidden()

    search(page, "pandas_8")
    shows_title(page, "pandas_8")
    settled(page).keyboard.press("?")
    expect(help_.locator(".cw-keys dt").first).to_have_text("Esc")
    page.keyboard.press("Escape")
    search(page, "pandas_1 (minibench)")
    shows_title(page, "pandas_1")
    assert query(settled(page)) == {
        "benchmark": ["minibench"],
        "case": ["pandas_1"],
    }
    hears_keys(page).keyboard.press("Control+k")
    page.keyboard.type("torch missed by GPT-5")
    option = page.get_by_role(
        "option", name="torch · missed by all · answers of"
    )
    expect(option).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Enter")
    wait_for_query(page, library="torch", detector="gpt-5", case=None)
    search(page, "KeyError")
    wait_for_query(page, find="KeyError", case=None)
    arrives(page, TITLES["/cases"])

    name = "KeyErrors"
    click_button(settled(page), "Views")
    views = page.get_by_role("region", name="Saved views")
    views.get_by_label("Name of the view").fill(name)
    click_button(views, "Save this view")
    expect(views.get_by_role("link", name=name)).to_be_visible()
    page.keyboard.press("Escape")
    search(page, "results")
    shows_title(page, TITLES["/results"])
    search(page, "keyerrors")
    wait_for_query(page, find="KeyError")
    click_button(settled(page), "Views")
    click_button(views, f"Remove {name}")
    sees(views, "No view is saved yet.")
    page.keyboard.press("Escape")

    for width in (1920, 1440, 1280, 1024, 390):
        page.set_viewport_size({"width": width, "height": 844})
        page.wait_for_function(APART, arg=width)
    page.set_viewport_size({"width": 390, "height": 844})
    page.get_by_test_id("stExpandSidebarButton").click()
    expect(page.get_by_test_id("stSidebarNav")).to_be_visible()
    assert (
        page.evaluate(GROUPS, "[data-testid=stSidebarNavItems] li") == OF_MENU
    )


@pytest.mark.slow
def test_all_pages_are_reached_by_the_keyboard_alone(
    facts_app: str, open_page: OpenPage
) -> None:
    page = open_page(f"{facts_app}/data")
    shows_title(page, TITLES["/data"])
    for name, words in zip(MENU, TITLES.values(), strict=True):
        hears_keys(page).keyboard.press("Control+k")
        page.keyboard.type(name)
        option = page.get_by_role("option", name=name).first
        expect(option).to_have_attribute("aria-selected", "true")
        page.keyboard.press("Enter")
        arrives(page, words)
