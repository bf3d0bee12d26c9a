"""Agreement: the answer first, every coefficient with its n, groups after the lock only, nothing without two people."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect
from sklearn.metrics import cohen_kappa_score

from crane_core.annotation.journal import DIAGNOSIS_LABELS
from crane_core.annotation.plan import Plan
from crane_core.pipeline.campaigns.campaigns import lock_campaign
from crane_core.pipeline.places import DataFolder
from tests.given_labels import give_labels

from .conftest import OpenPage, Served
from .desk import study_campaign
from .screen import (
    TITLES,
    click_button,
    grid,
    path,
    query,
    sees,
    settled,
    shows_title,
    texts,
    wait_for_query,
)

SCALE = [str(label) for label in DIAGNOSIS_LABELS]
NAMES_OF_MODELS = re.compile(r"gemini|qwen|gpt|[-−+]RT", re.IGNORECASE)
Labels = dict[str, str]


class Played(NamedTuple):
    """An app with a locked campaign, `twice`, and a blind one, `running`, that grows."""

    address: str
    folder: DataFolder
    twice: dict[str, Labels]
    running: Plan


def main(page: Page) -> str:
    return settled(page).get_by_test_id("stMain").inner_text()


def coefficients(page: Page) -> Locator:
    """The table of the three coefficients; that of judges' consistency looks like it."""
    return page.locator(".cw-coefficients", has_text="Read as")


def labelled(
    folder: DataFolder,
    plan: Plan,
    annotator: str,
    *,
    seed: int,
    items: list[str],
) -> Labels:
    """The annotator labels these items: mostly by the item's name, sometimes by chance."""
    rng = np.random.default_rng(seed)
    said = {
        item: SCALE[int(item, 16) % 3]
        if rng.random() < 0.7
        else str(rng.choice(SCALE))
        for item in items
    }
    give_labels(folder, plan.campaign, annotator, said)
    return said


@pytest.fixture(scope="module")
def played(study_app: Served) -> Played:
    folder = study_app.folder
    twice, running = (
        study_campaign(study_app, name, "ana", "ben")
        for name in ("twice", "running")
    )
    everything = [item.item for item in twice.items]
    said = {
        who: labelled(folder, twice, who, seed=seed, items=everything)
        for seed, who in enumerate(("ana", "ben"))
    }
    lock_campaign(folder, "twice", by="ana")
    names = [item.item for item in running.items]
    labelled(folder, running, "ana", seed=3, items=names[:40])
    labelled(folder, running, "ben", seed=4, items=names[:4])
    return Played(study_app.address, folder, said, running)


def agreement(address: str, *annotators: str, **parameters: str) -> str:
    return f"{address}/agreement?{urlencode([('who', name) for name in annotators] + list(parameters.items()))}"


def kappa_of(twice: dict[str, Labels]) -> float:
    items = list(twice["ana"])
    return float(
        cohen_kappa_score(
            *([twice[who][item] for item in items] for who in ("ana", "ben"))
        )
    )


def test_without_two_annotators_the_page_says_what_to_do(
    facts_app: str, open_page: OpenPage
) -> None:
    page = settled(open_page(f"{facts_app}/agreement"))
    shows_title(page, "Agreement needs two annotators")
    sees(page, "Only published human has labels here.")
    page.get_by_test_id("stPageLink-NavLink").filter(
        has_text="Import the published archive"
    ).click()
    shows_title(page, TITLES["/data"])


def test_people_and_judge_of_the_study_are_the_default(
    full_app: str, open_page: OpenPage
) -> None:
    page = settled(open_page(f"{full_app}/agreement"))
    text = main(page)
    shows_title(
        page,
        "A person and an LLM judge agree on 84.9%, little more often than by chance: kappa 0.16 (95% 0.06 to 0.30)",
    )
    assert page.title() == (
        "Agreement of a person and an LLM judge · Crane Workbench"
    )
    assert (
        "Of 404 diagnoses of 98 cases, 84.9% have equal labels (95% 78.6 to 89.6%)."
        in text
    )
    assert text.count("Published judge: not certified yet") == 1
    assert "although they agree on 84.9%, because the labels are skewed" in text
    names = texts(coefficients(page).locator("tbody th"))
    assert names == [
        "Cohen's kappa",
        "Krippendorff's alpha, ordinal",
        "Gwet's AC1",
    ]
    assert (
        "published judge, repetition 1 said “– not detected” 97 times" in text
    )
    assert query(page) == {}
    cells = texts(page.locator(".cw-matrix tbody td"))
    assert cells == [
        "338",
        "40",
        "0",
        "378",
        "6",
        "4",
        "0",
        "10",
        "9",
        "6",
        "1",
        "16",
    ]
    assert page.locator(".cw-matrix tbody td").nth(0).get_attribute(
        "title"
    ) == (
        "published human: correct; published judge, repetition 1: correct: 338 (89.4% of the row, 83.7% of all)"
    )


