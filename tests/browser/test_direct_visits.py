"""The first visit to a fresh server may be to any page's own address: it shows that page, in the app's own frame.

Streamlit would run a page file alone, without menu, style and access check, as a pages/ folder stands beside the app
and nobody has been at "/" yet; the app tells it not to.
"""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from .conftest import PASSWORD, OpenPage, Served, StartApp, slow
from .screen import (
    MENU,
    TITLES,
    arrives,
    click_button,
    menu,
    path,
    query,
    sees,
    settled,
    shows_title,
    title,
)

_RUN_TITLE = "GPT-5, +RT is right on 179 of 222 instances"
FIRST_VISITS = {
    "/cases?benchmark=minibench&case=pandas_1": "pandas_1",
    "/results?credit=detection+only": re.compile("has the highest accuracy"),
    "/try_a_notebook?pair=numpy_1_reproduced": re.compile("^Code cell"),
    "/runs?benchmark=junobench&experiment=crane-llm-2025-10&detector=gpt-5&setting=runtime": _RUN_TITLE,
}


FIRST, *MORE = FIRST_VISITS
FOREIGN_MENU = """() => {
    window.foreignMenus = 0;
    new MutationObserver(() => {
        const names = [...document.querySelectorAll('[data-testid=stSidebarNavLink]')].map(link => link.innerText);
        window.foreignMenus += names.includes('app') || names.includes('overview');
    }).observe(document, {childList: true, subtree: true});
}"""
"""Counts the moments in which a menu shows that Streamlit makes of the files of pages."""


def is_framed(page: Page) -> bool:
    """Whether the app's own sheet of styles is in force."""
    variable = "getComputedStyle(document.querySelector('.stApp')).getPropertyValue('--cw-mono')"
    return bool(page.evaluate(variable).strip())


@pytest.mark.slow
@pytest.mark.parametrize("address", [FIRST, *(slow(one) for one in MORE)])
def test_the_first_visit_of_a_fresh_server_may_be_a_deep_link(
    address: str, start_app: StartApp, open_page: OpenPage
) -> None:
    page = open_page("about:blank", color_scheme="light")
    page.add_init_script(f"({FOREIGN_MENU})()")
    page.goto(start_app() + address)
    arrives(page, FIRST_VISITS[address])
    assert menu(page) == MENU
    assert page.evaluate("window.foreignMenus") == 0
    assert (
        page.locator(
            "[data-testid=stSidebar], [data-testid=stSidebarNav]"
        ).count()
        == 0
    )
    assert is_framed(page)
    assert page.url.endswith(address)
    assert page.get_by_test_id("stException").count() == 0


def test_an_address_that_names_no_page_says_so_and_offers_the_one_that_was_meant(
    facts_app: str, open_page: OpenPage
) -> None:
    app = facts_app
    page = open_page(f"{app}/casess")
    shows_title(page, "Page not found")
    sees(page, "The address ends in 'casess', which is not the name of a page.")
    settled(page)
    assert menu(page) == MENU
    page.get_by_test_id("stPageLink").get_by_text("Open Cases").click()
    shows_title(page, TITLES["/cases"])
    page.goto(f"{app}/nothing_here")
    shows_title(page, "Page not found")
    page.get_by_test_id("stPageLink").get_by_text("Open the start page").click()
    shows_title(page, TITLES["/"])
    assert path(page) == "/"
    page.goto(f"{app}/pair?pair=pandas_1_reproduced")
    page.get_by_test_id("stPageLink").get_by_text("Open pandas_1").click()
    shows_title(page, "pandas_1")


def test_a_path_below_cases_opens_the_case(
    facts_app: str, open_page: OpenPage
) -> None:
    page = open_page(f"{facts_app}/cases/minibench/pandas_1")
    shows_title(page, "pandas_1")
    assert query(page) == {"benchmark": ["minibench"], "case": ["pandas_1"]}


@pytest.mark.slow
def test_the_start_page_may_be_named_as_the_menu_names_it(
    start_app: StartApp, open_page: OpenPage
) -> None:
    page = open_page(f"{start_app()}/overview")
    shows_title(page, TITLES["/"])


def test_a_direct_visit_does_not_pass_by_the_password(
    locked_app: Served, open_page: OpenPage
) -> None:
    page = open_page(
        f"{locked_app.address}/cases?benchmark=minibench&case=pandas_1"
    )
    asked = page.get_by_label("Password", exact=True)
    expect(asked).to_be_visible()
    settled(page)
    assert "pandas_1" not in page.get_by_test_id("stMain").inner_text()
    assert (
        page.locator(".cw-facts, .cw-pair, [data-testid=stDataFrame]").count()
        == 0
    )

    asked.fill(PASSWORD.replace("é", "e"))
    click_button(page, "Open")
    sees(page, "That is not the password.")
    assert page.locator(".cw-facts, .cw-pair").count() == 0

    asked.fill(PASSWORD)
    click_button(page, "Open")
    shows_title(page, "pandas_1")
    expect(page.locator(".cw-pair")).to_be_visible()
    assert query(page) == {"benchmark": ["minibench"], "case": ["pandas_1"]}


@pytest.mark.slow
def test_no_page_shows_anything_before_the_password(
    locked_app: Served, open_page: OpenPage
) -> None:
    for address in TITLES:
        page = open_page(locked_app.address + address)
        expect(page.get_by_label("Password", exact=True)).to_be_visible()
        settled(page)
        assert title(page).all_inner_texts() == ["Crane Workbench"]
        assert (
            page.locator(
                "[data-testid=stDataFrame], [data-testid=stVegaLiteChart], .cw-numbers"
            ).count()
            == 0
        )


@pytest.mark.slow
def test_a_file_can_be_uploaded_after_the_password(
    locked_app: Served, open_page: OpenPage
) -> None:
    page = open_page(f"{locked_app.address}/data")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    click_button(page, "Open")
    form_of_a_case = "[data-testid=stExpander]"
    page.locator(
        f"[data-testid=stFileUploaderDropzoneInput]:not({form_of_a_case} *)"
    ).set_input_files(
        {
            "name": "mine.jsonl",
            "mimeType": "application/octet-stream",
            "buffer": b"{}",
        }
    )
    expect(page.get_by_role("button", name="Import 1 file")).to_be_visible()
