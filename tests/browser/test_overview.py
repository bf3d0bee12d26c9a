"""The first page: the study's answer as the paper prints it, and links that lead where they say."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from .conftest import OpenPage
from .screen import TITLES, count_line, path, query, settled, title

pytestmark = pytest.mark.browser

GAINS = {"Gemini 2.5 Flash": "+7.2 pp", "Qwen2.5-32B-Instruct": "+9.5 pp", "GPT-5": "+7.7 pp"}
"""Accuracy with runtime information minus without (paper, Table 2a)."""


@pytest.mark.parametrize("app", ["facts_app", "full_app"])
def test_the_answer_is_the_papers(app: str, open_page: OpenPage, request: pytest.FixtureRequest) -> None:
    page = settled(open_page(request.getfixturevalue(app)))
    answer = page.get_by_test_id("stMain").inner_text()
    for detector, gain in GAINS.items():
        assert f"{gain} for {detector} (" in answer
    expect(page.get_by_test_id("stVegaLiteChart").locator("text", has_text="+RT 76.6%")).to_be_visible()


@pytest.mark.parametrize(
    ("words", "where"),
    [
        ("Browse the pairs", "/cases"),
        ("Read the results", "/results"),
        ("See the ablations", "/ablations"),
        ("Bring the published texts", "/data"),
        ("judgements", "/data"),
        ("answers,", "/runs"),
        ("Try a notebook", "/try_a_notebook"),
        ("See the runs", "/runs"),
    ],
)
def test_a_link_leads_where_it_says(words: str, where: str, facts_app: str, open_page: OpenPage) -> None:
    page = settled(open_page(facts_app))
    page.get_by_test_id("stPageLink-NavLink").filter(has_text=words).click()
    expect(title(page)).to_have_text(TITLES[where])
    assert path(page) == where


@pytest.mark.parametrize(
    ("words", "benchmark", "n_cases"),
    [("111 cases, 222 notebooks", "junobench", 111), ("40 cases, 80 notebooks", "minibench", 40)],
)
def test_a_benchmarks_count_opens_its_cases(
    words: str, benchmark: str, n_cases: int, facts_app: str, open_page: OpenPage
) -> None:
    page = settled(open_page(facts_app))
    page.get_by_test_id("stPageLink-NavLink").filter(has_text=words).click()
    expect(count_line(page)).to_contain_text(f"{n_cases} of {n_cases} cases")
    assert path(page) == "/cases"
    assert query(page).get("benchmark", ["junobench"]) == [benchmark]