@pytest.mark.slow
def test_all_verdicts_have_five_labels_and_no_order(
    full_app: str, open_page: OpenPage
) -> None:
    page = settled(open_page(f"{full_app}/agreement"))
    page.get_by_test_id("stButtonGroup").get_by_text(
        "all verdicts", exact=True
    ).click()
    wait_for_query(page, of="all verdicts")
    sees(page, "of 2,220 verdicts of 111 cases")
    settled(page)
    shows_title(page, re.compile("kappa 0.66"))
    assert "it needs ordered labels" not in main(page)
    page.get_by_text("5 more coefficients").click()
    sees(page, "not defined, it needs ordered labels")
    settled(page)
    assert page.locator(".cw-matrix tbody tr").count() == 5
    expect(grid(page)).to_contain_text("Gwet's AC2, ordinal weights")
    assert "NaN" not in page.content()


def test_the_two_annotators_of_the_newest_campaign_are_the_default(
    played: Played, open_page: OpenPage
) -> None:
    page = settled(
        open_page(agreement(played.address, "twice: ana", "twice: ben"))
    )
    kappa = f"{kappa_of(played.twice):.2f}"
    shows_title(
        page,
        re.compile(rf"^ana and ben agree .* kappa {kappa} \(95% "),
    )
    assert "Of 222 diagnoses of" in main(page)
    row = coefficients(page).locator("tr", has_text="Cohen's kappa")
    expect(row).to_contain_text(kappa)
    powered = page.locator(".cw-coefficients", has_text="person alone")
    expect(powered.locator("tbody tr").first).to_contain_text("published judge")
    expect(page.get_by_text("Prediction-powered inference")).to_contain_text(
        "those of twice: ana"
    )


@pytest.mark.slow
def test_a_locked_campaign_is_shown_by_group_and_as_a_file(
    played: Played, open_page: OpenPage
) -> None:
    page = settled(
        open_page(agreement(played.address, "twice: ana", "twice: ben"))
    )
    chart = page.get_by_test_id("stVegaLiteChart").first
    for detector, n in (
        ("Gemini 2.5 Flash", 84),
        ("Qwen2.5-32B-Instruct", 64),
        ("GPT-5", 74),
    ):
        expect(
            chart.locator(
                "text",
                has_text=re.compile(rf"{re.escape(detector)}\s+\(n {n}\)"),
            )
        ).to_be_visible()
    page.get_by_test_id("stButtonGroup").get_by_text(
        "input", exact=True
    ).click()
    wait_for_query(page, group="setting")
    expect(
        chart.locator("text", has_text=re.compile(r"\+RT\s+\(n 116\)"))
    ).to_be_visible()
    settled(page)
    page.get_by_role("button", name="Export chart").first.click()
    drawer = page.get_by_test_id("stPopoverBody")
    drawer.get_by_role("tab", name="Caption").click()
    caption = drawer.locator("code").first
    expect(caption).to_contain_text("Data: JunoBench")
    expect(caption).to_contain_text(re.compile(r"\+RT 0\.\d\d \(.*n 116"))
    drawer.get_by_role("tab", name="Table").click()
    with page.expect_download() as download:
        click_button(page.get_by_test_id("stPopoverBody"), "CSV", exact=True)
    assert download.value.suggested_filename == "agreement_by_input.csv"
    rows = {
        row["setting"]: row
        for row in csv.DictReader(
            Path(download.value.path()).read_text("utf-8").splitlines()
        )
    }
    assert {name: int(row["n"]) for name, row in rows.items()} == {
        "code": 106,
        "runtime": 116,
    }
    assert all(
        float(row["low"]) < float(row["value"]) < float(row["high"])
        for row in rows.values()
    )


