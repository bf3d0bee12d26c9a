"""The list of cases: filters narrow it, live in the address, survive reload and back; a row opens its pair."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from .conftest import OpenPage
from .screen import (
    SLOW_WIDTHS,
    TITLES,
    arrives,
    choose,
    click_button,
    count_line,
    listed,
    listed_names,
    open_pair,
    path,
    query,
    sees,
    settled,
    shows_title,
    title,
    visit,
    wait_for_query,
)

PUBLISHED_COUNTS = [
    ("root_cause", "API misuse", 45),
    ("root_cause", "NB specific", 20),
    ("library", "torch", 15),
    ("crash_type", "invalid argument", 21),
    ("crash_type", "io error", 1),
    ("stage", "training", 31),
]
"""Labels of the benchmark's 111 cases, counted in its published table of labels."""


CASES = TITLES["/cases"]


@pytest.fixture
def cases(facts_app: str, open_page: OpenPage) -> Page:
    page = open_page(f"{facts_app}/cases")
    expect(count_line(page)).to_contain_text("111 of 111 cases")
    return settled(page)


def test_filters_in_the_address_count_as_published(
    cases: Page, facts_app: str
) -> None:
    for name, value, n in PUBLISHED_COUNTS:
        cases.goto(f"{facts_app}/cases?{name}={value}")
        expect(count_line(cases)).to_contain_text(f"{n} of 111 cases")
        if n <= 20:
            expect(listed(cases)).to_have_count(n)


def test_a_chosen_filter_is_in_the_address_and_survives_reload_and_back(
    cases: Page,
) -> None:
    choose(cases, "Root cause", "API misuse")
    expect(count_line(cases)).to_contain_text("45 of 111 cases")
    wait_for_query(cases, root_cause="API misuse")
    choose(cases, "Library", "torch")
    wait_for_query(cases, library="torch")
    expect(count_line(cases)).not_to_contain_text("45 of 111")
    narrowed = count_line(settled(cases)).inner_text()

    cases.reload()
    expect(count_line(cases)).to_have_text(narrowed)
    assert query(cases) == {"root_cause": ["API misuse"], "library": ["torch"]}

    cases.go_back()
    expect(count_line(cases)).to_contain_text("45 of 111 cases")
    wait_for_query(cases, root_cause="API misuse", library=None)


def test_each_filter_is_a_button_that_removes_it_and_a_sign_adds_one(
    cases: Page, facts_app: str
) -> None:
    cases.goto(
        f"{facts_app}/cases?library=torch&library=numpy&detector=gpt-5&setting=code"
    )
    shows_title(cases, re.compile("^GPT-5, code only: misses"))
    chip = cases.get_by_role("button", name="Library: numpy")
    chip.focus()
    chip.press("Enter")
    shows_title(
        cases, "GPT-5, code only: misses 5 of 15 torch crashes, 3 false alarms"
    )
    wait_for_query(cases, library="torch", detector="gpt-5", setting="code")
    settled(cases)
    cases.locator("[data-pattern='missed by all']").click()
    wait_for_query(cases, agreement="missed by all")
    expect(listed(cases)).to_have_count(5)
    settled(cases)
    click_button(cases, "Remove all")
    # While the page is drawn again, the line of before is still there.
    sees(cases, "111 of 111 cases")
    assert query(cases) == {}
    settled(cases)
    click_button(cases, "1 missed by all")
    wait_for_query(cases, agreement="missed by all")
    expect(listed(cases)).to_have_count(1)


@pytest.mark.slow
def test_two_values_of_one_filter_add_up(cases: Page) -> None:
    choose(cases, "Library", "torch")
    expect(count_line(cases)).to_contain_text("15 of 111 cases")
    choose(cases, "Library", "numpy")
    expect(count_line(cases)).to_contain_text("30 of 111 cases")
    cases.wait_for_function(
        "new URLSearchParams(location.search).getAll('library').join() === 'torch,numpy'"
    )


@pytest.mark.slow
def test_the_list_says_which_experiments_its_counts_join(cases: Page) -> None:
    expect(count_line(cases)).to_contain_text("Answers of 3 experiments.")
    click_button(cases, "More filters")
    choose(cases, "Experiment", "CRANE-LLM, release of October 2025")
    expect(count_line(cases)).not_to_contain_text("experiments")


