"""The list of cases: filters narrow it, live in the address, survive reload and back; a row opens its pair."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from .conftest import OpenPage
from .screen import (
    choose,
    click_header,
    click_row,
    column,
    count_line,
    grid,
    header,
    open_pair,
    path,
    query,
    row_of,
    settled,
    texts,
    title,
    visit,
    wait_for_query,
)

pytestmark = pytest.mark.browser

PUBLISHED_COUNTS = [
    ("root_cause", "API misuse", 45),
    ("root_cause", "NB specific", 20),
    ("library", "torch", 15),
    ("crash_type", "invalid argument", 21),
    ("crash_type", "io error", 1),
    ("stage", "training", 31),
]
"""Labels of the benchmark's 111 cases, counted in its published table of labels."""


COUNTS_AT = 815
"""Pixels from the left of the list, somewhere on the header of its first column of counts."""


@pytest.fixture
def cases(facts_app: str, open_page: OpenPage) -> Page:
    page = open_page(f"{facts_app}/cases")
    expect(count_line(page)).to_contain_text("111 of 111 cases")
    return settled(page)


def test_filters_in_the_address_count_as_published(cases: Page, facts_app: str) -> None:
    for name, value, n in PUBLISHED_COUNTS:
        cases.goto(f"{facts_app}/cases?{name}={value}")
        expect(count_line(cases)).to_contain_text(f"{n} of 111 cases")
        if n <= 20:
            expect(grid(cases).locator("tbody tr")).to_have_count(n)


def test_a_chosen_filter_is_in_the_address_and_survives_reload_and_back(cases: Page) -> None:
    choose(cases, "Root cause", "API misuse")
    expect(count_line(cases)).to_contain_text("45 of 111 cases")
    wait_for_query(cases, root_cause="API misuse")
    choose(cases, "Library", "torch")
    wait_for_query(cases, library="torch")
    expect(count_line(cases)).not_to_contain_text("45 of 111")
    narrowed = count_line(cases).inner_text()

    cases.reload()
    expect(count_line(cases)).to_have_text(narrowed)
    assert query(cases) == {"root_cause": ["API misuse"], "library": ["torch"]}

    cases.go_back()
    expect(count_line(cases)).to_contain_text("45 of 111 cases")
    wait_for_query(cases, root_cause="API misuse", library=None)


def test_two_values_of_one_filter_add_up(cases: Page) -> None:
    choose(cases, "Library", "torch")
    expect(count_line(cases)).to_contain_text("15 of 111 cases")
    choose(cases, "Library", "numpy")
    expect(count_line(cases)).to_contain_text("30 of 111 cases")
    cases.wait_for_function("new URLSearchParams(location.search).getAll('library').join() === 'torch,numpy'")


def test_the_list_says_which_experiments_its_counts_join(cases: Page) -> None:
    expect(count_line(cases)).to_contain_text("join 3 experiments; a pattern says in which")
    choose(cases, "Experiment", "CRANE-LLM, release of October 2025")
    expect(count_line(cases)).not_to_contain_text("experiments")


def test_typing_finds_by_any_label(cases: Page) -> None:
    cases.get_by_label("Find", exact=True).fill("NotFitted")
    cases.keyboard.press("Enter")
    expect(count_line(cases)).to_contain_text("1 of 111 cases")
    wait_for_query(cases, find="NotFitted")


def test_filters_that_nothing_passes_say_how_to_widen_them(cases: Page) -> None:
    cases.get_by_label("Find", exact=True).fill("no such thing")
    cases.keyboard.press("Enter")
    expect(cases.get_by_text("No case passes these filters.")).to_be_visible()
    cases.get_by_role("button", name="Clear all filters").click()
    expect(count_line(cases)).to_contain_text("111 of 111 cases")
    assert query(cases) == {}


def test_a_value_that_does_not_exist_leaves_a_page_that_works(cases: Page, facts_app: str) -> None:
    cases.goto(f"{facts_app}/cases?benchmark=nowhere&root_cause=nothing")
    expect(title(cases)).to_have_text("Cases")
    expect(count_line(cases)).to_contain_text("111 of 111 cases")


