"""One pair on one page: target and crash line marked, state compared, every run shown, the published text verbatim."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from .conftest import OpenPage
from .screen import MENU, TITLES, choose, open_pair, settled, title

pytestmark = pytest.mark.browser

LLMS = ("Gemini 2.5 Flash", "Qwen 2.5 32b Instruct", "GPT 5")
INPUT_FILES = {
    "reproduced, code only (−RT)": "llms_inputs/executed_code/pandas/pandas_8_reproduced.txt",
    "fixed, with runtime state (+RT)": "llms_inputs/executed_code_runinfo/pandas/pandas_8_fixed.txt",
}


@pytest.fixture
def pair(full_app: str, open_page: OpenPage) -> Page:
    page = open_page(f"{full_app}/cases?case=pandas_8")
    expect(title(page)).to_have_text("pandas_8")
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


def test_what_differs_in_the_state_is_marked(pair: Page, full_app: str) -> None:
    open_pair(pair, full_app, "sklearn_3")
    column = pair.locator(".cw-state-column")
    expect(column).to_contain_text("between crashing and fixed")
    assert column.locator(".cw-var[open] .cw-tag.cw-differs").count() > 0
    assert column.locator(".cw-grid.cw-differs").count() > 0
    assert set(column.locator(".cw-group").all_inner_texts()) <= {"S", "R", "V", ""}


def test_every_llm_shows_its_ten_runs_for_each_input(pair: Page) -> None:
    for title_of in LLMS:
        rows = pair.locator(".cw-strip tbody tr").filter(has=pair.get_by_role("cell", name=title_of, exact=True))
        expect(rows).to_have_count(2)
        for row in rows.all():
            assert row.locator(".cw-runs").count() == 2
            assert row.locator(".cw-runs span").count() == 10
            assert row.locator("details summary").count() == 2


def test_a_published_input_is_shown_as_it_is_in_the_archive_and_stays_with_its_pair(pair: Page, archive: Path) -> None:
    for words, file in INPUT_FILES.items():
        text = published_text(archive, file)
        choose(pair, "Input text", f"{words} · {len(text):,} characters")
        pair.wait_for_function("text => document.querySelector('.cw-prompt')?.textContent === text", arg=text)
    with pair.expect_download() as download:
        pair.get_by_role("button", name="Download this text").click()
    assert Path(download.value.path()).read_text("utf-8") == text

    pair.get_by_role("button", name="Next").click()
    expect(title(pair)).to_have_text("pandas_9")
    settled(pair)
    expect(pair.locator(".cw-prompt")).to_have_count(0)
    assert pair.get_by_test_id("stException").count() == 0


def test_without_the_texts_the_page_says_what_is_missing_and_how_to_get_it(facts_app: str, open_page: OpenPage) -> None:
    page = open_pair(open_page(facts_app), facts_app, "pandas_8")
    assert page.locator(".cw-pair, .cw-state").count() == 0
    assert page.locator(".cw-strip tbody tr").first.locator(".cw-runs span").count() == 10
    expect(page.get_by_text("are not on this machine")).to_be_visible()
    page.get_by_test_id("stPageLink-NavLink").filter(has_text="Fetch or import them on the Data page").click()
    expect(title(page)).to_have_text(TITLES["/data"])
    assert page.get_by_test_id("stTopNavLink").all_inner_texts() == MENU


def test_a_pair_of_ours_shows_its_code_and_its_traceback(facts_app: str, open_page: OpenPage) -> None:
    page = open_pair(open_page(facts_app), facts_app, "pandas_1", benchmark="minibench")
    expect(page.locator(".cw-target")).to_have_count(1)
    expect(page.locator(".cw-side.cw-crash")).to_have_count(1)
    page.get_by_text("Traceback: keyerror").click()
    expect(page.locator(".cw-trace")).to_contain_text("KeyError")
