"""axe-core over every page, light and dark, with all its rules: no finding of any weight in what we draw."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Literal
from urllib.parse import urlencode

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from .conftest import OpenPage
from .screen import TITLES, settled, title

OF_OTHERS = {
    (
        "svg-img-alt",
        "layer_",
    ): "Vega gives the role of a picture to a layer that has no marks; it draws nothing",
    (
        "presentation-role-conflict",
        "<section",
    ): "Streamlit names the place for a dropped file, which it calls decoration",
}
"""Rule and part of the HTML to the reason why it stands: marks of libraries that no label or style reaches."""
_OTHER = "junobench~crane-llm-2025-10~gpt-5~runtime"
_COMPARED = f"baseline=junobench~crane-llm-2025-10~gpt-5~code&against={_OTHER}"
MORE: dict[str, str | None] = {
    "/cases?benchmark=minibench&case=pandas_1": "pandas_1",
    "/annotate?practice=1": "Practice",
    "/?story=2": "What the live kernel knows before the cell runs",
    "/runs?benchmark=junobench&experiment=crane-llm-2025-10&detector=gpt-5&setting=runtime": None,
    f"/runs?{_COMPARED}": None,
    "/cases?find=out+of+bounds": None,
    "/cases?case=pandas_9": "pandas_9",
    "/?story=3": None,
    "/?story=4": None,
    "/?story=5": None,
    "/nothing_here": "Page not found",
    f"/runs?{_COMPARED}&other={_OTHER}&right=one": None,
    f"/runs?{_COMPARED}&other={_OTHER}&right=other&instance=pandas_8_reproduced": "pandas_8_reproduced",
}

_PARTS = {
    "results": [
        "Runtime state",
        "Kinds of crash",
        "Combinations",
        "Stability",
        "Robustness",
        "One model",
        "Time",
        "Plan",
        "Dates",
        "Paper's tables",
        "Paper's claims",
    ],
    "ablations": ["Kinds of crash", "Cost", "Paper's tables"],
}
MORE |= {
    f"/{name}?{urlencode({'part': part})}": None
    for name, parts in _PARTS.items()
    for part in parts
}


def violations(page: Page) -> list[str]:
    found = Axe().run(page).response["violations"]
    return [
        f"{violation['id']}: {node['html'][:160]}"
        for violation in found
        for node in violation["nodes"]
        if not any(
            violation["id"] == rule and part in node["html"]
            for rule, part in OF_OTHERS
        )
    ]


HEADINGS = """() => [...document.querySelectorAll('h1, h2, h3, h4, h5, h6')]
    .filter(heading => heading.checkVisibility()).map(heading => Number(heading.tagName[1]))"""
CONTRAST = """chosen => {
    const numbers = colour => colour.match(/[0-9.]+/g).map(Number);
    const light = colour => numbers(colour).slice(0, 3).map(part => part / 255)
        .map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
        .reduce((sum, part, place) => sum + part * [0.2126, 0.7152, 0.0722][place], 0);
    const ground = getComputedStyle(document.querySelector('.stApp')).backgroundColor;
    return [...document.querySelectorAll(chosen)].map(one => getComputedStyle(one).color)
        .map(colour => [light(colour), light(ground)].sort((a, b) => b - a))
        .map(([more, less]) => (more + 0.05) / (less + 0.05));
}"""


def skipped(levels: list[int]) -> list[tuple[int, int]]:
    """Neighbours in the list of headings between which a level is left out."""
    return [
        (one, next_) for one, next_ in pairwise([0, *levels]) if next_ > one + 1
    ]


def test_the_open_tab_is_read_in_the_dark(
    facts_app: str, open_page: OpenPage
) -> None:
    page = open_page("about:blank")
    page.emulate_media(color_scheme="dark")
    page.goto(f"{facts_app}/results")
    settled(page)
    chosen = "[role=tab][aria-selected=true] p"
    page.wait_for_selector(chosen)
    assert min(page.evaluate(CONTRAST, chosen)) >= 4.5


@pytest.mark.parametrize(
    ("theme", "pages"),
    [
        pytest.param("light", TITLES, id="light"),
        pytest.param("light", MORE, id="light, more", marks=pytest.mark.slow),
        pytest.param("dark", TITLES | MORE, id="dark", marks=pytest.mark.slow),
    ],
)
def test_every_page_is_accessible(
    theme: Literal["light", "dark"],
    pages: dict[str, Any],
    full_app: str,
    open_page: OpenPage,
) -> None:
    page = open_page("about:blank")
    page.emulate_media(color_scheme=theme)
    missed = {}
    for address, words in pages.items():
        page.goto(full_app + address)
        expect(title(page)).to_have_text(words) if words else expect(
            title(page)
        ).to_be_visible()
        settled(page)
        page.wait_for_selector(".cw-tools")
        found = violations(page)
        levels = page.evaluate(HEADINGS)
        if left_out := skipped(levels):
            found.append(f"headings {levels} leave out {left_out}")
        if found:
            missed[address] = found
    assert missed == {}