@pytest.mark.slow
def test_a_deep_link_names_coefficient_and_group(
    played: Played, open_page: OpenPage
) -> None:
    address = agreement(
        played.address,
        "twice: ana",
        "twice: ben",
        coefficient="Gwet's AC1",
        group="root_cause",
        of="all verdicts",
    )
    page = settled(open_page(address))
    chart = page.get_by_test_id("stVegaLiteChart").first
    expect(chart.locator("text", has_text="Gwet's AC1")).to_be_visible()
    expect(chart.locator("text", has_text="API misuse")).to_be_visible()
    assert query(page)["who"] == ["twice: ana", "twice: ben"]


@pytest.mark.slow
def test_of_three_annotators_there_is_alpha_and_no_matrix(
    played: Played, open_page: OpenPage
) -> None:
    page = settled(
        open_page(agreement(played.address, "twice: ana", "twice: ben"))
    )
    annotators = page.get_by_role("combobox", name="Annotators", exact=True)
    annotators.fill(
        "published human"
    )  # of a long list only the part in sight is drawn
    page.get_by_role("option", name="published human", exact=True).click()
    annotators.blur()
    shows_title(page, re.compile("3 people .* Krippendorff's alpha "))
    settled(page)
    assert "Of 222 diagnoses of" in main(page)
    page.get_by_text("5 more coefficients").click()
    undefined = "Cohen's kappa and Cohen's kappa, linear weights: not defined, it needs exactly two annotators"
    sees(page, undefined)
    assert page.locator(".cw-matrix").count() == 0
    assert query(page)["who"] == ["twice: ana", "twice: ben", "published human"]


@pytest.mark.slow
def test_what_they_label_differently_leads_to_its_pair(
    played: Played, open_page: OpenPage
) -> None:
    page = settled(
        open_page(agreement(played.address, "twice: ana", "twice: ben"))
    )
    n = sum(
        played.twice["ben"][item] != label
        for item, label in played.twice["ana"].items()
    )
    page.get_by_text(f"{n} of 222 diagnoses with different labels").click()
    table = page.get_by_test_id("stExpander").get_by_test_id("stDataFrame")
    expect(table).to_be_visible()
    settled(page)
    case = texts(table.locator("td[aria-colindex='2']"))[0]
    table.click(position={"x": 60, "y": 48})
    shows_title(page, case)
    assert path(page) == "/cases"


@pytest.mark.slow
def test_of_a_blind_campaign_there_are_totals_only_and_of_few_items_nothing(
    played: Played, open_page: OpenPage
) -> None:
    address = agreement(
        played.address, "running: ana", "running: ben", group="detector_title"
    )
    page = settled(open_page(address))
    shows_title(page, "4 diagnoses in common: totals appear from 10 on")
    assert page.locator(".cw-matrix").count() == 0
    assert coefficients(page).count() == 0

    names = [item.item for item in played.running.items]
    labelled(played.folder, played.running, "ben", seed=5, items=names[4:40])
    page.reload()
    sees(page, "Of 40 diagnoses of")
    settled(page)
    assert page.locator(".cw-matrix tfoot td").last.inner_text() == "40"
    sees(page, "running is not locked: totals only.")
    assert "label differently" not in main(page)
    page.evaluate(
        "document.querySelector('.cw-tools').remove()"
    )  # its glossary names inputs on every page
    assert NAMES_OF_MODELS.findall(main(page)) == []
    assert (
        NAMES_OF_MODELS.findall(page.get_by_test_id("stMain").inner_html())
        == []
    )

    lock_campaign(played.folder, "running", by="ana")
    page.reload()
    chart = page.get_by_test_id("stVegaLiteChart").first
    expect(chart.locator("text", has_text="Gemini 2.5 Flash")).to_be_visible()
    assert "diagnoses with different labels" in main(settled(page))


@pytest.mark.slow
def test_values_that_do_not_exist_fall_back_to_the_defaults(
    full_app: str, open_page: OpenPage
) -> None:
    address = agreement(
        full_app, "nobody", of="nothing", group="weather", coefficient="luck"
    )
    page = settled(open_page(address))
    shows_title(page, re.compile("kappa 0.16"))
    assert page.get_by_test_id("stException").count() == 0
