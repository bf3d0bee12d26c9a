"""A whole campaign by two people in two browsers: made, labelled by keys, taken back, decided, locked, measured."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from sklearn.metrics import cohen_kappa_score

from benchmarks._server import free_port, serve
from crane_core.annotation.journal import DIAGNOSIS_LABELS
from crane_core.annotation.outcome import Provenance
from crane_core.annotation.plan import Plan
from crane_core.domain import Label
from crane_core.pipeline.campaigns.campaigns import journal_of, kept_campaign
from crane_core.pipeline.campaigns.desk_names import desk_names
from crane_core.pipeline.campaigns.label_frame import final_outcomes
from crane_core.pipeline.places import DataFolder

from .conftest import WIDE
from .desk import (
    AHEAD_LOADED,
    SAVED,
    in_sight,
    open_desk,
    press_ready,
    shown_item,
)
from .screen import (
    arrives,
    click_button,
    of_campaign,
    settled,
    shows_title,
)

NAME = "whole"
SEED = 301
"""With this name a seed under which thirteen items stand among the first forty of both annotators."""
N_EACH = 40
KEY_OF = {
    label: key
    for key, label in zip("123", map(str, DIAGNOSIS_LABELS), strict=True)
}


@contextmanager
def people(browser: Browser, *names: str) -> Iterator[dict[str, Page]]:
    """Their own browser for each."""
    with ExitStack() as contexts:
        pages = {}
        for name in names:
            context = browser.new_context(viewport=WIDE)
            contexts.callback(context.close)
            pages[name] = context.new_page()
        yield pages


def wanted_label(annotator: str, item: str) -> str:
    """What somebody says of an item: the same for both, but for every seventh item."""
    place = int(item, 16) % 3
    return str(
        DIAGNOSIS_LABELS[
            (place + 1) % 3
            if annotator == "ben" and int(item, 16) % 7 == 0
            else place
        ]
    )


def create(page: Page, address: str) -> None:
    page.goto(f"{address}/campaigns")
    settled(page).get_by_text("Strata, repeats, judges and seed").click()
    for words, value in {
        "Name": NAME,
        "Annotators": "ana, ben",
        "Seed": str(SEED),
    }.items():
        box = page.get_by_label(words, exact=True)
        box.fill(value)
        box.press("Enter")
        settled(page)
    expect(page.get_by_text("needs 218")).to_contain_text("222 are drawn")
    click_button(page, "Create campaign")
    shows_title(page, of_campaign(NAME))


def open_loaded(page: Page, address: str, annotator: str) -> None:
    open_desk(page, address, NAME, annotator)
    page.wait_for_function(AHEAD_LOADED)


def press_label(page: Page, label: str) -> None:
    before = in_sight(page)
    press_ready(page, KEY_OF[label])
    page.wait_for_function(
        "before => !['', before].includes(document.querySelector('.cw-desk').dataset.item)",
        arg=before,
    )


def label_by_keys(
    folder: DataFolder, page: Page, annotator: str, n: int
) -> None:
    for _ in range(n):
        press_label(
            page,
            wanted_label(annotator, shown_item(page, folder, NAME, annotator)),
        )
    page.wait_for_function(SAVED)


def labels(folder: DataFolder, plan: Plan, annotator: str) -> dict[str, Label]:
    given = journal_of(folder, plan, annotator).given
    return {
        showing.item: entry.label
        for showing, entry in given.items()
        if showing.showing == 1
    }


def kappa_of(folder: DataFolder, plan: Plan) -> tuple[float, int]:
    """Cohen's kappa by scikit-learn, from what the ledger holds."""
    ana, ben = labels(folder, plan, "ana"), labels(folder, plan, "ben")
    both = sorted(ana.keys() & ben.keys())
    return float(
        cohen_kappa_score(
            [ana[item] for item in both], [ben[item] for item in both]
        )
    ), len(both)


def kappa_on_page(page: Page, address: str) -> tuple[str, str]:
    """The headline of the Agreement page: the coefficient and its n, as printed."""
    page.goto(f"{address}/agreement")
    agreed = page.get_by_text(
        re.compile(r"Of \d+ diagnoses of \d+ cases, .* have equal labels")
    )
    expect(agreed).to_be_visible()
    n = re.search(r"Of (\d+) diagnoses", agreed.inner_text())
    kappa = re.search(r"kappa (\S+)", page.locator("h1").inner_text())
    assert n and kappa
    return kappa[1].replace("−", "-"), n[1]


