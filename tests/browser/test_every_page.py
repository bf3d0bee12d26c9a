"""Every page, with and without the published texts, light and dark, wide and narrow: nothing fails, nothing sticks out.

That no request leaves this machine and no error is logged holds for every test here: see conftest.
"""

from __future__ import annotations

from contextlib import suppress
from itertools import pairwise

import pytest
from playwright.sync_api import Page, TimeoutError, expect

from .conftest import OpenPage, slow
from .screen import MENU, TITLES, menu, settled, shows_title, visit

WIDTHS = (1440, 800)
GROUND = {"light": "rgb(252, 252, 251)", "dark": "rgb(20, 24, 26)"}
"""Background of the two themes in .streamlit/config.toml."""
PAIRS = {
    "/cases?benchmark=minibench&case=pandas_1": "pandas_1",
    "/cases?case=pandas_8": "pandas_8",
}


@pytest.fixture(params=[slow("facts_app"), "full_app"])
def app(request: pytest.FixtureRequest) -> str:
    return str(request.getfixturevalue(request.param))


OVERFLOW = """() => Math.max(...[document.documentElement, document.querySelector('[data-testid=stMain]')]
    .map(box => box.scrollWidth - box.clientWidth))"""
"""Pixels by which the page's body can be scrolled sideways."""


def overflow(page: Page, width: int) -> int:
    """That overflow at a window of `width` pixels, once the charts have followed it (or have had time to)."""
    page.set_viewport_size({"width": width, "height": 900})
    with suppress(TimeoutError):
        page.wait_for_function(
            f"width => innerWidth === width && ({OVERFLOW})() <= 0",
            arg=width,
            timeout=3_000,
        )
    return int(page.evaluate(OVERFLOW))


def test_every_page_loads_whole(app: str, open_page: OpenPage) -> None:
    page = open_page(app)
    for address, words in (TITLES | PAIRS).items():
        page.goto(app + address)
        shows_title(page, words)
        for theme, ground in GROUND.items():
            page.emulate_media(color_scheme=theme)
            expect(page.locator(".stApp")).to_have_css(
                "background-color", ground
            )
            settled(page)
            assert page.get_by_test_id("stException").all_inner_texts() == [], (
                address
            )
            assert (
                page.get_by_test_id("stAlertContentError").all_inner_texts()
                == []
            ), address
        assert menu(page) == MENU
        for width in WIDTHS:
            assert overflow(page, width) <= 0, f"{address} at {width} px"


def test_the_menu_leads_to_every_page(
    facts_app: str, open_page: OpenPage
) -> None:
    page = open_page(facts_app)
    shows_title(page, TITLES["/"])
    for name in MENU[1:]:
        visit(page, name)
        # Tabs, history and bookmarks tell the pages apart.
        expect(page).to_have_title(f"{name} · Crane Workbench")


WHOLE = """where => {
    const main = document.querySelector('[data-testid=stMain]');
    const isDrawn = chart => chart.querySelector('g.role-mark > *');
    return !main.querySelector('[data-testid=stException], [data-testid=stAlertContentError]')
        && [...main.querySelectorAll('[data-testid=stVegaLiteChart]')].every(isDrawn);
}"""
"""Whether no error is shown and every chart has marks; the argument says where, when the wait for it ends in vain."""


def walk() -> list[str]:
    """Pages in an order that has every page right after every other once: an Eulerian circuit of all ordered pairs."""
    left = {name: [other for other in MENU if other != name] for name in MENU}
    trail, circuit = [MENU[0]], []
    while trail:
        if left[trail[-1]]:
            trail.append(left[trail[-1]].pop())
        else:
            circuit.append(trail.pop())
    return circuit[::-1]


@pytest.mark.slow
def test_every_page_is_whole_after_every_other(
    facts_app: str, open_page: OpenPage
) -> None:
    steps = walk()
    assert len(set(pairwise(steps))) == len(steps) - 1 == 90
    page = settled(open_page(facts_app))
    for before, name in pairwise(steps):
        visit(page, name)
        page.wait_for_function(WHOLE, arg=f"{name} after {before}")
