"""Four people over the study's 222 diagnoses: calibration, a new guideline, two of four, one replaced, a question.

What they disagree on is decided by keys; the campaign is locked, exported, and replayed elsewhere.
"""

from __future__ import annotations

import re
import shutil
from collections import Counter
from pathlib import Path
from uuid import uuid4

import pytest
from playwright.sync_api import Page, expect

from crane_core.annotation.journal import DIAGNOSIS_LABELS
from crane_core.cli import main
from crane_core.pipeline.agreement.so_far import agreement_so_far
from crane_core.pipeline.campaigns.campaigns import (
    decisions_of,
    journal_of,
    kept_campaign,
)
from crane_core.pipeline.campaigns.guideline import (
    current_guideline,
    guideline_versions,
)
from crane_core.pipeline.campaigns.label_frame import final_outcomes
from crane_core.pipeline.campaigns.labelling import LabelStore
from crane_core.pipeline.campaigns.status import campaign_status
from crane_core.pipeline.campaigns.threads import messages_of
from crane_core.pipeline.places import DataFolder

from .conftest import Host, OpenPage
from .desk import SAVED, open_desk, press, press_ready, shown_item
from .screen import (
    choose,
    click_button,
    of_campaign,
    sees,
    settled,
    shows_title,
)

NAME = "team"
FOUR = ("ana", "ben", "cem", "dia")
N_ITEMS, N_CALIBRATION = 222, 20


def said_by(annotator: str, item: str) -> str:
    """What somebody says of an item: the same for all, but cem differs at every ninth."""
    place = int(item, 16) % 3
    return str(
        DIAGNOSIS_LABELS[
            (place + 1) % 3
            if annotator == "cem" and int(item, 16) % 9 == 0
            else place
        ]
    )


def label_rest(folder: DataFolder, *people: str) -> None:
    """Everything that these people have to label now, as their desks would send it."""
    desk = LabelStore(folder, NAME)
    version = desk.guidelines()[-1].version
    for who in people:
        for coming in desk.journal(who).upcoming(1_000):
            known = {
                "item": coming.item,
                "showing": coming.showing,
                "guideline": version,
            }
            label = said_by(who, coming.item)
            act = {
                "event": f"{who}-{uuid4().hex}",
                "action": "label",
                "label": label,
            } | known
            assert desk.take(who, [act]).refused == {}


PEOPLE = "People+and+guideline"


def label_by_keys(
    folder: DataFolder, page: Page, annotator: str, n: int
) -> None:
    keys = dict(zip(map(str, DIAGNOSIS_LABELS), "123", strict=True))
    for _ in range(n):
        press(
            page,
            keys[said_by(annotator, shown_item(page, folder, NAME, annotator))],
        )
    page.wait_for_function(SAVED)


def open_campaign(page: Page, address: str, part: str) -> Page:
    page.goto(f"{address}/campaigns?campaign={NAME}&part={part}")
    shows_title(page, of_campaign(NAME))
    return settled(page)


@pytest.mark.slow
def test_a_team_of_four_from_calibration_to_a_replay_elsewhere(
    imported_data: Path, open_page: OpenPage, host: Host, tmp_path: Path
) -> None:
    folder = DataFolder(Path(shutil.copytree(imported_data, tmp_path / "data")))
    team = [
        "--annotators",
        ",".join(FOUR),
        "--seed",
        "301",
        "--overlap",
        "some",
        "--per-item",
        "2",
    ]
    made = [
        "--data",
        str(folder.path),
        "campaign",
        "create",
        NAME,
        *team,
        "--calibration",
        str(N_CALIBRATION),
    ]
    assert main(made) == 0
    with host(folder.path) as address:
        page = open_page(address)
        label_by_keys(
            folder, open_desk(page, address, NAME), "ana", N_CALIBRATION - 1
        )
        label_rest(folder, *FOUR)
        change_guideline(open_campaign(page, address, PEOPLE))
        open_main_round(open_campaign(page, address, PEOPLE))
        label_by_keys(folder, open_desk(page, address, NAME), "ana", 5)
        ask_about_one(page)
        replace_ben(open_campaign(page, address, PEOPLE))
        label_rest(folder, "ana", "cem", "dia", "eva")
        answer_question(open_campaign(page, address, "Progress"))
        open_desk_of_question(page, address)
        decide_all(page, address)
        lock(open_campaign(page, address, "Progress"))
    plan = kept_campaign(folder, NAME).plan
    finals = final_outcomes(folder, plan)
    assert (
        len(plan.items),
        {final.label is None for final in finals.values()},
    ) == (
        N_ITEMS,
        {False},
    )
    labelled = Counter(
        showing.item
        for who in (*FOUR, "eva")
        for showing in journal_of(folder, plan, who).given
    )
    assert set(labelled.values()) <= {2, 3, 4, 5}
    assert len(decisions_of(folder, plan)) > 0
    assert [message.text for message in messages_of(folder, NAME)] == [
        "The first one."
    ]
    compare_with_replay(folder, tmp_path)


