"""Data: what is loaded, and bringing more through the page: uploads, a broken file, and a fetch from a mirror."""

from __future__ import annotations

import io
import json
import re
import tarfile
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from benchmarks._server import serve
from crane_core.cli import main
from crane_core.pipeline.places import embedded
from crane_core.releases import PUBLISHED
from tests.written_pairs import write_pair

from .conftest import OpenPage, slow
from .screen import TITLES, click_button, sees, settled, shows_title

DEFAULT = PUBLISHED["crane-llm"].default
ARCHIVE_PATH = f"/PELAB-LiU/crane_llm/archive/{DEFAULT}.tar.gz"
LATER = "9a8b7c6d" * 5
CASE = "pandas_1"
MODEL = "browser_test_model"


def small_study(commit: str = DEFAULT, sign: str = "") -> bytes:
    """An archive in the layout of October 2025 with one case, in our own words: a new model's answers, no facts."""
    files: dict[str, str] = {}
    for version in ("reproduced", "fixed"):
        cell, target = (
            "prices = [3, 4]\n",
            f"prices[{5 if version == 'reproduced' else 1}]\n",
        )
        body = (
            f"# Executed Cells:\n## Cell 1:\n{cell}\n\n# Target Cell:\n{target}"
        )
        files[f"llms/llms_inputs/executed_code/pandas/{CASE}_{version}.txt"] = (
            body
        )
        answers = [
            {
                "reasoning": f"Ours, number {n}{sign}.",
                "detection": version == "reproduced",
            }
            for n in range(5)
        ]
        folder = f"llms/llms_outputs/results_raw/{MODEL}/crash_detection_code"
        files[f"{folder}/{CASE}_{version}.json"] = json.dumps(answers)
    return packed(files, commit)


def packed(files: dict[str, str], commit: str = DEFAULT) -> bytes:
    """As GitHub packs them: the commit stands in the header."""
    stream = io.BytesIO()
    told = {"comment": commit}
    with tarfile.open(
        fileobj=stream, mode="w:gz", format=tarfile.PAX_FORMAT, pax_headers=told
    ) as members:
        for name, text in files.items():
            data = text.encode()
            member = tarfile.TarInfo(f"crane_llm-main/{name}")
            member.size = len(data)
            members.addfile(member, io.BytesIO(data))
    return stream.getvalue()