@pytest.mark.slow
def test_typing_finds_by_any_label(cases: Page) -> None:
    cases.get_by_label("Find", exact=True).fill("NotFitted")
    cases.keyboard.press("Enter")
    expect(count_line(cases)).to_contain_text("1 of 111 cases")
    wait_for_query(cases, find="NotFitted")


@pytest.mark.slow
def test_filters_that_nothing_passes_say_how_to_widen_them(cases: Page) -> None:
    cases.get_by_label("Find", exact=True).fill("no such thing")
    cases.keyboard.press("Enter")
    sees(cases, "No cases match these filters.")
    shows_title(cases, "No case contains “no such thing”")
    click_button(cases, "Clear all filters")
    expect(count_line(cases)).to_contain_text("111 of 111 cases")
    assert query(cases) == {}


@pytest.mark.slow
def test_a_value_that_does_not_exist_leaves_a_page_that_works(
    cases: Page, facts_app: str
) -> None:
    cases.goto(
        f"{facts_app}/cases?benchmark=nowhere&root_cause=nothing&missed=x&library=torch"
    )
    shows_title(cases, re.compile("15 torch crashes"))
    line = cases.get_by_text("The address names what is not offered here")
    for words in ("Benchmark nowhere", "Root cause nothing", "missed x"):
        expect(line).to_contain_text(words)
    click_button(cases, "Dismiss")
    expect(line).to_have_count(0)
    wait_for_query(cases, missed=None, root_cause=None, library="torch")
    expect(count_line(cases)).to_contain_text("15 of 111 cases")


def test_a_click_on_a_row_opens_its_pair_and_keys_walk_the_filtered_list(
    cases: Page,
) -> None:
    choose(cases, "Root cause", "ML model confusion")
    expect(count_line(cases)).to_contain_text("2 of 111 cases")
    expect(listed(cases)).to_have_count(2)
    names = listed_names(cases)
    listed(cases).first.click()
    arrives(cases, names[0])
    sees(cases, "1 of 2 in this list")
    assert cases.get_by_role("button", name="Previous").is_disabled()

    click_button(cases, "Next")
    arrives(cases, names[1])
    assert cases.get_by_role("button", name="Next").is_disabled()
    cases.keyboard.press("k")
    arrives(cases, names[0])
    cases.keyboard.press("j")
    arrives(cases, names[1])
    click_button(cases, "Previous")
    shows_title(cases, names[0])
    wait_for_query(cases, case=names[0], root_cause="ML model confusion")
    settled(cases)

    cases.keyboard.press("Escape")
    shows_title(cases, CASES)
    expect(count_line(cases)).to_contain_text("2 of 111 cases")
    wait_for_query(cases, case=None, root_cause="ML model confusion")


@pytest.mark.slow
def test_back_from_a_pair_is_the_list_it_was_opened_from(cases: Page) -> None:
    choose(cases, "Library", "seaborn")
    expect(count_line(cases)).to_contain_text("6 of 111 cases")
    expect(listed(cases)).to_have_count(6)
    listed(cases).filter(has_text="seaborn_3").click()
    arrives(cases, "seaborn_3")
    cases.go_back()
    shows_title(cases, CASES)
    expect(count_line(cases)).to_contain_text("6 of 111 cases")
    cases.go_forward()
    shows_title(cases, "seaborn_3")


def test_a_heading_sorts_numbers_as_numbers_and_opens_nothing_however_fast_it_is_clicked(
    cases: Page,
) -> None:
    heading = cases.get_by_role("button", name="Predicted by")
    heading.click()
    wait_for_query(cases, sort="-n_found")
    expect(cases.locator("th[aria-sort=descending]")).to_contain_text(
        "Predicted by"
    )
    settled(cases)
    counts = [
        int(text.split("/")[0])
        for text in cases.locator("td.cw-of-n_found").all_inner_texts()
    ]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] > 9 > counts[-1], "as text, 9 would stand before 11"
    assert cases.locator("td.cw-of-n_found .cw-bar").count() == len(counts)
    heading.click()
    wait_for_query(cases, sort="n_found")
    heading.click(click_count=3, delay=10)
    click_button(cases, "Exception")
    wait_for_query(cases, sort="exception", case=None)
    expect(title(settled(cases))).to_have_text(CASES)
    first = listed_names(cases)[0]
    cases.locator(".cw-picture [data-case]").first.click()
    shows_title(cases, first)
    sees(settled(cases), "1 of 111 in this list")