def test_a_click_on_a_row_opens_its_pair_and_keys_walk_the_filtered_list(cases: Page) -> None:
    choose(cases, "Root cause", "ML model confusion")
    expect(count_line(cases)).to_contain_text("2 of 111 cases")
    expect(column(cases, "Case")).to_have_count(2)
    names = texts(column(cases, "Case"))
    click_row(cases, row_of(cases, names[0], "Case"))
    expect(title(cases)).to_have_text(names[0])
    settled(cases)
    expect(cases.get_by_text("1 of 2 in this list")).to_be_visible()
    assert cases.get_by_role("button", name="Previous").is_disabled()

    cases.get_by_role("button", name="Next").click()
    expect(title(cases)).to_have_text(names[1])
    settled(cases)
    assert cases.get_by_role("button", name="Next").is_disabled()
    cases.keyboard.press("k")
    expect(title(cases)).to_have_text(names[0])
    settled(cases)
    cases.keyboard.press("j")
    expect(title(cases)).to_have_text(names[1])
    settled(cases)
    cases.get_by_role("button", name="Previous").click()
    expect(title(cases)).to_have_text(names[0])
    wait_for_query(cases, case=names[0], root_cause="ML model confusion")
    settled(cases)

    cases.keyboard.press("Escape")
    expect(title(cases)).to_have_text("Cases")
    expect(count_line(cases)).to_contain_text("2 of 111 cases")
    wait_for_query(cases, case=None, root_cause="ML model confusion")


def test_back_from_a_pair_is_the_list_it_was_opened_from(cases: Page) -> None:
    choose(cases, "Library", "seaborn")
    expect(count_line(cases)).to_contain_text("6 of 111 cases")
    click_row(cases, 2)
    expect(title(cases)).to_have_text("seaborn_3")
    settled(cases)
    cases.go_back()
    expect(title(cases)).to_have_text("Cases")
    expect(count_line(cases)).to_contain_text("6 of 111 cases")
    cases.go_forward()
    expect(title(cases)).to_have_text("seaborn_3")


def test_a_header_sorts_and_counts_sort_as_numbers(cases: Page) -> None:
    expect(column(cases, "Crash predicted").first).to_be_attached()
    for arrow in ("↑", "↓"):
        click_header(cases, COUNTS_AT)
        expect(header(cases, "Crash predicted")).to_contain_text(arrow)
    counts = [int(text) for text in texts(column(cases, "Crash predicted"))]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] > 9, "as text, 9 would stand before 11"
    for _ in range(2):
        click_header(cases, COUNTS_AT)
    expect(header(cases, "Crash predicted")).to_contain_text("↑")
    expect(title(settled(cases))).to_have_text("Cases")
    first = texts(column(cases, "Case"))[0]
    click_row(cases, 0)
    expect(title(cases)).to_have_text(first)


def test_filters_are_kept_while_another_page_is_visited(cases: Page) -> None:
    choose(cases, "Library", "seaborn")
    wait_for_query(cases, library="seaborn")
    click_row(cases, 2)
    expect(title(cases)).to_have_text("seaborn_3")
    for name in ("Results", "Cases"):
        visit(cases, name)
    expect(count_line(cases)).to_contain_text("6 of 111 cases")
    wait_for_query(cases, library="seaborn", case=None)
    visit(cases, "Results")
    assert query(cases) == {}


def test_the_same_row_opens_again_after_the_way_back(cases: Page) -> None:
    for _ in range(2):
        click_row(cases, 1)
        expect(title(cases)).not_to_have_text("Cases")
        settled(cases)
        cases.get_by_role("button", name="All cases").click()
        expect(title(cases)).to_have_text("Cases")
        settled(cases)


def test_another_benchmark_shows_its_own_cases(cases: Page) -> None:
    choose(cases, "Benchmark", "minibench")
    expect(count_line(cases)).to_contain_text("40 of 40 cases")
    wait_for_query(cases, benchmark="minibench")
    click_row(cases, row_of(cases, "pandas_2", "Case"))
    expect(title(cases)).to_have_text("pandas_2")
    expect(cases.locator(".cw-facts")).to_contain_text("minibench")


def test_a_filter_of_another_benchmark_is_dropped_with_it(cases: Page) -> None:
    choose(cases, "Root cause", "library cause")
    choose(cases, "Experiment", "CRANE-LLM, release of October 2025")
    expect(count_line(cases)).to_contain_text("1 of 111 cases")
    choose(cases, "Benchmark", "minibench")
    expect(count_line(cases)).to_contain_text("40 of 40 cases")
    wait_for_query(cases, benchmark="minibench", root_cause=None, experiment=None)


def test_an_unknown_case_says_so(facts_app: str, open_page: OpenPage) -> None:
    page = open_pair(open_page(facts_app), facts_app, "pandas_999")
    expect(page.get_by_text("There is no case 'pandas_999'")).to_be_visible()
    page.keyboard.press("Escape")
    expect(title(page)).to_have_text("Cases")
    assert path(page) == "/cases"
