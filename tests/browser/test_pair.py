"""One pair on one page: its first screen, target and crash line, state, every run and reason, the published text."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from .conftest import OpenPage
from .screen import (
    MENU,
    SLOW_WIDTHS,
    TITLES,
    arrives,
    choose,
    click_button,
    open_pair,
    sees,
    settled,
    shows_title,
    title,
)

LLMS = ("Gemini 2.5 Flash", "Qwen2.5-32B-Instruct", "GPT-5")
INPUT_FILES = {
    "crashing, code only (−RT)": "llms_inputs/executed_code/pandas/pandas_8_reproduced.txt",
    "fixed, with runtime state (+RT)": "llms_inputs/executed_code_runinfo/pandas/pandas_8_fixed.txt",
}


@pytest.fixture
def pair(full_app: str, open_page: OpenPage) -> Page:
    page = open_page(f"{full_app}/cases?case=pandas_8")
    shows_title(page, "pandas_8")
    return settled(page)


def published_text(archive: Path, file: str) -> str:
    with tarfile.open(archive) as members:
        [member] = [m for m in members if m.name.endswith(f"/{file}")]
        extracted = members.extractfile(member)
        assert extracted is not None
        return extracted.read().decode("utf-8")


def test_the_target_stands_out_and_its_crash_line_is_marked(pair: Page) -> None:
    target = pair.locator(".cw-pair .cw-target")
    expect(target).to_have_count(1)
    expect(target.locator(".cw-name")).to_have_text("Target cell")
    crash = target.locator(".cw-side.cw-crash")
    expect(crash).to_have_count(1)
    expect(crash.locator("b")).to_have_text("▶")
    assert crash.locator("code").inner_text().strip()


def test_the_first_screen_holds_verdicts_code_and_the_first_answer(
    pair: Page,
) -> None:
    for part in (".cw-verdicts", ".cw-pair .cw-target", ".cw-texts p"):
        box = pair.locator(part).first.bounding_box()
        assert box is not None
        assert box["y"] < 900
    assert pair.locator(".cw-raised").inner_text().startswith("ValueError: ")
    assert pair.title() == "pandas_8 · Crane Workbench"
    pair.mouse.wheel(0, 5_000)
    expect(title(pair)).to_be_in_viewport()
    expect(pair.locator(".cw-tabs")).to_be_in_viewport()


def test_a_mark_opens_its_answers_and_the_panel_is_switched_by_keys(
    pair: Page,
) -> None:
    state = pair.get_by_role("tab", name="State")
    state.click()
    expect(pair.locator(".cw-state-column .cw-state")).to_be_visible()
    expect(pair.locator(".cw-texts").first).to_be_hidden()
    row = pair.locator(".cw-verdicts tr").filter(
        has=pair.get_by_role("rowheader", name="GPT-5", exact=True)
    )
    mark = row.locator(".cw-mark").last
    mark.click()
    opened = pair.locator(".cw-reasons[open]")
    expect(opened).to_have_count(1)
    expect(opened.locator("summary b").first).to_have_text("GPT-5")
    place = str(mark.get_attribute("href"))
    expect(pair.locator(place)).to_be_in_viewport()
    pair.get_by_role("tab", name="Answers").press("ArrowLeft")
    expect(pair.locator(".cw-trace")).to_be_visible()


@pytest.mark.slow
def test_what_an_answer_names_is_marked_in_the_code(pair: Page) -> None:
    name = pair.locator(".cw-texts .cw-names").first
    name.hover()
    marked = "() => [...(CSS.highlights.get('cw-named') || [])].map(String)"
    phrases = pair.evaluate(marked)
    assert phrases
    assert all(phrase in name.inner_text() for phrase in phrases)
    pair.mouse.move(0, 0)
    assert pair.evaluate(marked) == []


@pytest.mark.parametrize("width", [360, *SLOW_WIDTHS])
def test_nothing_scrolls_sideways(pair: Page, width: int) -> None:
    pair.set_viewport_size({"width": width, "height": 900})
    pair.wait_for_function(
        "width => document.documentElement.clientWidth === width", arg=width
    )
    assert pair.evaluate(_WIDER) == []


_WIDER = """() => [...document.querySelectorAll('[data-testid=stMain], [data-testid=stMain] [class*=cw-]')]
    .filter(box => box.clientWidth && box.scrollWidth > box.clientWidth + 1
        && getComputedStyle(box).overflowX !== 'visible' && !box.matches('.cw-raised'))
    .map(box => `${box.className} ${box.scrollWidth} > ${box.clientWidth}`)"""


@pytest.mark.slow
def test_a_wrapped_line_hangs_and_words_that_changed_are_marked(
    pair: Page,
) -> None:
    pair.set_viewport_size({"width": 360, "height": 900})
    code = pair.locator(".cw-target .cw-changed-1 code").first
    expect(code).to_be_visible()
    indent, padding, lines = code.evaluate(
        "code => { const style = getComputedStyle(code); return [parseFloat(style.textIndent),"
        " parseFloat(style.paddingLeft), code.getBoundingClientRect().height / parseFloat(style.lineHeight)]; }"
    )
    assert lines > 1.5, "the line does not wrap"
    assert indent < 0 and padding + indent == pytest.approx(0, abs=0.5)
    assert pair.locator(".cw-target .cw-word").count() > 1


@pytest.mark.slow
def test_the_gutter_says_where_numbers_skip_and_what_the_traceback_counts(
    pair: Page, full_app: str
) -> None:
    open_pair(pair, full_app, "numpy_10")
    expect(pair.locator(".cw-crash .cw-tag")).to_have_text(
        "line 9 in the traceback, before edits"
    )
    assert "empty line" in (
        pair.locator("i.cw-skip").first.get_attribute("title") or ""
    )
    for case_id in ("pandas_9", "torchvision_1"):
        open_pair(pair, full_app, case_id)
        expect(pair.locator(".cw-target .cw-side.cw-crash")).to_have_count(1)


@pytest.mark.slow
def test_what_differs_in_the_state_is_marked(pair: Page, full_app: str) -> None:
    open_pair(pair, full_app, "sklearn_3")
    pair.get_by_role("tab", name="State").click()
    column = pair.locator(".cw-state-column")
    expect(column).to_contain_text("between crashing and fixed")
    assert column.locator(".cw-var[open] .cw-tag.cw-differs").count() > 0
    assert column.locator(".cw-grid.cw-differs").count() > 0
    assert set(column.locator(".cw-group").all_inner_texts()) <= {
        "S",
        "R",
        "V",
        "",
    }


@pytest.mark.slow
def test_every_detector_is_a_row_with_its_runs_for_each_input(
    pair: Page,
) -> None:
    rows = pair.locator(".cw-verdicts tbody tr")
    expect(rows).to_have_count(7)
    for title_of in LLMS:
        row = rows.filter(
            has=pair.get_by_role("rowheader", name=title_of, exact=True)
        )
        assert row.locator(".cw-runs").count() == 4
        assert row.locator(".cw-runs span").count() == 20


@pytest.mark.slow
def test_a_published_input_is_shown_as_it_is_in_the_archive_and_stays_with_its_pair(
    pair: Page, archive: Path
) -> None:
    for words, file in INPUT_FILES.items():
        text = published_text(archive, file)
        choose(pair, "Input text", f"{words} · {len(text):,} characters")
        pair.wait_for_function(
            "text => document.querySelector('.cw-prompt')?.textContent === text",
            arg=text,
        )
    with pair.expect_download() as download:
        click_button(pair, "Download this text")
    assert Path(download.value.path()).read_text("utf-8") == text

    click_button(pair, "Next")
    arrives(pair, "pandas_9")
    expect(pair.locator(".cw-prompt")).to_have_count(0)
    assert pair.get_by_test_id("stException").count() == 0


@pytest.mark.slow
def test_without_the_texts_the_page_says_what_is_missing_and_how_to_get_it(
    facts_app: str, open_page: OpenPage
) -> None:
    page = open_pair(open_page(facts_app), facts_app, "pandas_8")
    assert page.locator(".cw-pair, .cw-state").count() == 0
    assert (
        page.locator(".cw-verdicts tbody tr")
        .first.locator(".cw-runs span")
        .count()
        == 20
    )
    sees(page, "are not on this machine")
    page.get_by_test_id("stPageLink-NavLink").filter(
        has_text="Fetch or import them on the Data page"
    ).click()
    shows_title(page, TITLES["/data"])
    assert page.get_by_test_id("stTopNavLink").all_inner_texts() == MENU


@pytest.mark.slow
def test_a_pair_of_ours_shows_its_code_and_its_traceback(
    facts_app: str, open_page: OpenPage
) -> None:
    page = open_pair(
        open_page(facts_app), facts_app, "pandas_1", benchmark="minibench"
    )
    expect(page.locator(".cw-target")).to_have_count(1)
    expect(page.locator(".cw-side.cw-crash")).to_have_count(1)
    page.get_by_role("tab", name="Traceback").click()
    expect(page.locator(".cw-trace")).to_contain_text("KeyError")