def test_on_a_phone_a_library_is_gone_to(cases: Page) -> None:
    cases.set_viewport_size({"width": 390, "height": 800})
    cases.get_by_role("button", name="torch 15").click()
    first = cases.locator("tr[data-case=torch_4]")
    expect(first).to_be_in_viewport()
    expect(cases.locator("tr[data-case=lightgbm_1]")).not_to_be_in_viewport()
    cases.get_by_role("button", name="lightgbm 1").click()
    expect(cases.locator("tr[data-case=lightgbm_1]")).to_be_in_viewport()


def test_the_picture_has_a_mark_for_every_answer_and_follows_the_filters(
    cases: Page,
) -> None:
    expect(title(cases)).to_contain_text(
        "1 of 111 crashes escapes every detector"
    )
    lines = cases.locator(".cw-picture [data-case]")
    expect(lines).to_have_count(111)
    n_columns = lines.first.locator("i").count()
    assert n_columns == 2 * 13
    assert cases.locator(".cw-library [data-case] i[class*=w]").count() > 200
    assert cases.locator(".cw-library [data-case] i[class*=p]").count() > 50
    choose(cases, "Library", "torch")
    expect(lines).to_have_count(15)
    expect(title(cases)).to_contain_text("of 15 torch crashes")
    lines.nth(2).locator("i").last.hover()
    expect(lines.nth(2).locator("i").last).to_have_attribute(
        "title", re.compile("Certain-crash rules.*fixed: ")
    )
    assert sum(offered_counts(cases, "Root cause").values()) == 15, (
        "counts are of what the other filters leave"
    )


@pytest.mark.slow
def test_values_of_detector_input_and_experiment_count_the_cases_they_answered(
    cases: Page,
) -> None:
    counts = offered_counts(cases, "Detector")
    assert counts["GPT-5"] == counts["Gemini 2.5 Flash"] == 111
    assert {"−RT", "+RT"} <= offered_counts(cases, "Input").keys()
    choose(cases, "Library", "torch")
    expect(count_line(cases)).to_contain_text("15 of 111 cases")
    settled(cases)
    assert offered_counts(cases, "Detector")["GPT-5"] == 15
    click_button(cases, "More filters")
    assert (
        offered_counts(cases, "Experiment")[
            "CRANE-LLM, release of October 2025"
        ]
        == 15
    )
    cases.keyboard.press("Escape")
    choose(cases, "Detector", "GPT-5")
    wait_for_query(cases, detector="gpt-5")
    settled(cases)
    expect(count_line(cases)).to_contain_text("15 of 111 cases")
    click_button(cases, "More filters")
    assert "JunoBench, first exploration" not in {
        name for name, n in offered_counts(cases, "Experiment").items() if n
    }


def offered_counts(page: Page, label: str) -> dict[str, int]:
    """The values that a filter offers, each with its count."""
    box = page.get_by_role("combobox", name=label, exact=True)
    box.focus()
    box.press("ArrowDown")
    expect(
        page.get_by_role("option", name=re.compile(" · ")).first
    ).to_be_visible()
    offered = page.get_by_role("option").all_inner_texts()
    box.press("Escape")
    pairs = (text.rpartition(" · ") for text in offered if " · " in text)
    return {name: int(n.replace(",", "")) for name, _, n in pairs}


def test_on_a_phone_the_picture_folds_and_the_list_is_near(
    cases: Page,
) -> None:
    cases.set_viewport_size({"width": 390, "height": 844})
    marks = cases.locator(".cw-library").first
    expect(marks).to_be_hidden()
    place = listed(cases).first.bounding_box()
    assert place is not None
    assert place["y"] < 844
    cases.get_by_text("Picture of these cases").click()
    expect(marks).to_be_visible()
    cases.set_viewport_size({"width": 1280, "height": 844})
    expect(cases.get_by_text("Picture of these cases")).to_be_hidden()
    expect(marks).to_be_visible()


