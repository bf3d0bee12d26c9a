"""With logins nobody types a name: labels, decisions and the lock are of who is logged in, by invitation link here."""

from __future__ import annotations

import shutil
import signal
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from benchmarks._server import free_port, serve
from crane_core.identity.key import FILE_NAME, signing_key
from crane_core.identity.passes import Purpose, new_pass, signed
from crane_core.pipeline.campaigns.campaigns import (
    decisions_of,
    journal_of,
    kept_campaign,
)
from crane_core.pipeline.loading.load import prepare
from crane_core.pipeline.places import DataFolder
from tests.given_labels import give_labels

from .conftest import TIMEOUT_MS, WIDE, Served, profile, served
from .desk import SAVED, campaign_of_all, keep_all, press, press_ready, unique
from .screen import TITLES, arrives, click_button, sees, settled, shows_title

LISTED = """
"ana@lab.example" = "annotator"
"b.en@lab.example" = { role = "annotator", name = "ben" }
"lea@lab.example" = "lead"
"""


@pytest.fixture(scope="module")
def app(
    answered_folder: DataFolder, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    """An app whose visitors are those of LISTED."""
    place = tmp_path_factory.mktemp("own-name")
    roles, data = place / "roles.toml", place / "data"
    roles.write_text(LISTED)
    shutil.copytree(answered_folder.path, data)
    with served(data, CRANE_ROLES=str(roles)) as app:
        yield app


def invitation(folder: DataFolder, email: str) -> str:
    """The path of a new invitation of this person."""
    token = signed(
        new_pass(email, seconds=600),
        Purpose.INVITATION,
        signing_key(folder.path),
    )
    return f"/invitation?token={token}"


@contextmanager
def invited(
    browser: Browser, app: str, folder: DataFolder, email: str
) -> Iterator[Page]:
    """A browser that opened the invitation of this person."""
    with profile(browser) as context:
        page = context.new_page()
        page.goto(f"{app}{invitation(folder, email)}")
        yield page


def label_one(page: Page, key: str) -> None:
    """Open the own desk from the start and label its first item."""
    click_button(page, "Continue where you stopped")
    page.wait_for_selector(".cw-desk .cw-card")
    press(page, key)
    page.wait_for_function(SAVED)


@pytest.mark.slow
def test_everything_is_under_the_name_of_the_login(
    browser: Browser, app: Served
) -> None:
    plan = campaign_of_all(app, unique("named"))
    with invited(browser, app.address, app.folder, "ana@lab.example") as page:
        arrives(page, TITLES["/annotate"])
        for width in (1280, 1440, 1600):
            page.set_viewport_size({"width": width, "height": 900})
            last, bar = (
                page.locator(css).last.bounding_box()
                for css in ("[data-testid=stTopNavLink]", ".cw-tools")
            )
            assert last
            assert bar
            assert (
                bar["x"] > last["x"] + last["width"]
                or bar["y"] > last["y"] + last["height"]
            ), width
        page.set_viewport_size(WIDE)
        label_one(page, "1")
        page.goto(
            f"{app.address}/annotate?campaign={plan.campaign}&annotator=ben"
        )
        sees(page, "This desk is another person's; you are logged in as ana.")
        assert page.locator(".cw-desk").count() == 0
    with invited(browser, app.address, app.folder, "b.en@lab.example") as page:
        shows_title(page, TITLES["/annotate"])
        label_one(page, "3")
    assert [
        len(journal_of(app.folder, plan, name).given) for name in ("ana", "ben")
    ] == [1, 1]
    with invited(browser, app.address, app.folder, "lea@lab.example") as page:
        page.goto(
            f"{app.address}/campaigns?campaign={plan.campaign}&part=Result"
        )
        expect(page.get_by_role("button", name="Lock campaign")).to_be_visible()
        settled(page)
        assert page.get_by_label("Locked by").count() == 0
        page.get_by_text("Lock it although items are open").click()
        click_button(page, "Lock campaign")
        sees(page, "Locked by lea")
    lock = kept_campaign(app.folder, plan.campaign).lock
    assert lock is not None
    assert lock.locked_by == "lea"


@pytest.mark.slow
def test_labels_outlive_a_session_that_ends_while_the_server_is_away(
    browser: Browser, answered: DataFolder, tmp_path: Path
) -> None:
    with closing(prepare(answered)) as store:
        plan = keep_all(answered, store, "pilot")
    roles = tmp_path / "roles.toml"
    roles.write_text(LISTED)
    port = free_port()
    context = browser.new_context(viewport=WIDE)
    context.set_default_timeout(TIMEOUT_MS)
    page = context.new_page()
    with serve(
        answered.path,
        port=port,
        end_with=signal.SIGKILL,
        CRANE_ROLES=str(roles),
    ) as app:
        page.goto(f"{app}{invitation(answered, 'ana@lab.example')}")
        label_one(page, "1")
    press_ready(page, "2")
    expect(page.locator(".cw-desk-saved")).to_have_text(
        "1 label waiting to be saved"
    )
    (
        answered.path / FILE_NAME
    ).unlink()  # another key: no session of before is valid
    with serve(answered.path, port=port, CRANE_ROLES=str(roles)) as app:
        expect(
            page.get_by_text("This session was not issued by this server.")
        ).to_be_visible(timeout=TIMEOUT_MS)
        expect(page.locator(".cw-desk-notice")).to_contain_text(
            "1 label waiting to be saved"
        )
        assert len(journal_of(answered, plan, "ana").given) == 1
        other = context.new_page()
        other.goto(f"{app}{invitation(answered, 'ana@lab.example')}")
        shows_title(other, TITLES["/annotate"])
        page.reload()
        page.wait_for_selector(".cw-desk .cw-card")
        page.wait_for_function(SAVED)
        context.close()
    assert len(journal_of(answered, plan, "ana").given) == 2


@pytest.mark.slow
def test_a_decision_is_of_who_is_logged_in(
    browser: Browser, app: Served
) -> None:
    plan = campaign_of_all(app, unique("decided"), annotators=("dora", "emil"))
    item = plan.items[0].item
    for name, label in (("dora", "correct"), ("emil", "wrong")):
        give_labels(app.folder, plan.campaign, name, {item: label})
    with invited(browser, app.address, app.folder, "lea@lab.example") as page:
        page.goto(
            f"{app.address}/campaigns?campaign={plan.campaign}&decide={item}"
        )
        shows_title(page, "Labels differ on 1 item")
        page.wait_for_selector(".cw-decide .cw-card")
        expect(page.get_by_label("Who decides")).to_be_hidden()
        page.keyboard.press("1")
        page.keyboard.press("5")
        click_button(page, "Save and next")
        sees(page, "No disagreements to resolve.")
        page.wait_for_function(SAVED)
    [decision] = decisions_of(app.folder, plan).values()
    assert decision.annotator == "lea"
