"""A visitor's case on the Data page: a good pair becomes one, another is refused in words, files stay text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Locator, Page, expect

from benchmarks._server import serve

from .conftest import OpenPage, slow
from .screen import click_button, sees, settled, title

CRASHING, FIXED = (
    ("stops = []", "first = stops[0]"),
    ("stops = []", "first = stops[0] if stops else None"),
)
SCRIPT = "<script>window.injected = 1</script><img src=x onerror='window.injected = 2'>"


@pytest.fixture(scope="module")
def running_app(copy_of_embedded: Path) -> Iterator[str]:
    """Address of an app whose visitors may run notebooks, and which these tests may change."""
    with serve(copy_of_embedded, CRANE_ALLOW_EXECUTION="1") as address:
        yield address


@pytest.fixture
def form(running_app: str, open_page: OpenPage) -> Locator:
    return opened(settled(open_page(f"{running_app}/data")))


def opened(page: Page) -> Locator:
    folded = page.get_by_test_id("stExpander").filter(
        has_text="Add your own case"
    )
    folded.locator("summary").click()
    return folded


def notebook(codes: Sequence[str]) -> bytes:
    cells = [nbformat.v4.new_code_cell(code) for code in codes]
    return str(nbformat.writes(nbformat.v4.new_notebook(cells=cells))).encode()


def fill(
    form: Locator,
    name: str,
    crashing: bytes,
    fixed: bytes,
    file: str = "trip.ipynb",
    to: str = "lab",
) -> None:
    for place, data in enumerate((crashing, fixed)):
        chosen = {"name": file, "mimeType": "application/json", "buffer": data}
        form.get_by_test_id("stFileUploaderDropzoneInput").nth(
            place
        ).set_input_files(chosen)
    expect(form.get_by_text(re.compile(r"^[\d.]+K?B$"))).to_have_count(2)
    benchmark = form.get_by_role("combobox", name=re.compile("Benchmark"))
    # As a person does: the list of names opens by a click, and Enter takes from it.
    benchmark.click()
    benchmark.fill(to)
    benchmark.press("Enter")
    form.get_by_label("Name of the case").fill(name)
    settled(form.page)


def add(form: Locator) -> None:
    click_button(form, "Check and add")


def refusal(form: Locator) -> Locator:
    return form.get_by_test_id("stAlertContentError")


@pytest.mark.slow
def test_a_good_pair_becomes_a_case_with_a_link(form: Locator) -> None:
    fill(form, "trip", notebook(CRASHING), notebook(FIXED))
    form.get_by_label("Root cause").fill("data confusion")
    add(form)
    sees(form, "Checking trip")
    told = form.get_by_test_id("stAlertContentSuccess")
    expect(told).to_contain_text(
        "trip is a case of lab now. Code cell 1 raised IndexError 2 times"
    )
    expect(told).to_contain_text("1 code cell differs.")
    page = form.page
    form.get_by_role("link", name="Open the case").click()
    expect(page.locator(".cw-target")).to_contain_text("stops[0]")
    assert title(settled(page)).inner_text() == "trip"
    expect(page.get_by_text("data confusion").first).to_be_visible()
    expect(page.get_by_role("tab", name="Traceback")).to_be_visible()
    expect(page.get_by_role("tabpanel")).to_contain_text("list index")


@pytest.mark.slow
def test_a_fix_that_does_not_pass_is_no_case(form: Locator) -> None:
    fill(
        form,
        "tour",
        notebook(CRASHING),
        notebook(["stops = [1]", "first = stops[1]"]),
    )
    add(form)
    expect(refusal(form)).to_contain_text(
        "Not a case: the fixed notebook does not run through: code cell 1 raised"
    )
    expect(refusal(form)).to_contain_text(
        "What to do: Correct it. Nothing was written."
    )
    expect(
        form.page.get_by_test_id("stMain").get_by_role(
            "link", name=re.compile("^lab: 2 cases")
        )
    ).to_have_count(0)


@pytest.mark.slow
def test_a_check_is_stopped_and_keeps_nothing(form: Locator) -> None:
    fill(
        form,
        "slow",
        notebook(["import time\ntime.sleep(600)", "1 / 0"]),
        notebook(["1", "1"]),
    )
    add(form)
    sees(form, "Checking slow")
    click_button(form, "Stop")
    sees(form, "slow was stopped; nothing was kept.")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("crashing", "name", "to", "words"),
    [
        slow(
            b"{not json",
            "x",
            "lab",
            f"{SCRIPT.replace('/', '')}.ipynb is not a readable notebook",
        ),
        slow(
            nbformat.writes(nbformat.v4.new_notebook()).encode(),
            "x",
            "lab",
            "has no code cell",
        ),
        slow(
            notebook([f"raise ValueError({SCRIPT!r})"]),
            "x",
            "lab",
            "the fixed notebook does not run through",
        ),
        (
            notebook(CRASHING),
            SCRIPT[:60],
            "lab",
            "cannot be the name of a case",
        ),
        slow(
            notebook(CRASHING),
            "pandas_1",
            "junobench",
            "junobench is not your own benchmark",
        ),
        slow(notebook(CRASHING), "x", "***", "The benchmark needs a name"),
    ],
)
def test_a_hostile_file_or_name_is_refused_as_text(
    form: Locator, crashing: bytes, name: str, to: str, words: str
) -> None:
    fixed = notebook(FIXED) if b"ValueError" not in crashing else crashing
    fill(form, name, crashing, fixed, f"{SCRIPT.replace('/', '')}.ipynb", to)
    add(form)
    expect(refusal(form)).to_contain_text(words)
    expect(refusal(form)).to_contain_text("What to do:")
    page = form.page
    assert page.get_by_test_id("stException").count() == 0
    assert page.evaluate("window.injected === undefined")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.slow
def test_a_form_without_notebooks_says_what_it_needs(form: Locator) -> None:
    add(form)
    expect(refusal(form)).to_contain_text("A case needs two notebooks.")


@pytest.mark.slow
def test_where_execution_is_off_there_is_no_form(
    facts_app: str, open_page: OpenPage
) -> None:
    form = opened(settled(open_page(f"{facts_app}/data")))
    sees(form, "this server does not run notebooks")
    expect(form.get_by_role("button", name="Check and add")).to_have_count(0)