@pytest.mark.parametrize("width", [360, *SLOW_WIDTHS])
def test_nothing_scrolls_sideways(cases: Page, width: int) -> None:
    cases.set_viewport_size({"width": width, "height": 900})
    cases.wait_for_function(
        "width => document.documentElement.clientWidth === width", arg=width
    )
    # Waited for, not asked once: another width may draw the page again, and a box is missing meanwhile.
    cases.wait_for_function(
        """names => names.every(name => {
            const box = document.querySelector(name);
            return box && box.scrollWidth <= box.clientWidth + 1;
        })""",
        arg=["[data-testid=stMain]", ".cw-board", ".cw-cases", ".cw-picture"],
    )
    right = cases.evaluate(
        "Math.max(...[...document.querySelectorAll('.cw-board *')].map(e => e.getBoundingClientRect().right))"
    )
    assert right <= width


@pytest.mark.slow
def test_words_of_the_code_and_the_traceback_are_found(
    full_app: str, open_page: OpenPage
) -> None:
    page = open_page(f"{full_app}/cases?find=reshape")
    expect(count_line(page)).to_contain_text("of 111 cases")
    expect(count_line(page)).not_to_contain_text("111 of 111")
    expect(listed(page).first).to_be_visible()
    expect(title(page)).to_have_text(re.compile("cases contain “reshape”"))
    marked = page.locator(".cw-hit mark")
    expect(marked).to_have_count(listed(settled(page)).count())


@pytest.mark.slow
def test_filters_are_kept_while_another_page_is_visited(cases: Page) -> None:
    choose(cases, "Library", "seaborn")
    wait_for_query(cases, library="seaborn")
    expect(listed(cases)).to_have_count(6)
    listed(cases).filter(has_text="seaborn_3").click()
    shows_title(cases, "seaborn_3")
    for name in ("Results", "Cases"):
        visit(cases, name)
    expect(count_line(cases)).to_contain_text("6 of 111 cases")
    wait_for_query(cases, library="seaborn", case=None)
    visit(cases, "Results")
    assert query(cases) == {}


@pytest.mark.slow
def test_the_same_row_opens_again_after_the_way_back(cases: Page) -> None:
    for _ in range(2):
        listed(cases).nth(1).click()
        expect(title(cases)).not_to_have_text(CASES)
        settled(cases)
        click_button(cases, "All cases")
        arrives(cases, CASES)


@pytest.mark.slow
def test_another_benchmark_shows_its_own_cases(cases: Page) -> None:
    choose(cases, "Benchmark", "minibench")
    expect(count_line(cases)).to_contain_text("40 of 40 cases")
    wait_for_query(cases, benchmark="minibench")
    listed(cases).filter(
        has=cases.get_by_role("rowheader", name="pandas_2", exact=True)
    ).click()
    shows_title(cases, "pandas_2")
    expect(cases.locator(".cw-facts")).to_contain_text("minibench")


@pytest.mark.slow
def test_a_filter_of_another_benchmark_is_dropped_with_it(cases: Page) -> None:
    choose(cases, "Root cause", "library cause")
    click_button(cases, "More filters")
    choose(cases, "Experiment", "CRANE-LLM, release of October 2025")
    cases.keyboard.press("Escape")
    expect(count_line(cases)).to_contain_text("1 of 111 cases")
    choose(cases, "Benchmark", "minibench")
    expect(count_line(cases)).to_contain_text("40 of 40 cases")
    wait_for_query(
        cases, benchmark="minibench", root_cause=None, experiment=None
    )


@pytest.mark.slow
def test_an_unknown_case_says_so(facts_app: str, open_page: OpenPage) -> None:
    page = open_pair(open_page(facts_app), facts_app, "pandas_999")
    sees(page, "There is no case 'pandas_999'")
    page.keyboard.press("Escape")
    shows_title(page, CASES)
    assert path(page) == "/cases"
