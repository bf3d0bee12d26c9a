"""Results by other labels than the study's: a campaign's final outcomes after its lock, a sample as an estimate."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Locator, Page, expect

from benchmarks._server import serve
from crane_core.annotation.draw import CampaignRequest, draw_plan
from crane_core.annotation.plan import (
    Design,
    DrawKind,
    LabelledVerdict,
    Population,
)
from crane_core.pipeline.campaigns.campaigns import (
    asked_for,
    keep_campaign,
    lock_campaign,
)
from crane_core.pipeline.campaigns.label_frame import KEY
from crane_core.pipeline.loading.load import prepare
from crane_core.pipeline.places import DataFolder
from crane_core.pipeline.results.evaluate import verdict_frame
from crane_core.pipeline.rows import as_rows
from crane_core.storage.store import Store
from tests.given_labels import give_labels

from .conftest import OpenPage
from .screen import (
    choose,
    opened_reading,
    query,
    sees,
    settled,
    texts,
    wait_for_query,
)

STUDY = Population("junobench", "crane-llm-2025-10")
TABLE_2A = [
    "−RT 58.1%",
    "+RT 65.3%",
    "−RT 63.1%",
    "+RT 72.5%",
    "−RT 68.9%",
    "+RT 76.6%",
]
"""Accuracy without and with runtime information (paper, Table 2a)."""


def play(
    folder: DataFolder,
    store: Store,
    name: str,
    design: Design,
    *,
    is_locked: bool,
) -> None:
    """Two annotators say of everything what the published human says."""
    frame = asked_for(verdict_frame(store), STUDY)
    human = frame.set_index(KEY)["human"]
    verdicts = [
        LabelledVerdict(**row)
        for row in as_rows(frame[[*KEY, "case_id", "library", "root_cause"]])
    ]
    wish = CampaignRequest(name, ("ana", "ben"), STUDY, design, seed=7)
    plan = draw_plan(
        wish,
        verdicts,
        guideline="g",
        created_at="2026-11-21T09:00:00+00:00",
        left_out=0,
    )
    keep_campaign(folder, plan)
    for annotator in plan.annotators:
        labels = {item.item: human[item.verdict.key] for item in plan.items}
        give_labels(folder, name, annotator, labels)
    if is_locked:
        lock_campaign(folder, name, by="ana")


@pytest.fixture(scope="module")
def judged_app(
    embedded_data: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """Address of an app with campaigns: `whole` and `sample` are locked, `running` is not."""
    folder = DataFolder(tmp_path_factory.mktemp("judged") / "data")
    shutil.copytree(embedded_data, folder.path)
    store = prepare(folder)
    play(folder, store, "whole", Design(kind=DrawKind.ALL), is_locked=True)
    play(folder, store, "sample", Design(), is_locked=True)
    play(folder, store, "running", Design(), is_locked=False)
    store.close()
    with serve(folder.path) as address:
        yield address


def results(address: str, **parameters: str) -> str:
    shown = {"part": "Runtime state"} | parameters
    return f"{address}/results?{urlencode(shown)}"


def gains(page: Page) -> Locator:
    """The values beside the points of the first chart."""
    return page.get_by_test_id("stVegaLiteChart").first.locator(
        "text", has_text="RT "
    )


def gain_texts(page: Page) -> list[str]:
    expect(gains(settled(page))).to_have_count(6)
    return sorted(gains(page).all_text_contents(), key=lambda text: text[-5:])


@pytest.mark.slow
def test_a_whole_campaign_with_the_published_labels_gives_the_papers_numbers(
    judged_app: str, open_page: OpenPage
) -> None:
    page = settled(open_page(results(judged_app)))
    sees(
        page, "Diagnoses judged by published human: 501 of 501 detected crashes"
    )
    opened_reading(page)
    choose(page, "Diagnoses judged by", "whole: final")
    wait_for_query(page, judged_by="whole: final")
    sees(
        page,
        "whole: final: all 501 detected crashes have a final label (501 unanimous)",
    )
    settled(page)
    assert gain_texts(page) == sorted(TABLE_2A, key=lambda text: text[-5:])
    expect(page.locator(".cw-plain")).to_contain_text("0.026")


@pytest.mark.slow
def test_only_locked_campaigns_are_offered(
    judged_app: str, open_page: OpenPage
) -> None:
    page = settled(open_page(results(judged_app, judged_by="running: final")))
    sees(page, "Diagnoses judged by published human:")
    assert "judged_by" not in query(page)
    opened_reading(page).get_by_role(
        "combobox", name="Diagnoses judged by", exact=True
    ).press("ArrowDown")
    offered = page.get_by_role("option")
    expect(offered).to_have_count(3)
    first, *campaigns = offered.all_inner_texts()
    assert (first, set(campaigns)) == (
        "published human",
        {"whole: final", "sample: final"},
    )


@pytest.mark.slow
def test_a_sample_is_an_estimate_and_says_what_it_cannot_know(
    judged_app: str, open_page: OpenPage
) -> None:
    page = settled(open_page(results(judged_app, judged_by="sample: final")))
    line = page.get_by_text(
        "sample: final, estimated from 222 labelled of 501 detected crashes (222 unanimous)"
    )
    expect(line).to_be_visible()
    first = page.locator(".cw-plain tbody tr").first
    expect(first.locator("th")).to_have_text("Gemini 2.5 Flash")
    cells = texts(first.locator("td"))
    assert cells[0].endswith("%")
    assert cells[4:8] == ["–"] * 4
    assert "NaN" not in page.content()
    opened_reading(page).get_by_text("detection only", exact=True).click()
    wait_for_query(page, credit="detection only")
    expect(line).to_have_count(0)
    sees(gains(page), "−RT 67.6%")


@pytest.mark.slow
def test_analyzers_are_judged_by_whoever_labelled_them(
    judged_app: str, open_page: OpenPage
) -> None:
    page = settled(
        open_page(
            results(judged_app, judged_by="whole: final", kind="analyzer")
        )
    )
    sees(
        page, "Diagnoses judged by published human: 194 of 194 detected crashes"
    )
    assert (
        opened_reading(page)
        .get_by_role("combobox", name="Diagnoses judged by", exact=True)
        .count()
        == 0
    )


@pytest.mark.slow
def test_a_judge_can_be_the_one_who_judges(
    full_app: str, open_page: OpenPage
) -> None:
    page = settled(open_page(results(full_app)))
    assert gain_texts(page) == sorted(TABLE_2A, key=lambda text: text[-5:])
    opened_reading(page)
    choose(page, "Diagnoses judged by", "published judge, all repetitions")
    wait_for_query(page, judged_by="published judge, all repetitions")
    sees(page, "published judge, all repetitions: 501 of 501 detected crashes")
    settled(page)
    by_judge = gain_texts(page)
    assert not set(by_judge) & set(TABLE_2A)
    page.reload()
    settled(page)
    assert gain_texts(page) == by_judge
