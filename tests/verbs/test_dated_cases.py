"""From cases with dates to Results: imported, answered, and compared before and after a model's cut-off."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from crane_core.llm.fake_server import FakePlan, fake_server
from crane_core.pipeline.judging.material import Material
from crane_core.pipeline.loading.load import prepare_or_read
from crane_core.pipeline.places import DataFolder
from crane_core.pipeline.results.by_date import exported_dates
from crane_core.site.material import Collected
from crane_core.site.results import date_blocks
from crane_core.ui import data
from tests.spoken import Run
from tests.written_pairs import write_pair

REPLIES = tuple(
    json.dumps({"reasoning": "x", "detection": crashes})
    for crashes in (False, False, True, False)
)
"""Right about both notebooks of the second case, which is the older one, and about one of the first."""


def section() -> None:
    import streamlit as st

    from crane_core.domain import DetectorKind
    from crane_core.pipeline.results.measures import Credit, VoteRule
    from crane_core.ui import data
    from crane_core.ui.by_date_view import dates_title, draw_by_date
    from crane_core.ui.result_switches import ResultChoice

    verdicts = data.verdicts()
    [experiment] = verdicts.loc[
        verdicts["benchmark"] == "lab", "experiment"
    ].unique()
    chosen = ResultChoice(
        "lab",
        experiment,
        DetectorKind.LLM,
        VoteRule.MAJORITY,
        Credit.DETECTION,
    )
    st.title(dates_title(chosen) or "")
    draw_by_date(chosen)


def test_dates_reach_page_site_and_export(
    run: Run,
    folder: DataFolder,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lab = tmp_path / "lab"
    for case in ("a", "b"):
        first = f"{case}_rows = [10, 20]"
        write_pair(
            lab,
            case,
            [first, f"{case}_rows[5]"],
            [first, f"{case}_rows[1]"],
            error="IndexError",
        )
    (lab / "cases.csv").write_text("case_id,created\na,2025-02\nb,2023-05-01\n")
    assert run("import", str(lab)).code == 0
    with fake_server(FakePlan(replies=REPLIES)) as address:
        spoken = run(
            "detect --detector llm --setting code --runs 1 --concurrency 1", "--model", "gpt-5", "--benchmark", "lab",
            "--base-url", address, "--price-in", "0", "--price-out", "0",
        )  # fmt: skip
    assert spoken.code == 0, spoken.err
    store = prepare_or_read(folder)
    try:
        material = Material(store, folder)
        rows = {
            one.statistic: one
            for one in exported_dates(material)
            if one.benchmark == "lab"
        }
        found = [
            (rows[f"accuracy {side} the cut-off"].value)
            for side in ("before", "after")
        ]
        assert sorted(found) == [0.5, 1.0]
        difference = rows["difference of accuracy by date"]
        assert difference.value == found[1] - found[0]
        assert (difference.n, difference.n_cases, difference.p) == (4, 2, 1.0)

        site = "".join(date_blocks(Collected(material, {}, with_texts=False)))
        assert '<h2 id="dates">What is known of each model</h2>' in site
        assert "2024-09-30" in site

        monkeypatch.setattr(data, "store", lambda: store)
        monkeypatch.setattr(data, "folder", lambda: folder)
        # A script that runs in this process becomes its main module, which later tests' processes would start with.
        monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
        page = AppTest.from_function(section).run()
        assert not page.exception
        [told] = [element.value for element in page.title]
        assert "After the cut-off against before: the one comparison" in told
    finally:
        store.close()
