"""Links: a value that is not offered is named, and the keyboard's place on links, menu and buttons is seen."""

from __future__ import annotations

import re
from typing import Literal

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenPage, slow
from tests.browser.screen import settled

from .screen import reads, sees

GPT = "/runs?benchmark=junobench&experiment=crane-llm-2025-10&detector=gpt-5&setting=runtime"
NOT_OFFERED = "The address names what is not offered here"


@pytest.mark.parametrize(
    ("address", "named"),
    [
        slow("/results?vote=velocity", "velocity"),
        ("/cases?benchmark=nowhere", "Benchmark nowhere"),
        slow("/cases?library=fortran&library=numpy", "fortran"),
        slow(f"{GPT}&only=%3Cb%3Ebold", "Instances <b>bold"),
    ],
)
def test_a_value_of_a_link_that_is_not_offered_is_named(
    facts_app: str, open_page: OpenPage, address: str, named: str
) -> None:
    page = settled(open_page(facts_app + address))
    told = page.get_by_text(NOT_OFFERED)
    expect(told).to_have_count(1)
    expect(told).to_contain_text(named)


@pytest.mark.slow
def test_a_part_that_is_a_page_is_one_click_away(
    facts_app: str, open_page: OpenPage
) -> None:
    page = settled(open_page(f"{facts_app}/results?part=Ablations"))
    expect(page.get_by_text(NOT_OFFERED)).to_contain_text("part Ablations")
    page.get_by_role("link", name="Open Ablations").click()
    page.wait_for_url(re.compile("/ablations"))


@pytest.mark.slow
def test_a_link_whose_values_are_all_offered_says_nothing(
    facts_app: str, open_page: OpenPage
) -> None:
    page = settled(open_page(f"{facts_app}{GPT}&only=runs differ"))
    sees(page, "Instances", exact=True)
    expect(page.get_by_text(NOT_OFFERED)).to_have_count(0)


@pytest.mark.slow
def test_a_link_of_before_keeps_its_vote_rule(
    facts_app: str, open_page: OpenPage
) -> None:
    page = settled(open_page(f"{facts_app}/results?vote=mean+of+runs"))
    reads(page, "Mean of answers")
    expect(page.get_by_text(NOT_OFFERED)).to_have_count(0)


@pytest.mark.parametrize("scheme", ["light", slow("dark")])
def test_the_place_of_the_keyboard_is_seen(
    facts_app: str, open_page: OpenPage, scheme: Literal["light", "dark"]
) -> None:
    page = open_page("about:blank")
    page.emulate_media(color_scheme=scheme)
    page.goto(facts_app)
    settled(page)
    unseen, met = [], set()
    for _ in range(30):
        page.keyboard.press("Tab")
        name, outline = page.evaluate(
            """() => { const at = document.activeElement, look = getComputedStyle(at);
              return [`${at.tagName} ${at.textContent.trim().slice(0, 40)}`,
                at.matches('a, button, summary') ? `${look.outlineStyle} ${look.outlineWidth}` : null] }"""
        )
        met.add(name.split()[0])
        if outline is not None and not outline.startswith("solid 2"):
            unseen.append((name, outline))
    assert {"A", "BUTTON"} <= met
    assert unseen == []
