"""Leading a campaign: a plan seen before it is stored, progress, deciding, export, lock, and a password in front."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from benchmarks._data import new_campaign
from benchmarks._server import serve
from crane_core.annotation.outcome import Final, Provenance
from crane_core.annotation.plan import Plan
from crane_core.domain import Label
from crane_core.pipeline.campaigns.campaigns import (
    campaign_names,
    kept_campaign,
)
from crane_core.pipeline.campaigns.disputes import disputes
from crane_core.pipeline.campaigns.label_frame import final_outcomes
from crane_core.pipeline.places import DataFolder
from tests.given_labels import give_labels

from .conftest import OpenPage, Served
from .desk import campaign_of_all, open_desk, study_campaign, unique
from .screen import (
    TITLES,
    Words,
    arrives,
    choose,
    click_button,
    fill,
    of_campaign,
    open_part,
    path,
    query,
    reads,
    refuses,
    sees,
    settled,
    shows_title,
    texts,
    wait_for_query,
)

PAIR = ("ana", "ben")
NAMES = ("going", "differing", "exported", "locked")
"""One campaign per test that changes one."""
TELLING = (
    "gpt",
    "gemini",
    "qwen",
    "−RT",
    "+RT",
    "code only",
    "with runtime state",
)


@pytest.fixture(scope="module")
def folder(study_app: Served) -> DataFolder:
    return study_app.folder


@pytest.fixture(scope="module")
def plans(study_app: Served) -> dict[str, Plan]:
    return {name: study_campaign(study_app, name, *PAIR) for name in NAMES}


@pytest.fixture(scope="module")
def app(study_app: Served, plans: dict[str, Plan]) -> str:
    return study_app.address


def opened(open_page: OpenPage, address: str, words: Words) -> Page:
    page = open_page(address)
    shows_title(page, words)
    return settled(page)


def rows_of(table: Locator) -> list[list[str]]:
    """Cells of a table, row by row."""
    expect(table.locator("tbody tr").first).to_be_attached()
    rows = table.locator("tbody tr").all()
    return [texts(row.locator("th, td")) for row in rows]


def test_a_plan_is_shown_before_it_is_stored(
    app: str, folder: DataFolder, open_page: OpenPage
) -> None:
    page = opened(open_page, f"{app}/campaigns", TITLES["/campaigns"])
    sees(page, "501 verdicts can be labelled")
    fill(page, "Name", "study")
    fill(page, "Annotators", "ana, ben")
    expect(page.get_by_text("needs 218")).to_contain_text("222 are drawn")
    expect(page.get_by_text("222 items belong to")).to_contain_text(
        "are not independent"
    )
    expect(page.get_by_text("501 labels of 'published human'")).to_contain_text(
        "design effect"
    )
    strata = rows_of(page.locator(".cw-plain").first)
    assert [row[1:3] for row in strata] == [
        ["90", "40"], ["99", "44"], ["79", "35"], ["88", "39"], ["71", "31"], ["74", "33"],
        ["501", "222"],
    ]  # fmt: skip
    assert rows_of(page.locator(".cw-plain").nth(1)) == [
        ["ana", "222", "11", "3.9"],
        ["ben", "222", "11", "3.9"],
    ]
    assert "study" not in campaign_names(folder)

    click_button(page, "Create campaign")
    arrives(page, of_campaign("study"))
    assert query(page) == {"campaign": ["study"]}
    plan = kept_campaign(folder, "study").plan
    assert [stratum.sampled for stratum in plan.strata] == [
        40,
        44,
        35,
        39,
        31,
        33,
    ]
    assert plan.annotators == PAIR
    assert plan.seed > 10**9
    settled(open_page(f"{app}/campaigns"))
    page.get_by_text("How the margin is computed").click()
    sees(page, re.compile(r"^Seed: [0-9]+\."))
    expect(page.get_by_text(f"Seed: {plan.seed}.")).to_have_count(0)


def test_visits_of_one_lead_share_a_draft_until_it_is_drawn_again(
    app: str, open_page: OpenPage
) -> None:
    page = opened(open_page, f"{app}/campaigns", TITLES["/campaigns"])
    fold = page.get_by_text("How the margin is computed")
    fold.click()
    seed = page.get_by_text(re.compile(r"^Seed: [0-9]+\.")).inner_text()
    page.reload()
    settled(page)
    fold.click()
    sees(page, seed)
    other = open_page(f"{app}/campaigns", user_agent="the browser of another")
    settled(other).get_by_text("How the margin is computed").click()
    sees(other, re.compile(r"^Seed: [0-9]+\."))
    expect(other.get_by_text(seed)).to_have_count(0)
    page.get_by_text("Strata, repeats, judges and seed").click()
    expect(page.get_by_label("Seed", exact=True)).to_be_in_viewport()
    settled(page)
    click_button(page, "Draw again")
    expect(page.get_by_text(seed)).to_have_count(0)
    sees(page, re.compile(r"^Seed: [0-9]+\."))


@pytest.mark.slow
def test_filters_and_the_design_change_the_plan(
    app: str, open_page: OpenPage
) -> None:
    page = opened(open_page, f"{app}/campaigns", TITLES["/campaigns"])
    choose(page, "Detectors", "gpt-5")
    sees(page, "167 verdicts can be labelled")
    fill(page, "Name", "gpt")
    fill(page, "Annotators", "ana")
    page.get_by_role("radio", name="all of them").click()
    sees(page, "Design: all 167 are labelled.")
    fill(page, "Name", "Not a name")
    refusal = page.get_by_test_id("stAlertContentError")
    expect(refusal).to_contain_text("is not a valid name for a campaign")
    below = page.locator(".st-key-fields_who").locator(
        "xpath=../following-sibling::*[1]"
    )
    expect(below).to_contain_text("is not a valid name")
    create = page.get_by_role("button", name="Create campaign")
    expect(create).to_be_disabled()


@pytest.mark.slow
def test_without_texts_the_page_says_to_bring_them(
    facts_app: str, open_page: OpenPage
) -> None:
    page = opened(open_page, f"{facts_app}/campaigns", TITLES["/campaigns"])
    sees(page, "501 verdicts match, but their texts are not loaded")
    page.get_by_test_id("stPageLink-NavLink").filter(
        has_text="Data page"
    ).click()
    shows_title(page, TITLES["/data"])


def test_progress_is_what_the_ledger_says_and_leads_to_the_desk(
    app: str, folder: DataFolder, plans: dict[str, Plan], open_page: OpenPage
) -> None:
    items = [
        showing.item
        for showing in plans["going"].orders["ana"]
        if showing.showing == 1
    ][:12]
    give_labels(
        folder,
        "going",
        "ana",
        dict.fromkeys(items[:9], "correct"),
        seconds=12.0,
    )
    give_labels(
        folder, "going", "ana", dict.fromkeys(items[9:], "wrong"), seconds=2.0
    )
    give_labels(folder, "going", "ben", dict.fromkeys(items[:4], "correct"))
    page = opened(
        open_page,
        f"{app}/campaigns?campaign=going",
        "going: 16 of 466 labelled",
    )
    progress = [
        texts(row.locator("th, td"))
        for row in page.locator(".cw-people tbody tr").all()
    ]
    assert progress[0][:6] == ["ana", "12 of 233", "0", "0", "12.0", "3 (25%)"]
    assert progress[1][:2] == ["ben", "4 of 233"]
    sees(page.locator(".cw-chip"), "labelling")
    sees(page, "the coefficient is shown from 10 on")
    expect(
        page.get_by_test_id("stVegaLiteChart")
        .locator("text", has_text="wrong")
        .first
    ).to_be_visible()
    give_labels(folder, "going", "ben", dict.fromkeys(items[4:], "correct"))
    page.reload()
    expect(page.get_by_text("over 12 items of")).to_contain_text(
        "Cohen's kappa 0.00"
    )
    page.locator(".cw-people").get_by_role("link", name="ana").click()
    page.wait_for_selector(".cw-desk")
    assert path(page) == "/annotate"
    assert query(page) == {"campaign": ["going"], "annotator": ["ana"]}


@pytest.mark.slow
def test_the_desk_tells_an_annotator_nothing_of_the_others(
    app: str, open_page: OpenPage
) -> None:
    page = open_desk(open_page(app), app, "going")
    assert "ben" not in page.get_by_test_id("stMain").inner_text().split()
    assert (
        page.get_by_test_id("stMain")
        .locator("a[href*=campaigns]:not([role=option])")
        .count()
        == 0
    )


def test_an_item_is_decided_with_a_reason_and_the_next_one_comes(
    app: str, folder: DataFolder, plans: dict[str, Plan], open_page: OpenPage
) -> None:
    plan = plans["differing"]
    first, second = sorted(item.item for item in plan.items)[:2]
    give_labels(
        folder, "differing", "ana", {first: "correct", second: "correct"}
    )
    give_labels(folder, "differing", "ben", {first: "wrong", second: "partial"})
    page = opened(
        open_page,
        f"{app}/campaigns?campaign=differing",
        "differing: 4 of 466 labelled, 2 to decide",
    )
    sees(page, "2 items with different labels.")
    click_button(page, "Decide 2 items")
    arrives(page, "Labels differ on 2 items")
    assert query(page) == {"campaign": ["differing"], "decide": ["next"]}
    expect(page.locator(".cw-said")).to_contain_text("ana")
    expect(page.locator(".cw-said section")).to_have_text(
        ["ana ✓ correct", "ben ✗ wrong"], use_inner_text=True
    )
    expect(page.locator(".cw-card .cw-truth")).to_be_visible()
    expect(page.locator(".cw-pair .cw-target")).to_be_visible()

    click_button(page, "Save and next")
    expect(page.locator(".cw-decide-told")).to_contain_text(
        "a label, a reason, and who decides"
    )
    assert disputes(folder, plan)[0].decision is None

    page.keyboard.press("2")
    expect(page.get_by_role("button", name="partial")).to_have_attribute(
        "aria-pressed", "true"
    )
    page.keyboard.press("5")
    expect(
        page.get_by_role("button", name="evidence was overlooked")
    ).to_have_attribute("aria-pressed", "true")
    page.get_by_label("Who decides", exact=True).fill("cleo")
    page.get_by_label("Note", exact=True).fill("<b>see</b> cell 2")
    click_button(page, "Save and next")
    sees(page, "1 of 2 wait for a decision")
    expect(page.locator(".cw-desk-saved")).to_have_text("saved")
    expect(page.locator(".cw-said section")).to_have_text(
        ["ana ✓ correct", "ben ◐ partial"], use_inner_text=True
    )
    expect(page.get_by_label("Who decides", exact=True)).to_have_value("cleo")
    expect(page.get_by_label("Note", exact=True)).to_have_value("")
    final = final_outcomes(folder, plan)[first]
    why = "cleo, evidence was overlooked: <b>see</b> cell 2"
    assert final == Final(Label.PARTIAL, Provenance.ADJUDICATED, why)

    click_button(page, "Back to differing")
    arrives(page, "differing: 4 of 466 labelled, 1 to decide")
    open_part(page, "Result")
    finals = {
        row[0]: row[1:] for row in rows_of(page.locator(".cw-plain").first)
    }
    assert finals["adjudicated"] == ["1", "0", "1", "0"]
    assert finals["open"][0] == "1"


@pytest.mark.slow
def test_whoever_decides_is_not_told_model_or_input_either(
    app: str, folder: DataFolder, plans: dict[str, Plan], open_page: OpenPage
) -> None:
    plan = plans["differing"]
    asked = sorted(item.item for item in plan.items)[2]
    give_labels(folder, "differing", "ana", {asked: "correct"})
    give_labels(folder, "differing", "ben", {asked: "wrong"})
    page = opened(
        open_page,
        f"{app}/campaigns?campaign=differing&decide={asked}",
        re.compile("^Labels differ on "),
    )
    expect(page.locator(".cw-said")).to_be_visible()
    told = page.get_by_test_id("stMain").inner_html().lower()
    assert [word for word in TELLING if word.lower() in told] == []
    verdict = plan.item(asked).verdict
    assert verdict.instance_id.lower() not in told


def test_an_export_is_blind_before_the_lock_and_whole_after_it(
    app: str, folder: DataFolder, plans: dict[str, Plan], open_page: OpenPage
) -> None:
    plan = plans["exported"]
    items = [item.item for item in plan.items]
    for annotator in PAIR:
        give_labels(
            folder, "exported", annotator, dict.fromkeys(items[:3], "correct")
        )
    page = opened(
        open_page,
        f"{app}/campaigns?campaign=exported&part=Result",
        of_campaign("exported"),
    )
    before = downloaded(page)
    rows = list(csv.DictReader(io.StringIO(before["labels.csv"])))
    assert (
        {row["detector"] for row in rows}
        == {row["case"] for row in rows}
        == {row["stratum"] for row in rows}
        == {""}
    )
    told = "".join(before.values()).lower()
    verdicts = [item.verdict for item in plan.items]
    names = (
        {v.detector for v in verdicts}
        | {v.instance_id.lower() for v in verdicts}
        | {str(plan.seed)}
    )
    assert [name for name in names if name in told] == []
    assert sum(row["label"] == "correct" for row in rows) == 6

    expect(page.get_by_text("Still open.")).to_contain_text("ana 219, ben 219")
    page.get_by_label("Locked by", exact=True).fill("cleo")
    click_button(page, "Lock campaign")
    refuses(page, "Items are open")
    assert kept_campaign(folder, "exported").lock is None

    page.get_by_text("Lock it although items are open").click()
    click_button(page, "Lock campaign")
    sees(page, "Locked by cleo at")
    shows_title(page, "exported: 100.0% correct (13.9 to 100.0%), 3 items")
    settled(page)
    lock = kept_campaign(folder, "exported").lock
    assert lock is not None and lock.locked_by == "cleo"
    after = downloaded(page)
    assert {
        row["detector"]
        for row in csv.DictReader(io.StringIO(after["labels.csv"]))
    } == {v.detector for v in verdicts}
    assert json.loads(after["plan.json"])["seed"] == plan.seed

    page.goto(f"{app}/campaigns?campaign=exported")
    expect(settled(page).get_by_role("tab").first).to_have_text("Result")
    expect(
        page.get_by_test_id("stVegaLiteChart").locator(
            "text", has_text="All (3"
        )
    ).to_be_visible()
    click_button(page, "Use in Results")
    wait_for_query(page, judged_by="exported: final")
    reads(page, "exported: final")


def downloaded(page: Page) -> dict[str, str]:
    """The files of the export that the button gives."""
    with page.expect_download() as download:
        click_button(page, "Export", exact=True)
    with zipfile.ZipFile(download.value.path()) as archive:
        return {
            name.split("/")[1]: archive.read(name).decode("utf-8")
            for name in archive.namelist()
        }


@pytest.mark.slow
def test_a_locked_campaign_takes_no_decision(
    app: str, folder: DataFolder, plans: dict[str, Plan], open_page: OpenPage
) -> None:
    item = plans["locked"].items[0].item
    give_labels(folder, "locked", "ana", {item: "correct"})
    give_labels(folder, "locked", "ben", {item: "wrong"})
    page = opened(
        open_page,
        f"{app}/campaigns?campaign=locked&part=Result",
        of_campaign("locked"),
    )
    page.get_by_label("Locked by", exact=True).fill("cleo")
    page.get_by_text("Lock it although items are open").click()
    click_button(page, "Lock campaign")
    sees(page, "Locked by cleo at")
    page = opened(
        open_page,
        f"{app}/campaigns?campaign=locked&decide={item}",
        re.compile("^Labels differ on "),
    )
    sees(page, "its outcomes can no longer change")
    expect(page.get_by_role("button", name="Save and next")).to_have_count(0)


@pytest.mark.slow
def test_a_name_that_is_none_is_told_and_leads_back(
    app: str, open_page: OpenPage
) -> None:
    for name in (
        "dream",
        "%3Cimg%20src=x%20onerror=alert(1)%3E",
        "..%2F..%2Fsources",
    ):
        page = open_page(f"{app}/campaigns?campaign={name}")
        refuses(page, "There is no campaign")
        settled(page)
    click_button(page, "All campaigns")
    arrives(page, TITLES["/campaigns"])
    assert query(page) == {}
    click_button(page, "going")
    arrives(page, of_campaign("going"))
    assert query(page) == {"campaign": ["going"]}
    page.go_back()
    shows_title(page, TITLES["/campaigns"])


@pytest.fixture(scope="module")
def led_app(
    imported_data: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """Address of an app that asks who leads for a password; twelve items of its campaign `guarded` have two labels."""
    folder = DataFolder(
        Path(
            shutil.copytree(
                imported_data, tmp_path_factory.mktemp("led") / "data"
            )
        )
    )
    plan = new_campaign(folder, PAIR, "guarded")
    items = [
        showing.item for showing in plan.orders["ana"] if showing.showing == 1
    ][:12]
    for annotator in PAIR:
        give_labels(
            folder, "guarded", annotator, dict.fromkeys(items, "correct")
        )
    with serve(folder.path, CRANE_LEAD_PASSWORD="léad") as address:
        yield address


@pytest.mark.slow
def test_with_a_password_only_who_leads_sees_how_annotators_do(
    led_app: str, open_page: OpenPage
) -> None:
    page = open_page(f"{led_app}/campaigns")
    asked = page.get_by_label("Password", exact=True)
    expect(asked).to_be_visible()
    settled(page)
    assert page.get_by_text("New campaign").count() == 0
    asked.fill("lead")
    click_button(page, "Open")
    expect(page.get_by_text("That is not the password.")).to_contain_text(
        "CRANE_LEAD_PASSWORD"
    )
    asked.fill("léad")
    click_button(page, "Open")
    sees(page, "New campaign")
    assert page.get_by_text("Everybody who can open this app").count() == 0
    page.get_by_test_id("stTopNavLink").filter(has_text="Annotate").click()
    shows_title(page, TITLES["/annotate"])


@pytest.mark.slow
def test_with_a_password_agreement_of_an_open_campaign_is_for_who_leads(
    led_app: str, open_page: OpenPage
) -> None:
    """Totals read after each of one's labels would tell what somebody else said."""
    page = opened(
        open_page,
        f"{led_app}/agreement?annotators=guarded%3A+ana&annotators=guarded%3A+ben",
        TITLES["/agreement"],
    )
    assert "guarded: ana" not in page.get_by_test_id("stMain").inner_text()
    page.goto(f"{led_app}/campaigns")
    page.get_by_label("Password", exact=True).fill("léad")
    click_button(page, "Open")
    sees(page, "New campaign")
    page.get_by_test_id("stTopNavLink").filter(has_text="Agreement").click()
    shows_title(page, re.compile("ana and ben"))


@pytest.mark.slow
def test_after_the_lock_its_result_is_open(
    answered_app: Served, open_page: OpenPage
) -> None:
    plan = campaign_of_all(answered_app, unique("finished"))
    for name in plan.annotators:
        give_labels(
            answered_app.folder,
            plan.campaign,
            name,
            {item.item: "correct" for item in plan.items},
        )
    page = open_page(
        f"{answered_app.address}/campaigns?campaign={plan.campaign}"
    )
    click_button(settled(page), "Lock", exact=True)
    page.get_by_label("Locked by", exact=True).fill("cleo")
    click_button(page, "Lock campaign")
    expect(
        page.get_by_role("tab", name="Result", exact=True, selected=True)
    ).to_be_visible()
