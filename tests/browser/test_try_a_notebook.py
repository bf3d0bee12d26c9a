"""Try a notebook: verdicts at once, kernels where that is allowed, a model over HTTP, and texts that stay texts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from playwright.sync_api import Locator, Page, expect

from benchmarks._server import serve
from crane_core.llm.fake_server import FakeModel, FakePlan, fake_server

from .conftest import OpenPage
from .screen import TITLES, choose, sees, settled, shows_title

PATH = "/try_a_notebook"
MODEL = "fake-9"
SCRIPT = "<script>window.injected = 1</script><img src=x onerror='window.injected = 2'>"
CLOSING = "</code></div></section></details></style><h1 class='injected'>not a heading</h1>"
LINK = "![picture](http://192.0.2.1/x.png) [link](javascript:alert(1))"
OPAQUE = (
    "import os\nkept = {name: 1 for name in os.listdir()}",
    "kept['no such name']",
)
"""Two cells of which only a run can tell that the second crashes."""


class HostileModel(FakeModel):
    """Its diagnoses try to be a page."""

    def _content(
        self, asked: dict[str, Any], prompt: str, *, is_lost: bool
    ) -> str:
        del asked, prompt, is_lost
        return json.dumps(
            {"reasoning": f"{SCRIPT}{CLOSING}{LINK}", "detection": True}
        )


@pytest.fixture(scope="module")
def try_app(copy_of_embedded: Path) -> Iterator[str]:
    """Address of an app whose visitors may run notebooks and ask a model."""
    with fake_server(HostileModel(FakePlan())) as base_url:
        allowed = {
            "CRANE_ALLOW_EXECUTION": "1",
            "CRANE_MODEL": MODEL,
            "CRANE_BASE_URL": base_url,
        }
        with serve(copy_of_embedded, **allowed) as address:
            yield address


@pytest.fixture
def desk(try_app: str, open_page: OpenPage) -> Page:
    """The page with its way to upload."""
    page = settled(open_page(f"{try_app}{PATH}?notebook=upload"))
    expect(page.get_by_test_id("stFileUploaderDropzoneInput")).to_be_attached()
    return page


def notebook(*codes: str) -> bytes:
    cells = [nbformat.v4.new_code_cell(code) for code in codes]
    return str(nbformat.writes(nbformat.v4.new_notebook(cells=cells))).encode()


def upload(page: Page, **files: bytes) -> None:
    """Files by their name, of which the last underscore stands for the dot."""
    page.get_by_test_id("stFileUploaderDropzoneInput").set_input_files(
        [
            {
                "name": ".".join(name.rsplit("_", 1)),
                "mimeType": "application/json",
                "buffer": data,
            }
            for name, data in files.items()
        ]
    )


def verdict(page: Page) -> Locator:
    return page.locator(".cw-verdict").first


def rehearsal(page: Page) -> Locator:
    return page.locator(".cw-verdict").filter(has_text="Rehearsed")


def button(page: Page, words: str) -> Locator:
    return page.get_by_role("button", name=words)


def refusal(page: Page) -> Locator:
    return page.get_by_test_id("stAlertContentError")


def test_a_shipped_notebook_is_judged_at_once_and_nothing_is_run(
    facts_app: str, open_page: OpenPage
) -> None:
    page = settled(open_page(f"{facts_app}{PATH}"))
    expect(verdict(page)).to_contain_text("Will crash: KeyError")
    expect(verdict(page)).to_contain_text("Write 'yield_kg '")
    expect(page.locator(".cw-target .cw-crash")).to_have_text(
        re.compile(r"yield_kg")
    )
    evidence = page.locator(".cw-state details[open] summary").filter(
        has_text="harvest"
    )
    expect(evidence.first).to_be_visible()
    sees(page, "No model is set")
    page.get_by_text(re.compile("The exact prompt")).click()
    expect(page.locator(".cw-prompt")).to_contain_text(
        'harvest.groupby("bed")["yield_kg"]'
    )

    page.goto(f"{facts_app}{PATH}?pair=pandas_1_fixed")
    expect(verdict(page)).to_contain_text("No certain crash")
    expect(verdict(page)).to_contain_text("they never say that a cell is safe")
    expect(page).to_have_title(
        "pandas_1_fixed · Try a notebook · Crane Workbench"
    )


@pytest.mark.slow
def test_where_execution_is_off_there_is_no_way_to_it(
    facts_app: str, open_page: OpenPage
) -> None:
    page = settled(open_page(f"{facts_app}{PATH}?notebook=path"))
    expect(page.get_by_label("Path", exact=True)).to_have_count(0)
    ways = page.get_by_test_id("stButtonGroup").get_by_role("radio")
    expect(ways).to_have_text(["Your notebook", "Example"])
    page.get_by_text("Your notebook", exact=True).click()
    sees(page, "nothing leaves this server, without your click")
    sees(page, "This server reads notebooks and does not run them")
    sees(page, "CRANE_ALLOW_EXECUTION=1")
    upload(page, names_ipynb=notebook(*OPAQUE))
    expect(verdict(page)).to_contain_text("Checked: the code only")
    settled(page)
    expect(
        page.get_by_role("button", name=re.compile("^(Run|Start)"))
    ).to_have_count(0)


@pytest.mark.slow
def test_an_upload_is_run_up_to_its_target(desk: Page) -> None:
    upload(desk, names_ipynb=notebook(*OPAQUE))
    expect(verdict(desk)).to_contain_text("No certain crash")
    sees(desk, "The cell before it was not run.")
    button(desk, "Run the cell before it").click()
    expect(verdict(desk)).to_contain_text("Will crash: KeyError")
    expect(verdict(desk)).to_contain_text("names.ipynb")
    expect(verdict(desk)).to_contain_text("Predicted by")
    expect(rehearsal(desk)).to_contain_text("Crashed: KeyError")
    sees(desk, re.compile(r"A crash here would cost \d+\.\d s of re-execution"))
    expect(
        desk.locator(".cw-state summary").filter(has_text="kept")
    ).to_be_visible()
    expect(desk.locator(".cw-target .cw-crash")).to_have_text(
        re.compile("no such name")
    )

    choose(
        desk, "Target: the cell that is about to run", "Code cell 0 · import os"
    )
    expect(verdict(desk)).to_contain_text("No certain crash")
    expect(button(desk, "Start a fresh kernel")).to_be_visible()


@pytest.mark.slow
def test_a_target_is_not_rehearsed_where_the_box_is_not_ticked(
    desk: Page,
) -> None:
    upload(desk, names_ipynb=notebook(*OPAQUE))
    box = desk.get_by_role("checkbox", name="Also run the target in a copy")
    expect(box).to_be_checked()
    desk.get_by_text("Also run the target in a copy").click()
    expect(box).not_to_be_checked()
    button(desk, "Run the cell before it").click()
    expect(verdict(desk)).to_contain_text("Will crash: KeyError")
    expect(box).not_to_be_checked()
    expect(rehearsal(desk)).to_have_count(0)


@pytest.mark.slow
def test_a_run_is_stopped(desk: Page) -> None:
    upload(desk, slow_ipynb=notebook("import time\ntime.sleep(600)", "missing"))
    button(desk, "Run the cell before it").click()
    sees(desk, "Running: the cell in a fresh kernel")
    expect(desk.locator(".cw-target")).to_be_visible()
    button(desk, "Stop").click()
    expect(refusal(desk)).to_contain_text("The capture was stopped.")
    sees(desk, "The run stopped before the target.")
    expect(button(desk, "Run the cell before it")).to_be_visible()


@pytest.mark.slow
def test_a_cell_that_raises_earlier_can_be_passed(desk: Page) -> None:
    upload(
        desk,
        raises_ipynb=notebook(
            "kept = {'a': 1}", "open('not_there.csv')", "kept['b']"
        ),
    )
    button(desk, "Run the 2 cells before it").click()
    expect(refusal(desk)).to_contain_text("Code cell 1 of raises.ipynb")
    expect(refusal(desk)).to_contain_text("FileNotFoundError")
    expect(refusal(desk)).to_contain_text(
        "An upload contains only the notebook"
    )
    button(desk, "Continue past cells that raise").click()
    expect(verdict(desk)).to_contain_text("Will crash: KeyError")
    expect(refusal(desk)).to_have_count(0)


def test_what_is_no_notebook_is_refused_in_words(desk: Page) -> None:
    upload(desk, broken_ipynb=b"{not json")
    expect(refusal(desk)).to_contain_text(
        "broken.ipynb is not a readable notebook"
    )
    assert "/" not in refusal(desk).inner_text().split(" is not a readable")[0]
    upload(
        desk, nocode_ipynb=nbformat.writes(nbformat.v4.new_notebook()).encode()
    )
    expect(refusal(desk)).to_contain_text("nocode.ipynb has no code cell.")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("state", "words"),
    [
        (b"[1", "The state is not JSON."),
        (
            b'{"target": 1, "captured": {"cells": "x"}, "variables": 3}',
            "not a state that `capture` wrote",
        ),
        (
            b'{"target": 1, "schema_version": 2, "captured": {"cells": [{"cell": 7}]}, "variables": {}}',
            "another target or another notebook",
        ),
        (
            b'{"target": 9}',
            "before code cell 9, which names.ipynb does not have",
        ),
    ],
)
def test_a_state_that_does_not_fit_is_refused_in_words(
    state: bytes, words: str, desk: Page
) -> None:
    upload(desk, names_ipynb=notebook(*OPAQUE), names_json=state)
    expect(refusal(desk)).to_contain_text(words)
    expect(refusal(desk)).to_contain_text("What to do:")
    assert desk.get_by_test_id("stException").count() == 0


@pytest.mark.slow
def test_texts_of_notebooks_and_models_stay_texts(desk: Page) -> None:
    setup = f"text = '''{SCRIPT}'''\nkept = {{text: 1}}"
    upload(
        desk,
        **{f"{LINK}<i>_ipynb": notebook(setup, f"kept['''{CLOSING}{LINK}''']")},
    )
    button(desk, "Run the cell before it").click()
    expect(verdict(desk)).to_contain_text("Will crash: KeyError")
    expect(verdict(desk)).to_contain_text(CLOSING)
    sees(desk, re.compile(r"tokens \(exact\) for fake-9 at 127\.0\.0\.1"))
    button(desk, f"Send it to {MODEL}").click()
    answer = desk.locator(".cw-verdict").filter(has_text=MODEL)
    expect(answer).to_contain_text("Will crash")
    for text in (SCRIPT, CLOSING, LINK):
        expect(answer).to_contain_text(text)
    desk.get_by_text("Raw reply").click()
    desk.get_by_text(re.compile("The exact prompt")).click()
    settled(desk)
    expect(
        desk.locator(".cw-prompt").filter(has_text="detection").last
    ).to_contain_text(SCRIPT)
    assert desk.locator(".injected").count() == 0
    assert (
        desk.locator(
            "[data-testid=stMain] script, [data-testid=stMain] img"
        ).count()
        == 0
    )
    assert desk.evaluate("window.injected === undefined")
    assert desk.locator("[data-testid=stMain] h1").count() == 1
    assert desk.evaluate("document.documentElement.scrollWidth <= innerWidth")
    shows_title(desk, TITLES["/try_a_notebook"])


@pytest.mark.slow
def test_a_file_on_the_server_runs_in_its_own_folder(
    try_app: str, tmp_path: Path, open_page: OpenPage
) -> None:
    (tmp_path / "beds.csv").write_text("bed;kg\nnorth;2\n")
    path = tmp_path / "beds.ipynb"
    path.write_bytes(
        notebook(
            "import csv\nrows = list(csv.DictReader(open('beds.csv'), delimiter=';'))",
            "rows[0]['k']",
        )
    )
    page = settled(open_page(f"{try_app}{PATH}?notebook=path"))
    page.get_by_label("Path", exact=True).fill(str(path))
    page.get_by_label("Path", exact=True).press("Enter")
    button(page, "Run the cell before it").click()
    expect(verdict(page)).to_contain_text("Will crash: KeyError")


@pytest.mark.slow
def test_a_fix_stands_below_the_verdict_and_is_downloaded(desk: Page) -> None:
    cells = ("ages = {'north': 3}", "n = ages['North']")
    upload(desk, beds_ipynb=notebook(*cells))
    button(desk, "Run the cell before it").click()
    card = desk.locator(".cw-verdict").filter(has_text="Fix, tried")
    expect(card).to_contain_text("Write 'north' for 'North'.")
    expect(card).to_contain_text("Ran through; n is an int; the cells after")
    expect(card.locator("del")).to_contain_text("n = ages['North']")
    expect(card.locator("ins")).to_contain_text("n = ages['north']")
    with desk.expect_download() as started:
        button(desk, "Download the notebook with the fix").click()
    file = started.value
    assert file.suggested_filename == "beds-fixed.ipynb"
    made = nbformat.reads(file.path().read_text("utf-8"), 4)
    assert made.cells[1].source == "n = ages['north']"
