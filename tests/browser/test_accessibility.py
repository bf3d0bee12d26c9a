"""axe-core over every page, light and dark: nothing that WCAG 2.2 asks for at A or AA is missed in what we draw."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from .conftest import OpenPage, slow
from .screen import TITLES, settled, title

LEVELS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
OF_OTHERS = {
    (
        "svg-img-alt",
        "layer_",
    ): "Vega gives the role of a picture to a layer that has no marks; it draws nothing",
}
"""Rule and part of the HTML to the reason why it stands: marks of libraries that no label or style reaches."""
MORE = {
    "/cases?benchmark=minibench&case=pandas_1": "pandas_1",
    "/annotate?practice=1": "Practice",
    "/runs?benchmark=junobench&experiment=crane-llm-2025-10&detector=gpt-5&setting=runtime": None,
}


def violations(page: Page) -> list[str]:
    found = Axe().run(page, options={"runOnly": LEVELS}).response["violations"]
    return [
        f"{violation['id']}: {node['html'][:160]}"
        for violation in found
        for node in violation["nodes"]
        if not any(
            violation["id"] == rule and part in node["html"]
            for rule, part in OF_OTHERS
        )
    ]


@pytest.mark.parametrize("theme", ["light", slow("dark")])
def test_every_page_is_accessible(
    theme: str, full_app: str, open_page: OpenPage
) -> None:
    page = open_page("about:blank", color_scheme=theme)
    missed = {}
    for address, words in (TITLES | MORE).items():
        page.goto(full_app + address)
        expect(title(page)).to_have_text(words) if words else expect(
            title(page)
        ).to_be_visible()
        settled(page)
        page.wait_for_selector(".cw-tools")
        if found := violations(page):
            missed[address] = found
    assert missed == {}
