"""The first page: the study's answer as the paper prints it, one case behind it, and links that lead where they say."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from .conftest import OpenPage, slow
from .screen import (
    TITLES,
    arrives,
    count_line,
    path,
    query,
    sees,
    settled,
    shows_title,
)

GAINS = ("+7.2 pp", "+9.5 pp", "+7.7 pp")
"""Accuracy with runtime information minus without (paper, Table 2a), of Gemini, Qwen and GPT-5."""


@pytest.mark.parametrize("app", ["facts_app", slow("full_app")])
def test_the_answer_is_the_papers(
    app: str, open_page: OpenPage, request: pytest.FixtureRequest
) -> None:
    page = settled(open_page(request.getfixturevalue(app)))
    shows_title(page, TITLES["/"])
    charts = page.get_by_test_id("stVegaLiteChart")
    expect(charts.locator("text", has_text="76.6%")).to_be_visible()
    for gain in GAINS:
        expect(charts.locator("text", has_text=gain)).to_be_visible()
    for words in ("Yiran Wang", "Dániel Varró", "Runtime-Augmented LLMs"):
        expect(page.locator(".cw-paper")).to_contain_text(words)
    expect(page.get_by_role("link", name="arXiv:2602.18537")).to_have_attribute(
        "href", "https://arxiv.org/abs/2602.18537"
    )
    cards = page.locator(".cw-example .cw-verdict")
    expect(cards.nth(1)).to_contain_text("No crash predicted ✗ wrong")
    expect(cards.nth(2)).to_contain_text("Crash predicted ✓ right")
    if app == "full_app":
        expect(cards.nth(2).locator("blockquote")).not_to_be_empty()
    else:
        expect(cards.nth(1)).to_contain_text(
            "GPT-5: 0 of 5 answers predict the crash"
        )
        expect(cards.nth(2)).to_contain_text(
            "GPT-5: 5 of 5 answers predict the crash; diagnosis correct"
        )
    page.get_by_test_id("stPageLink-NavLink").filter(
        has_text="Open pandas_9"
    ).click()
    shows_title(page, "pandas_9")


@pytest.mark.parametrize(
    "words", ["where it helped a model", slow("where it hurt one")]
)
def test_the_cases_behind_the_finding_are_a_click_away(
    words: str, facts_app: str, open_page: OpenPage
) -> None:
    page = settled(open_page(facts_app))
    link = page.get_by_test_id("stPageLink-NavLink").filter(has_text=words)
    found = re.match(r"(\d+) cases", link.inner_text())
    assert found
    link.click()
    expect(count_line(page)).to_contain_text(f"{found[1]} of 111 cases")


def follow(page: Page, words: str) -> None:
    page.get_by_test_id("stPageLink-NavLink").filter(has_text=words).click()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "where"),
    [
        ("Browse 151 pairs", "/cases"),
        ("Read the results", "/results"),
        ("Bring the published texts", "/data"),
        ("answers", "/runs"),
        ("Try a notebook", "/try_a_notebook"),
        ("Label diagnoses", "/annotate"),
    ],
)
def test_a_link_leads_where_it_says(
    words: str, where: str, facts_app: str, open_page: OpenPage
) -> None:
    page = settled(open_page(facts_app))
    follow(page, words)
    shows_title(page, TITLES[where])
    assert path(page) == where


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ("Claims checked", "Paper's claims"),
        ("Combine detectors", "Combinations"),
    ],
)
@pytest.mark.slow
def test_a_link_to_a_part_of_results_opens_it(
    words: str, part: str, facts_app: str, open_page: OpenPage
) -> None:
    page = settled(open_page(facts_app))
    follow(page, words)
    shows_title(page, TITLES["/results"])
    expect(page.get_by_role("tab", name=part, exact=True)).to_have_attribute(
        "aria-selected", "true"
    )
    assert query(page)["part"] == [part]


@pytest.mark.slow
def test_the_case_of_the_page_opens_as_a_pair(
    facts_app: str, open_page: OpenPage
) -> None:
    page = settled(open_page(facts_app))
    follow(page, "Open pandas_9")
    shows_title(page, "pandas_9")
    assert query(page)["benchmark"] == ["junobench"]


@pytest.mark.parametrize("app", ["facts_app", slow("full_app")])
def test_the_story_of_one_case_is_told_by_the_keyboard_alone(
    app: str, open_page: OpenPage, request: pytest.FixtureRequest
) -> None:
    page = settled(open_page(request.getfixturevalue(app)))
    page.get_by_role("link", name="New here?").press("Enter")
    told = arrives(page, "Will the next cell crash?").get_by_test_id("stMain")
    # The first line of a cell may be blank.
    lines = told.locator(".cw-target code").filter(has_text=re.compile(r"\S"))
    expect(lines.first).to_be_visible()
    page.keyboard.press("j")
    arrives(page, "What the live kernel knows before the cell runs")
    expect(told.locator(".cw-state summary").first).to_be_visible()
    page.keyboard.press("j")
    arrives(page, re.compile("no crash predicted from the code"))
    expect(told.locator(".cw-example h2")).to_have_text(
        ["No crash predicted ✗ wrong", "Crash predicted ✓ right"]
    )
    page.keyboard.press("j")
    arrives(page, "The cell crashes; was the reason right?")
    expect(told.locator(".cw-target .cw-crash")).to_have_count(1)
    sees(page, re.compile("has no human label|is labelled"))
    page.keyboard.press("j")
    arrives(page, TITLES["/"])
    assert query(page) == {"story": ["5"]}
    page.keyboard.press("Escape")
    sees(page, "What to do next")
