"""Results: the paper's tables recomputed, one switch for every chart, marks that open their cases, files to take."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from urllib.parse import urlencode
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Locator, Page, expect

from .conftest import OpenPage, slow
from .screen import (
    TITLES,
    choose,
    click_button,
    click_mark,
    count_line,
    opened_reading,
    path,
    query,
    reads,
    right_of_rules,
    rounded,
    sees,
    settled,
    shows_title,
    texts,
    title,
    wait_for_query,
)

TABLE_2A = {
    "Gemini 2.5 Flash": ("58.1%", "65.3%"),
    "Qwen2.5-32B-Instruct": ("63.1%", "72.5%"),
    "GPT-5": ("68.9%", "76.6%"),
}
TABLE_2B = {"Gemini 2.5 Flash": ("67.6%", "73.4%")}
"""Accuracy without and with runtime information (paper, Tables 2a and 2b)."""


@pytest.fixture
def results(facts_app: str, open_page: OpenPage) -> Page:
    page = open_page(f"{facts_app}/results?part=Runtime+state")
    shows_title(page, TITLES["/results"])
    return settled(page)


def gain_mark(page: Page, value: str | re.Pattern[str]) -> Locator:
    """The value that stands beside a point of the first chart."""
    return (
        page.get_by_test_id("stVegaLiteChart")
        .first.locator("text")
        .get_by_text(value, exact=True)
    )


def open_tab(page: Page, name: str) -> Page:
    """One section of the page."""
    page.get_by_role("tab", name=name, exact=True).click()
    wait_for_query(page, part=name)
    return settled(page)


def read(page: Page, option: str) -> None:
    """One option of the switches that say how the answers are read."""
    opened_reading(page).get_by_text(option, exact=True).click()


def pick(page: Page, option: str) -> None:
    """One option of a row of switches."""
    page.get_by_test_id("stButtonGroup").get_by_text(option, exact=True).click()


@pytest.mark.parametrize("app", ["facts_app", slow("full_app")])
def test_all_24_cells_of_table_2a_are_equal(
    app: str, open_page: OpenPage, request: pytest.FixtureRequest
) -> None:
    page = settled(
        open_page(
            f"{request.getfixturevalue(app)}/results?part=Paper%27s+tables"
        )
    )
    cells = page.locator("table.cw-numbers tbody td")
    expect(cells).to_have_text([re.compile("=$")] * 24, use_inner_text=True)
    for detector, values in TABLE_2A.items():
        row = page.locator("table.cw-numbers tr").filter(has_text=detector)
        for value in values:
            expect(row).to_contain_text(value)


def test_claims_are_shown_by_verdict(results: Page) -> None:
    open_tab(results, "Paper's claims")
    claims = results.locator("table").filter(has_text="In the paper")
    rows = claims.locator("tbody tr")
    # What a reader looks for first, and the others after one tick.
    expect(rows.first).to_contain_text("contradicted")
    expect(rows.filter(visible=True)).to_have_count(20)
    results.get_by_text(re.compile(r"All \d+ claims$")).click()
    expect(rows.filter(visible=True)).to_have_count(146)
    results.get_by_test_id("stButtonGroup").get_by_text(
        re.compile(r"^rounds differently \d+$")
    ).click()
    wait_for_query(results, claims="rounds differently")
    expect(claims.locator("tbody tr").first).to_contain_text("it rounds to")
    settled(results)
    assert all(
        "rounds differently" in row for row in texts(claims.locator("tbody tr"))
    )


def test_what_is_asked_of_all_detectors_is_answered_in_a_sentence_and_a_chart(
    results: Page,
) -> None:
    sees(results, "No evidence that the models differ")
    charts = results.get_by_test_id("stVegaLiteChart")
    expect(
        charts.locator("text").get_by_text("odds ratio", exact=True).first
    ).to_be_visible()
    for tab, answer, words in [
        ("Kinds of crash", "At the right: the change", "torch"),
        ("Robustness", "none finds a loss", "half credit for partial"),
        ("Stability", "if 5 of 5 answers predict a crash", "real crashes"),
        ("Time", "saves", "seconds before the crash"),
    ]:
        open_tab(results, tab)
        expect(results.get_by_text(answer).first).to_be_visible()
        expect(charts.locator("text").get_by_text(words).first).to_be_visible()
    open_tab(results, "Robustness")
    shows_title(results, re.compile("^24 of 39 tests find a gain$"))
    open_tab(results, "Dates")
    shows_title(results, re.compile("^No case of JunoBench has a date, "))
    expect(
        results.get_by_role("link", name="developers.openai.com")
    ).to_have_attribute("href", re.compile("^https://"))


@pytest.mark.slow
def test_our_rules_stand_beside_the_study_from_the_first_start(
    results: Page,
) -> None:
    read(results, "rules")
    wait_for_query(results, kind="rules")
    for value in ("−RT 59.9%", "+RT 72.1%"):
        expect(gain_mark(results, value)).to_be_visible()


@pytest.mark.slow
def test_members_of_a_combination_are_in_the_address(
    facts_app: str, open_page: OpenPage
) -> None:
    chosen = "part=Combinations&members=rules%40runtime&members=gpt-5%40code"
    page = settled(open_page(f"{facts_app}/results?{chosen}"))
    sees(page, "Any is right more often than GPT-5 −RT, the best single member")
    table = page.locator("table").filter(has_text="Others asked")
    expect(table).to_contain_text("80.6%")
    choose(page, "Combine", "Qwen2.5-32B-Instruct +RT")
    page.wait_for_function(
        "new URLSearchParams(location.search).getAll('members').length === 3"
    )
    expect(
        settled(page).get_by_text("Cascade", exact=True).first
    ).to_be_attached()
    assert query(page)["members"] == [
        "rules@runtime",
        "gpt-5@code",
        "qwen-2.5-32b-instruct@runtime",
    ]


@pytest.mark.slow
def test_another_table_is_in_the_address(results: Page) -> None:
    open_tab(results, "Paper's tables")
    pick(results, "Table 2b")
    wait_for_query(results, table="2b")
    cells = results.locator("table.cw-numbers tbody td")
    expect(results.locator("table.cw-numbers")).to_contain_text(
        TABLE_2B["Gemini 2.5 Flash"][0]
    )
    expect(cells).to_have_text([re.compile("=$")] * 24, use_inner_text=True)


@pytest.mark.slow
def test_a_wide_table_is_shown_one_metric_at_a_time(
    facts_app: str, open_page: OpenPage
) -> None:
    page = settled(
        open_page(f"{facts_app}/results?part=Paper%27s+tables&table=libraries")
    )
    heads = page.locator("table.cw-numbers thead th")
    expect(heads.filter(has_text="Accuracy")).to_have_text(
        ["Accuracy (−RT), end-to-end", "Accuracy (+RT), end-to-end"]
    )
    choose(page, "Metric", "Recall, detection")
    wait_for_query(page, metric="Recall, detection")
    expect(heads.filter(has_text="Recall").first).to_have_text(
        "Recall (−RT), detection"
    )


def test_the_switch_changes_numbers_and_address_together(results: Page) -> None:
    strict, detection = (
        f"−RT {table['Gemini 2.5 Flash'][0]}" for table in (TABLE_2A, TABLE_2B)
    )
    expect(gain_mark(results, strict)).to_be_visible()
    read(results, "detection only")
    wait_for_query(results, credit="detection only")
    expect(gain_mark(results, detection)).to_be_visible()
    expect(gain_mark(results, strict)).to_have_count(0)
    settled(results)
    results.reload()
    expect(gain_mark(results, detection)).to_be_visible()
    settled(results)
    reads(results, "Majority, detection only")
    read(results, "correct diagnosis")
    wait_for_query(results, credit=None)
    expect(gain_mark(results, strict)).to_be_visible()


@pytest.mark.parametrize(
    ("by", "group", "detector", "setting", "filters", "n"),
    [
        (
            "root cause",
            "API misuse",
            "Gemini 2.5 Flash",
            "+RT",
            {"root_cause": ["API misuse"]},
            45,
        ),
        slow(
            "library",
            "other",
            "GPT-5",
            "−RT",
            {
                "library": [
                    "lightgbm",
                    "matplotlib",
                    "seaborn",
                    "statsmodels",
                    "torchvision",
                ]
            },
            16,
        ),
    ],
)
def test_a_click_on_a_mark_opens_its_cases(
    by: str,
    group: str,
    detector: str,
    setting: str,
    filters: dict[str, list[str]],
    n: int,
    results: Page,
) -> None:
    open_tab(results, "Kinds of crash")
    if by != "library":
        pick(results, by)
        wait_for_query(results, by=by.replace(" ", "_"))
    where = f'[aria-label*="group: {group};"][aria-label*="input: {setting};"][aria-label*="detector: {detector};"]'
    mark = results.get_by_test_id("stVegaLiteChart").locator(
        f"path[aria-roledescription=point]{where}"
    )
    expect(mark).to_have_count(1)
    click_mark(results, mark)
    shows_title(results, TITLES["/cases"])
    expect(count_line(results)).to_contain_text(f"{n} of 111 cases")
    assert path(results) == "/cases"
    names = {"Gemini 2.5 Flash": "gemini-2.5-flash", "GPT-5": "gpt-5"}
    settings = {"+RT": "runtime", "−RT": "code"}
    assert (
        query(results).items()
        >= (
            filters
            | {"detector": [names[detector]], "setting": [settings[setting]]}
        ).items()
    )
    results.go_back()
    shows_title(results, TITLES["/results"])
    chosen = {} if by == "library" else {"by": [by.replace(" ", "_")]}
    assert query(settled(results)) == {"part": ["Kinds of crash"]} | chosen


def test_a_chart_can_be_taken_as_table_and_as_picture(results: Page) -> None:
    results.get_by_role("button", name="Export chart").first.click()
    box = results.get_by_test_id("stPopoverBody")
    files = {}
    for kind in ("SVG", "PDF", "PNG", "CSV"):
        if kind == "CSV":
            box.get_by_role("tab", name="Table").click()
        with results.expect_download() as download:
            click_button(box, kind, exact=True)
        files[kind] = download.value
    assert [file.suggested_filename for file in files.values()] == [
        f"accuracy_gain.{kind.lower()}" for kind in files
    ]
    rows = list(
        csv.DictReader(
            Path(files["CSV"].path()).read_text("utf-8").splitlines()
        )
    )
    values = {
        (row["detector_title"], row["setting"]): float(row["value"])
        for row in rows
    }
    told = {
        (title, setting): f"{value:.1%}"
        for (title, setting), value in values.items()
    }
    assert told == {
        (t, s): v
        for t, both in TABLE_2A.items()
        for s, v in zip(("code", "runtime"), both, strict=True)
    }
    assert all(
        float(row["low"]) < float(row["value"]) < float(row["high"])
        for row in rows
    )
    picture = ElementTree.parse(files["SVG"].path()).getroot()
    assert picture.tag == "{http://www.w3.org/2000/svg}svg"
    assert "+RT 76.6%" in "".join(picture.itertext())
    chart = results.get_by_test_id("stVegaLiteChart").first
    caption = chart.get_attribute("aria-label")
    assert picture.findtext("{http://www.w3.org/2000/svg}desc") == caption
    png = Path(files["PNG"].path()).read_bytes()
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    assert len(png) > 5_000


@pytest.mark.slow
def test_a_row_of_the_leaderboard_opens_its_cases_and_is_in_its_figure(
    results: Page,
) -> None:
    # The first tab, which the address does not name.
    results.get_by_role("tab", name="Leaderboard", exact=True).click()
    results.locator(".cw-leaders").wait_for()
    settled(results)
    results.get_by_role("button", name="Export chart").click()
    box = results.get_by_test_id("stPopoverBody")
    with results.expect_download() as download:
        click_button(box, "SVG", exact=True)
    picture = ElementTree.parse(download.value.path()).getroot()
    assert "GPT-5 +RT" in "".join(picture.itertext())
    results.keyboard.press("Escape")
    row = results.locator("tr", has_text="GPT-5 +RT")
    row.get_by_role("link", name="cases").click()
    shows_title(results, re.compile("^GPT-5, with runtime state"))
    wait_for_query(results, detector="gpt-5", setting="runtime")
    assert query(results)["experiment"] == ["crane-llm-2025-10"]


@pytest.mark.slow
def test_any_two_inputs_of_a_detector_can_be_compared(
    facts_app: str, open_page: OpenPage
) -> None:
    page = settled(
        open_page(
            f"{facts_app}/results?part=Runtime+state&benchmark=minibench&kind=rules&compare=runtime,runtime%2B"
        )
    )
    finding = page.get_by_role(
        "heading",
        name=re.compile("^Extended runtime state .* over runtime state"),
    )
    right = rounded(len(right_of_rules("runtime")) / 80 * 100)
    expect(finding).to_be_visible()
    expect(gain_mark(page, re.compile(rf"^\+RT ({right})%$"))).to_be_visible()
    expect(gain_mark(page, "+RT+ 100.0%")).to_be_visible()
    assert query(page)["compare"] == ["runtime,runtime+"]
    reads(page, "Rules, majority, detection only, +RT+ against +RT")
    opened_reading(page)
    choose(page, "Inputs compared", "+RT against −RT")
    wait_for_query(page, compare=None)
    expect(
        page.get_by_role(
            "heading", name=re.compile("^Runtime state .* points for one")
        )
    ).to_be_visible()


@pytest.mark.slow
def test_values_that_do_not_exist_fall_back_to_the_defaults(
    facts_app: str, open_page: OpenPage
) -> None:
    page = settled(
        open_page(
            f"{facts_app}/results?credit=free&vote=none&table=99&by=weather&experiment=none&part=none"
        )
    )
    expect(page.locator(".cw-leaders")).to_contain_text("58.1%")
    assert page.get_by_test_id("stException").count() == 0


@pytest.mark.slow
def test_panels_wrap_so_that_nothing_is_cut_at_any_width(
    facts_app: str, open_page: OpenPage
) -> None:
    page = settled(
        open_page(f"{facts_app}/results?part=Kinds+of+crash&by=crash_type")
    )
    expect(page.get_by_test_id("stVegaLiteChart").locator("svg")).to_have_count(
        3
    )
    for width in (1920, 1440, 1280, 1024, 768, 360):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_function(
            """width => {
                const pictures = [...document.querySelectorAll('[data-testid=stVegaLiteChart] svg')]
                    .map(picture => picture.getBoundingClientRect());
                return pictures.length === 3
                    && pictures.every(box => box.width > 250 && box.left >= 0 && box.right <= width)
                    && document.querySelector('[data-testid=stMain]').scrollWidth <= width;
            }""",
            arg=width,
        )


@pytest.mark.slow
def test_marks_keep_half_of_a_chart_on_a_phone(
    facts_app: str, open_page: OpenPage
) -> None:
    page = open_page(
        f"{facts_app}/results?part=Runtime+state", color_scheme="light"
    )
    page.set_viewport_size({"width": 360, "height": 900})
    expect(
        settled(page).get_by_test_id("stVegaLiteChart").locator("svg")
    ).to_have_count(2)
    page.wait_for_function(
        """() => [...document.querySelectorAll('[data-testid=stVegaLiteChart] svg')].every(picture => {
            const plot = picture.querySelector('.background').getBoundingClientRect();
            return plot.width > picture.getBoundingClientRect().width / 2;
        })"""
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("part", "words"),
    [
        ("Combinations", "2 of 8 combinations gain, none loses, 6 without"),
        ("Stability", "If all 5 answers predict a crash"),
        ("Paper's claims", "of the paper's"),
    ],
)
def test_a_part_with_a_question_of_its_own_answers_it_in_the_title(
    facts_app: str, open_page: OpenPage, part: str, words: str
) -> None:
    page = open_page(f"{facts_app}/results?{urlencode({'part': part})}")
    expect(title(page)).to_contain_text(words)
    # The tab and the title are of one view.
    expect(page).to_have_title(f"{part} · Results · Crane Workbench")


@pytest.mark.slow
def test_a_legend_is_whole_on_a_phone_and_the_tab_names_the_part(
    facts_app: str, open_page: OpenPage
) -> None:
    page = open_page(f"{facts_app}/results?part=Stability")
    page.set_viewport_size({"width": 390, "height": 844})
    expect(page).to_have_title("Stability · Results · Crane Workbench")
    settled(page)
    page.wait_for_function(
        """() => {
            const names = [...document.querySelectorAll('.role-legend-label text')];
            const isWhole = name => !name.textContent.includes('…')
                && name.getBoundingClientRect().right <= name.closest('svg').getBoundingClientRect().right;
            return names.length === 3 && names.every(isWhole);
        }"""
    )


def test_a_phone_shows_accuracy_and_f1_until_all_figures_are_asked_for(
    facts_app: str, open_page: OpenPage
) -> None:
    page = open_page(f"{facts_app}/results")
    page.set_viewport_size({"width": 390, "height": 844})
    row = settled(page).locator(".cw-leaders tbody tr").first
    expect(row).to_contain_text("76.6%")
    expect(row.locator("[data-head=F1]")).to_be_visible()
    expect(row.locator("[data-head=Recall]")).to_be_hidden()
    page.get_by_label("All figures of a row").check()
    expect(row.locator("[data-head=Recall]")).to_be_visible()
    sees(page, "3 not ranked: no labels by published human.")
    # Every section is in sight, below each other.
    for tab in page.get_by_role("tab").all():
        box = tab.bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= 390
