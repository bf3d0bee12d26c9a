"""From `vary` to Results: copies are executed, imported, answered, and compared with their originals."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from crane_core.llm.fake_server import FakePlan, fake_server
from crane_core.pipeline.judging.material import Material
from crane_core.pipeline.loading.load import prepare_or_read
from crane_core.pipeline.places import DataFolder
from crane_core.pipeline.results.known_notebooks import exported_copies
from crane_core.site.material import Collected
from crane_core.site.results import known_blocks
from crane_core.storage.cases import varied_benchmarks
from crane_core.storage.store import Store
from crane_core.ui import data
from crane_core.ui.words import literal
from tests.spoken import Run
from tests.written_pairs import write_pair

CASES = ("index", "more")
MODEL = "Heron*1*"
"""Its stars are shown, not read as Markdown."""
SAID = f"{MODEL} −RT: no evidence of a change on the copies (−50.0 pp, 95% "


def reply(*, crashes: bool) -> str:
    return json.dumps({"reasoning": "x", "detection": crashes})


REMEMBERED = reply(crashes=True), reply(crashes=False)
"""Right about every case, of which the crashing notebook is the first."""
FORGOTTEN = (reply(crashes=False),)


def answer(run: Run, benchmark: str, replies: tuple[str, ...]) -> None:
    with fake_server(FakePlan(replies=replies)) as address:
        spoken = run(
            "detect --detector llm --setting code --runs 1 --concurrency 1", "--model", MODEL,
            "--benchmark", benchmark, "--base-url", address,
        )  # fmt: skip
    assert spoken.code == 0, spoken.err


@pytest.fixture
def store(run: Run, folder: DataFolder, tmp_path: Path) -> Iterator[Store]:
    lab = tmp_path / "lab"
    for case in CASES:
        first = f"{case}_rows = [10, 20]"
        write_pair(
            lab,
            case,
            [first, f"{case}_rows[5]"],
            [first, f"{case}_rows[1]"],
            error="IndexError",
        )
    copies = tmp_path / "lab-varied"
    for spoken in (
        run("vary", str(lab), "--out", str(copies)),
        run("import", str(lab), str(copies)),
    ):
        assert spoken.code == 0, spoken.err
    answer(run, "lab", REMEMBERED)
    answer(run, "lab-varied", FORGOTTEN)
    opened = prepare_or_read(folder)
    yield opened
    opened.close()


def section() -> None:
    from crane_core.domain import DetectorKind
    from crane_core.pipeline.results.measures import Credit, VoteRule
    from crane_core.ui.known_notebooks_view import (
        draw_known_notebooks,
        has_copies,
    )
    from crane_core.ui.result_switches import ResultChoice

    chosen = ResultChoice(
        "lab", "any", DetectorKind.LLM, VoteRule.MAJORITY, Credit.STRICT
    )
    assert has_copies(chosen)
    assert has_copies(chosen._replace(benchmark="lab-varied"))
    assert not has_copies(chosen._replace(benchmark="minibench"))
    draw_known_notebooks(chosen)


def test_what_a_model_loses_on_copies_reaches_page_site_and_export(
    store: Store, folder: DataFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert varied_benchmarks(store.cursor()) == {"lab-varied": "lab"}
    material = Material(store, folder)

    rows = {one.statistic: one for one in exported_copies(material)}
    difference = rows["difference of accuracy"]
    assert (difference.value, difference.n, difference.n_cases) == (-0.5, 4, 2)
    assert (difference.benchmark, difference.group) == ("lab-varied", "lab")
    assert rows["accuracy on the originals"].value == 1.0
    assert rows["accuracy on the copies"].value == 0.5
    assert (rows["gained"].value, rows["lost"].value) == (0, 2)

    site = "".join(known_blocks(Collected(material, {}, with_texts=False)))
    assert '<h2 id="copies">Does it know the notebooks?</h2>' in site
    assert "lab-varied against lab</h3>" in site
    assert SAID in site
    assert "100.0% (" in site and "50.0% (" in site

    monkeypatch.setattr(data, "store", lambda: store)
    monkeypatch.setattr(data, "folder", lambda: folder)
    # A script that runs in this process becomes its main module, which later tests' processes would start with.
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    page = AppTest.from_function(section).run()
    assert not page.exception
    told = "".join(element.value for element in page.markdown)
    assert "**Copies against originals: the one comparison is without" in told
    assert f"- {literal(SAID)}" in told


def test_without_copies_there_is_no_section(
    small_folder: DataFolder,
) -> None:
    store = prepare_or_read(small_folder)
    try:
        material = Material(store, small_folder)
        assert not list(exported_copies(material))
        assert not list(known_blocks(Collected(material, {}, with_texts=False)))
    finally:
        store.close()