class Mirror(BaseHTTPRequestHandler):
    """Has one file; answers 404 to everything else."""

    content = small_study()

    def do_GET(self) -> None:
        if self.path != ARCHIVE_PATH:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.content)))
        self.end_headers()
        self.wfile.write(self.content)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: the test reads the page, not this."""


@pytest.fixture(scope="module")
def mirror() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Mirror)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def intake_app(copy_of_embedded: Path, mirror: str) -> Iterator[str]:
    """Address of an app that these tests may change; it fetches from the mirror, and one of two pairs was verified."""
    lab = copy_of_embedded.parent / "verified-lab"
    write_pair(lab, "stops", ["a = 0", "1 / a"], ["a = 1", "1 / a"])
    write_pair(lab, "zones", ["a = 1", "1 / a"], ["a = 1", "1 / a"])
    assert main(["--data", str(copy_of_embedded), "verify", str(lab)]) == 1
    with serve(copy_of_embedded, CRANE_MIRROR=mirror) as address:
        yield address


@pytest.fixture
def data_page(intake_app: str, open_page: OpenPage) -> Page:
    page = open_page(f"{intake_app}/data")
    shows_title(page, TITLES["/data"])
    return settled(page)


def rows_of(page: Page, table: str) -> Locator:
    """The number of rows that the list of tables at the end of the page says."""
    folded = page.get_by_test_id("stExpander").filter(
        has_text=re.compile("^.*Database: ")
    )
    if folded.locator("details").get_attribute("open") is None:
        folded.locator("summary").click()
    grid = folded.get_by_test_id("stDataFrame")
    row = grid.locator("tbody tr").filter(
        has=page.get_by_role(
            "gridcell", name=table, exact=True, include_hidden=True
        )
    )
    return row.locator("td").nth(1)


def cards(page: Page) -> Locator:
    """The cards of loaded sources."""
    return page.locator(".st-key-cards_of_sources [class*=st-key-source_]")


def card_of(page: Page, name: str) -> Locator:
    """The card of an archive that others publish."""
    return page.locator(f".st-key-card_{name}")


def n_rows(page: Page, table: str) -> int:
    return int((rows_of(page, table).text_content() or "").replace(",", ""))


def upload(page: Page, name: str, content: str | bytes) -> None:
    data = content.encode() if isinstance(content, str) else content
    # The first of two: the form for files of other tools is further down.
    page.get_by_test_id("stFileUploaderDropzoneInput").first.set_input_files(
        {"name": name, "mimeType": "application/octet-stream", "buffer": data}
    )
    click_button(page, "Import 1 file")


def prediction(index: int, **fields: object) -> str:
    line = {
        "instance": f"{CASE}_fixed",
        "detector": "Mine",
        "setting": "code",
        "index": index,
        "crashes": True,
    }
    return json.dumps(line | fields)


@pytest.mark.slow
def test_the_published_archive_loaded_without_a_problem(
    full_app: str, open_page: OpenPage
) -> None:
    page = settled(open_page(f"{full_app}/data"))
    expect(cards(page)).to_have_count(len(embedded()))
    archive = card_of(page, "crane-llm")
    expect(archive).to_contain_text("BSD-3-Clause")
    expect(archive.get_by_role("button")).to_have_count(1)
    expect(archive).to_contain_text("✓ loaded")
    expect(card_of(page, "junobench")).to_contain_text("○ not fetched")
    expect(page.get_by_text(re.compile(r"\d × unreadable"))).to_have_count(0)
    expect(rows_of(page, "kernel states")).to_have_text("302")
    expect(rows_of(page, "prompts")).to_have_text("444")


def test_an_upload_is_loaded_and_counted_once(data_page: Page) -> None:
    before = n_rows(data_page, "runs")
    content = "\n".join(prediction(index) for index in (1, 2, 3))
    upload(data_page, "mine.jsonl", content)
    told = data_page.get_by_text(re.compile("Loaded mine"))
    expect(told).to_contain_text("New: 1 detector, 3 answers. No problems.")
    settled(data_page)
    expect(rows_of(data_page, "runs")).to_have_text(f"{before + 3:,}")
    shown = data_page.get_by_role("link", name="See them in Results")
    assert "experiment=mine" in (shown.get_attribute("href") or "")

    settled(data_page).reload()
    settled(data_page)
    upload(data_page, "mine.jsonl", content)
    sees(data_page, "nothing changed")
    settled(data_page)
    expect(rows_of(data_page, "runs")).to_have_text(f"{before + 3:,}")


@pytest.mark.slow
def test_a_file_of_another_tool_is_mapped_on_the_page(data_page: Page) -> None:
    said = json.dumps({"detection": True, "reasoning": "<b>bold</b>"})
    result = {
        "vars": {"q": f"{CASE}_reproduced"},
        "provider": {"id": "lab:mapped"},
        "response": {"output": said},
    }
    content = json.dumps({"evalId": "e", "results": {"results": [result]}})
    data_page.get_by_text("A file of another tool").click()
    data_page.locator(".st-key-mapped_file input[type=file]").set_input_files(
        {
            "name": "tool.json",
            "mimeType": "application/json",
            "buffer": content.encode(),
        }
    )
    sees(data_page, "mapping: it does not state setting")
    mapping = data_page.get_by_label("Mapping (TOML)")
    expect(mapping).to_have_value(re.compile(r'instance = "vars\.q"'))
    mapping.fill(f'{mapping.input_value()}setting = {{ value = "code" }}\n')
    mapping.blur()
    sees(data_page, "First answers that it reads (1)")
    settled(data_page)
    click_button(data_page, "Import with this mapping")
    told = data_page.get_by_text(re.compile("Loaded tool"))
    expect(told).to_contain_text("1 answer. No problems.")


@pytest.mark.slow
def test_a_bad_line_is_told_and_its_neighbours_are_loaded(
    data_page: Page,
) -> None:
    upload(
        data_page,
        "half.jsonl",
        f"{prediction(1, detector='Half')}\n{{not json\n",
    )
    expect(data_page.get_by_text(re.compile("Loaded half"))).to_contain_text(
        "1 problem."
    )
    settled(data_page)
    click_button(data_page, "See 1 problem")
    over = data_page.get_by_role("dialog")
    problems = over.locator(".cw-problems section")
    expect(problems).to_have_count(1)
    expect(problems).to_contain_text("line 2")
    expect(problems).to_contain_text("half.jsonl")
    data_page.keyboard.press("Escape")
    expect(
        cards(data_page)
        .filter(has_text="half")
        .get_by_role("button", name="1 problem")
    ).to_have_count(1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("broken.jsonl", '{"instance": 7}\n', "no record that can be loaded"),
        slow("broken.zip", b"PK\x03\x04 and then nothing", "broken.zip"),
        slow("cut.tar.gz", small_study()[:200], "cut.tar.gz"),
    ],
)
def test_a_broken_file_is_refused_in_words_and_loads_nothing(
    name: str, content: str | bytes, words: str, data_page: Page
) -> None:
    before = n_rows(data_page, "runs")
    upload(data_page, name, content)
    refusal = data_page.get_by_test_id("stAlertContentError")
    expect(refusal).to_contain_text(words)
    expect(refusal).to_contain_text("What to do:")
    settled(data_page)
    expect(rows_of(data_page, "runs")).to_have_text(f"{before:,}")
    assert data_page.get_by_test_id("stException").count() == 0


def test_a_fetch_brings_the_texts_and_says_so(
    data_page: Page, intake_app: str
) -> None:
    click_button(data_page, "Fetch crane-llm")
    told = data_page.get_by_text(re.compile(r"Loaded .*crane-llm-2025-10"))
    expect(told).to_contain_text("4 cells")
    expect(told).to_contain_text("10 answers")
    expect(told).to_contain_text("No problems.")
    data_page.goto(f"{intake_app}/cases?case={CASE}")
    expect(data_page.locator(".cw-target")).to_contain_text("prices[5]")


def test_a_source_shows_its_release_and_commit(
    data_page: Page, intake_app: str
) -> None:
    """Another release by hand, beside the one that the button brought in the test before."""
    upload(data_page, "later.tar.gz", small_study(LATER, sign="!"))
    expect(data_page.get_by_text(re.compile("Loaded later"))).to_contain_text(
        "crane-llm-2025-10@9a8b7c6"
    )
    settled(data_page)
    # The newest copy stands on the card of the archive, the one before among the other sources.
    earlier = cards(data_page).filter(
        has=data_page.get_by_text("crane_llm-5f64351", exact=True)
    )
    expect(earlier).to_contain_text(f"release default, {DEFAULT[:7]}")
    newest = card_of(data_page, "crane-llm")
    expect(newest).to_contain_text(f"release other, {LATER[:7]}")
    shipped = cards(data_page).filter(has_text="minibench: ")
    expect(shipped).to_have_count(3)
    expect(shipped.filter(has_text="release")).to_have_count(0)
    data_page.goto(f"{intake_app}/cases?case={CASE}")
    expect(
        settled(data_page)
        .get_by_text("CRANE-LLM, release of October 2025, at 9a8b7c6")
        .first
    ).to_be_visible()


@pytest.mark.slow
def test_a_fetch_that_fails_says_what_to_do(data_page: Page) -> None:
    click_button(data_page, "Fetch junobench-construct")
    refusal = data_page.get_by_test_id("stAlertContentError")
    expect(refusal).to_contain_text("404")
    expect(refusal).to_contain_text("What to do:")


@pytest.mark.slow
def test_a_table_offers_no_download_that_writes_formulas(
    data_page: Page,
) -> None:
    """Streamlit's own button writes cells as they are; a chart's button writes them guarded."""
    data_page.get_by_text("All sources as a table").click()
    data_page.get_by_test_id("stDataFrame").first.hover()
    tools = data_page.get_by_test_id("stElementToolbarButton")
    expect(tools.get_by_label("Search").first).to_be_visible()
    expect(tools.get_by_label("Download as CSV").first).to_be_attached()
    for button in tools.get_by_label("Download as CSV").all():
        expect(button).to_be_hidden()


@pytest.mark.slow
def test_pairs_that_were_verified_are_counted_with_the_reason_for_the_others(
    data_page: Page,
) -> None:
    section = data_page.get_by_test_id("stDataFrame")
    counted = (
        section.filter(has_text="As recorded")
        .locator("tbody tr")
        .filter(has_text="verified-lab")
    )
    for place, number in enumerate("2110", start=1):
        expect(counted.locator("td").nth(place)).to_have_text(number)
    sees(data_page, "Pairs that are not what they claim to be")
    sees(data_page, "its target, code cell 1, raised nothing")
