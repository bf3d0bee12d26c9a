"""Ablations: drops around zero with their cases one click away, and what an answer costs."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from .conftest import OpenPage
from .screen import (
    TITLES,
    click_mark,
    count_line,
    query,
    right_of_rules,
    rounded,
    sees,
    settled,
    shows_title,
    texts,
)

DEFAULT = "/ablations"
MINIBENCH = "/ablations?benchmark=minibench&kind=rules"


@pytest.fixture
def shown(facts_app: str, open_page: OpenPage) -> Page:
    return settled(open_page(f"{facts_app}{DEFAULT}"))


def test_the_study_stands_beside_what_is_only_printed(shown: Page) -> None:
    finding = shown.get_by_text(
        "Among the changes that are only printed, the largest is −8.1 pp"
    )
    expect(finding).to_contain_text(
        "for Qwen2.5-32B-Instruct without representation"
    )
    sees(shown, "no such runs are loaded")
    chart = shown.get_by_test_id("stVegaLiteChart").first
    for words in ("−3.6", "without values"):
        sees(chart.locator("text"), words, exact=True)
    # The interval that reaches furthest right ends left of the last tick.
    sees(chart.locator("text"), "+2", exact=True)
    sees(shown, "By detection alone.")
    expect(
        shown.get_by_role("link", name="With a correct diagnosis: Results")
    ).to_be_visible()
    heads = texts(shown.locator(".cw-plain thead th"))
    assert heads[:3] == ["Detector", "Accuracy +RT", "Accuracy −RT"]
    assert "Cases" not in heads
    for tab, words in (
        (
            "Cost",
            "GPT-5 +RT with 80.6% for 1,459 tokens (74.9 to 85.3%, n 222)",
        ),
        ("Paper's tables", "80.6% ="),
    ):
        shown.get_by_role("tab", name=tab, exact=True).click()
        expect(shown.get_by_text(words).first).to_be_visible()


def test_a_click_on_a_drop_opens_the_cases_that_changed(
    facts_app: str, open_page: OpenPage
) -> None:
    page = settled(open_page(f"{facts_app}{MINIBENCH}"))
    code, runtime = right_of_rules("code"), right_of_rules("runtime")
    drop = rounded((len(runtime) - len(code)) / 80 * 100)
    sees(
        page, re.compile(f"−({drop}) pp for Certain-crash rules with code only")
    )
    where = (
        'path[aria-roledescription=point][aria-label*="row: with code only;"]'
    )
    click_mark(
        page, page.get_by_test_id("stVegaLiteChart").first.locator(where)
    )
    shows_title(page, TITLES["/cases"])
    expect(count_line(page)).to_contain_text(
        f"{len(code ^ runtime)} of 40 cases"
    )
    assert query(page)["compare"] == ["code,runtime"]
    assert query(page)["detector"] == ["rules"]


@pytest.mark.slow
def test_keys_open_what_a_click_on_a_mark_opens(
    facts_app: str, open_page: OpenPage
) -> None:
    page = settled(open_page(f"{facts_app}{MINIBENCH}"))
    box = page.get_by_role("combobox", name="Open the cases of", exact=True)
    box.focus()
    box.press("ArrowDown")
    page.get_by_role(
        "option", name="with code only, Certain-crash rules"
    ).wait_for()
    box.press("Enter")
    shows_title(page, TITLES["/cases"])
    changed = right_of_rules("code") ^ right_of_rules("runtime")
    expect(count_line(page)).to_contain_text(f"{len(changed)} of 40 cases")