def decide_all(page: Page, address: str, label: str) -> int:
    """Decide every item that waits, by keys; how many there were."""
    page.goto(f"{address}/campaigns?campaign={NAME}&decide=next")
    page.wait_for_selector(".cw-decide .cw-card")
    n = 0
    while page.get_by_role("button", name="Save and next").count():
        waiting = page.get_by_text(
            re.compile(r"\d+ of \d+ wait for a decision")
        ).inner_text()
        page.get_by_label("Who decides", exact=True).fill("cleo")
        page.get_by_label("Who decides", exact=True).blur()
        page.keyboard.press(KEY_OF[label])
        page.keyboard.press("5")
        page.keyboard.press("Enter")
        expect(page.get_by_text(waiting)).to_have_count(0)
        n += 1
    page.wait_for_function(SAVED)
    return n


@pytest.mark.slow
def test_two_people_repeat_the_studys_second_labelling(
    imported_data: Path, tmp_path: Path, browser: Browser
) -> None:
    folder = DataFolder(Path(shutil.copytree(imported_data, tmp_path / "data")))
    port = free_port()
    with people(browser, "ana", "ben", "cleo") as pages:
        with serve(folder.path, port=port) as address:
            create(pages["cleo"], address)
            plan = kept_campaign(folder, NAME).plan
            for name in ("ana", "ben"):
                open_loaded(pages[name], address, name)
                label_by_keys(folder, pages[name], name, N_EACH)
                assert journal_of(folder, plan, name).n_done == N_EACH
            expected, n_both = kappa_of(folder, plan)
            assert n_both == 13
            assert kappa_on_page(pages["cleo"], address) == (
                f"{expected:.2f}",
                "13",
            )

        with serve(
            folder.path, port=port
        ) as address:  # started again: what was labelled last comes back
            common = sorted(
                labels(folder, plan, "ana").keys()
                & labels(folder, plan, "ben").keys()
            )
            back = journal_of(folder, plan, "ana").undoable()
            order = [showing.item for showing in back]
            names = [
                desk_names(folder, plan, "ana").of(showing) for showing in back
            ]
            depth = next(
                place for place, item in enumerate(order) if item in common
            )
            open_loaded(pages["ana"], address, "ana")
            for name in names[: depth + 1]:
                press_ready(pages["ana"], "u")
                pages["ana"].wait_for_function(
                    "name => document.querySelector('.cw-desk').dataset.item === name",
                    arg=name,
                )
            changed = next(
                str(label)
                for label in DIAGNOSIS_LABELS
                if str(label) != wanted_label("ben", order[depth])
            )
            press_label(
                pages["ana"],
                changed
                if changed != wanted_label("ana", order[depth])
                else "wrong",
            )
            label_by_keys(folder, pages["ana"], "ana", depth)
            assert journal_of(folder, plan, "ana").n_done == N_EACH
            after, n_after = kappa_of(folder, plan)
            assert (n_after, after) != (13, expected)
            assert kappa_on_page(pages["cleo"], address) == (
                f"{after:.2f}",
                str(n_after),
            )

            open_items = [
                i
                for i, final in final_outcomes(folder, plan).items()
                if final.provenance is Provenance.OPEN
            ]
            assert (
                decide_all(pages["cleo"], address, "partial")
                == len(open_items)
                > 0
            )
            finals = final_outcomes(folder, plan)
            assert {finals[item][:2] for item in open_items} == {
                (Label.PARTIAL, Provenance.ADJUDICATED)
            }
            assert all(
                "cleo, evidence was overlooked" in str(finals[item].why)
                for item in open_items
            )

            lock(pages["cleo"], address)
            expect(pages["ana"].locator(".cw-desk")).to_be_visible()
            pages["ana"].keyboard.press("1")
            expect(pages["ana"].locator(".cw-desk-last")).to_contain_text(
                "Locked by cleo"
            )
            assert journal_of(folder, plan, "ana").n_done == N_EACH
            assert kappa_on_page(pages["cleo"], address) == (
                f"{after:.2f}",
                str(n_after),
            )
            expect(pages["cleo"].get_by_text("is not locked")).to_have_count(0)


def lock(page: Page, address: str) -> None:
    page.goto(f"{address}/campaigns?campaign={NAME}&part=Result")
    arrives(page, of_campaign(NAME))
    page.get_by_label("Locked by", exact=True).fill("cleo")
    page.get_by_label("Locked by", exact=True).blur()
    settled(page)
    page.get_by_text("Lock it although items are open").click()
    settled(page)
    click_button(page, "Lock campaign")
    expect(
        page.get_by_text(re.compile("[Ll]ocked by cleo")).first
    ).to_be_visible()