def change_guideline(page: Page) -> None:
    page.get_by_text("Change the guideline").click()
    text = page.get_by_label("Text, Markdown")
    text.fill(
        f"{text.input_value()}\n\nA text that names only the symptom is partial."
    )
    page.get_by_label("Author").fill("lea")
    expect(
        page.locator(".cw-prose")
        .filter(has_text="names only the symptom is partial")
        .first
    ).to_be_attached()
    click_button(page, "Store new version")
    sees(page, re.compile("^Changed .* by lea$"))


def open_main_round(page: Page) -> None:
    opening = page.get_by_test_id("stForm").filter(
        has_text="Open the main round"
    )
    opening.get_by_label("Changed by").fill("lea")
    click_button(opening, "Open the main round")
    sees(page, "lea: the main round is open for ana, ben, cem, dia.")


def ask_about_one(page: Page) -> None:
    press_ready(page, "f")
    expect(page.locator("[data-act=flag][aria-pressed=true]")).to_be_visible()
    page.wait_for_function(SAVED)


def replace_ben(page: Page) -> None:
    page.get_by_text("Somebody leaves or is replaced").click()
    choose(page, "Annotator", "ben")
    leaving = page.get_by_test_id("stExpander").filter(
        has_text="Somebody leaves"
    )
    leaving.get_by_label("Taken over by", exact=True).fill("eva")
    leaving.get_by_label("Changed by").fill("lea")
    click_button(leaving, "Change")
    sees(page, "lea: eva joined; ben left.")


def answer_question(page: Page) -> None:
    listed = page.locator(".cw-plain tbody tr")
    expect(listed).to_have_count(1)
    settled(page)
    listed.get_by_role("link").click()
    shows_title(page, "The item that ana flagged waits for an answer")
    page.get_by_label("Message", exact=True).fill("The first one.")
    page.get_by_label("Your name").fill("lea")
    click_button(page, "Send")
    expect(page.locator(".cw-message")).to_contain_text("The first one.")


def open_desk_of_question(page: Page, address: str) -> None:
    page.goto(f"{address}/annotate?campaign={NAME}&annotator=ana&own=list")
    sees(page, "The lead answered 1 of your items")


def decide_all(page: Page, address: str) -> None:
    page.goto(f"{address}/campaigns?campaign={NAME}&decide=next")
    page.wait_for_selector(".cw-decide .cw-card")
    page.get_by_label("Who decides", exact=True).fill("lea")
    page.get_by_label("Who decides", exact=True).blur()
    done = page.get_by_text("No disagreements to resolve.")
    while not done.is_visible():
        shown = page.evaluate(
            "document.querySelector('.cw-decide')?.dataset.item"
        )
        for key in ("2", "5", "Enter"):
            page.keyboard.press(key)
        page.wait_for_function(
            "shown => document.querySelector('.cw-decide')?.dataset.item !== shown"
            " || document.body.innerText.includes('No disagreements to resolve.')",
            arg=shown,
        )
    page.wait_for_function(SAVED)


def lock(page: Page) -> None:
    click_button(page, "Lock", exact=True)
    page.get_by_label("Locked by").fill("lea")
    page.get_by_label("Locked by").blur()
    click_button(settled(page), "Lock campaign")
    expect(
        page.get_by_text(re.compile("[Ll]ocked by lea")).first
    ).to_be_visible()


def compare_with_replay(folder: DataFolder, tmp_path: Path) -> None:
    """The export makes the same campaign on another machine that has the same sources."""
    out, elsewhere = tmp_path / "export", DataFolder(tmp_path / "elsewhere")
    assert (
        main(
            [
                "--data",
                str(folder.path),
                "campaign",
                "export",
                NAME,
                "--out",
                str(out),
            ]
        )
        == 0
    )
    elsewhere.path.mkdir()
    elsewhere.sources.symlink_to(folder.sources)
    source = ["--from", str(out / "plan.json"), "--with-labels"]
    assert (
        main(["--data", str(elsewhere.path), "campaign", "create", *source])
        == 0
    )
    old, new = (
        kept_campaign(folder, NAME).plan,
        kept_campaign(elsewhere, NAME).plan,
    )
    assert (new.items, new.orders, new.rounds, new.present) == (
        old.items,
        old.orders,
        old.rounds,
        old.present,
    )
    assert final_outcomes(elsewhere, new) == final_outcomes(folder, old)
    assert agreement_so_far(elsewhere, new, locked=True) == agreement_so_far(
        folder, old, locked=True
    )
    assert [one.version for one in guideline_versions(elsewhere, new)] == [
        one.version for one in guideline_versions(folder, old)
    ]
    assert (
        current_guideline(elsewhere, new).version
        == current_guideline(folder, old).version
    )
    assert campaign_status(elsewhere, NAME).plan.items == old.items
