"""Labels that wait in the browser: they outlive the server, the login and the tab, and are saved once."""

from __future__ import annotations

import json
import signal
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from benchmarks._server import free_port, serve
from crane_core.annotation.plan import Plan
from crane_core.domain import AnnotationAction
from crane_core.pipeline.campaigns.campaigns import (
    acts_of,
    campaign_file,
    kept_campaign,
    lock_campaign,
)
from crane_core.pipeline.loading.load import prepare
from crane_core.pipeline.places import DataFolder

from .conftest import PASSWORD, Served, profile
from .desk import (
    AHEAD_LOADED,
    COUNT_DIALOGS,
    ITEM,
    KEPT,
    LABELS,
    SAVED,
    campaign_of_all,
    in_sight,
    keep_all,
    kept_labels,
    open_desk,
    press,
    press_ready,
    unique,
)
from .line import line_to
from .screen import click_button, refuses


@pytest.fixture
def plan(answered_app: Served) -> Plan:
    """A campaign of two annotators on our own answers."""
    return campaign_of_all(answered_app, unique("waiting"))


def desk_address(address: str, plan: Plan, annotator: str = "ana") -> str:
    return f"{address}/annotate?campaign={plan.campaign}&annotator={annotator}"


def open_loaded(
    page: Page, address: str, plan: Plan, annotator: str = "ana"
) -> Page:
    """Open a desk and wait until it can go on without a server."""
    open_desk(page, address, plan.campaign, annotator)
    page.wait_for_function(AHEAD_LOADED)
    return page


def log_in(page: Page) -> None:
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    click_button(page, "Open")


def label(page: Page, keys: str) -> dict[str, str]:
    """Press the keys, each on another item; token of the item that was in sight to its label."""
    given = {}
    for key in keys:
        given[press(page, key)] = LABELS[key]
    return given


def wait_until_kept(page: Page, n: int) -> None:
    """Until the browser's storage holds so many acts."""
    page.wait_for_function(f"async n => (await ({KEPT})()).length === n", arg=n)


def times_labelled(
    folder: DataFolder, plan: Plan, annotator: str = "ana"
) -> Counter[str]:
    """Item to how many labels of it the ledger holds."""
    acts = acts_of(folder, plan, annotator)
    return Counter(
        f"{act.item}/{act.showing}"
        for act in acts
        if act.action is AnnotationAction.LABEL
    )


@pytest.mark.slow
def test_labels_outlive_a_killed_server_that_asks_for_the_password_again(
    answered: DataFolder, browser: Browser
) -> None:
    with closing(prepare(answered)) as store:
        plan = keep_all(answered, store, "waiting")
    port = free_port()
    with profile(browser) as context:
        page = context.new_page()
        with serve(
            answered.path,
            port=port,
            end_with=signal.SIGKILL,
            CRANE_PASSWORD=PASSWORD,
        ) as address:
            page.goto(desk_address(address, plan))
            log_in(page)
            page.wait_for_selector(".cw-desk .cw-card")
            given = label(page, "1")
            page.wait_for_function(SAVED)
            page.wait_for_function(AHEAD_LOADED)
        given |= label(page, "123123")
        expect(page.locator(".cw-desk-saved")).to_have_text(
            "6 labels waiting to be saved"
        )
        with serve(answered.path, port=port, CRANE_PASSWORD=PASSWORD):
            expect(page.get_by_label("Password", exact=True)).to_be_visible()
            expect(page.locator(".cw-desk-notice")).to_contain_text(
                "6 labels waiting to be saved"
            )
            given |= label(
                page, "321321"
            )  # the desk stands while the password is asked
            assert len(kept_labels(answered, plan)) == 1
            log_in(page)
            page.wait_for_function(SAVED)
            wait_until_kept(page, 0)
    assert len(given) == 13
    assert kept_labels(answered, plan) == given
    assert set(times_labelled(answered, plan).values()) == {1}


@pytest.mark.slow
def test_labelling_goes_on_by_key_and_by_mouse_long_after_the_server_is_gone(
    answered_app: Served, plan: Plan, browser: Browser
) -> None:
    with profile(browser) as context, line_to(answered_app.address) as line:
        page = open_loaded(context.new_page(), line.address, plan)
        page.evaluate(COUNT_DIALOGS)
        line.cut()
        page.wait_for_function(
            "window.dialogs > 0 && !document.querySelector('[data-testid=stDialog]')"
        )
        given = label(page, "12")
        before = page.evaluate(ITEM)
        click_button(page, "3 ✗ wrong")
        page.wait_for_function(f"before => {ITEM} !== before", arg=before)
        line.mend()
        page.wait_for_function(SAVED)
    assert kept_labels(answered_app.folder, plan) == given | {before: "wrong"}


@pytest.mark.slow
def test_labels_outlive_a_reload_while_the_password_is_asked(
    locked_app: Served, browser: Browser
) -> None:
    plan = campaign_of_all(locked_app, unique("waiting"))
    with profile(browser) as context, line_to(locked_app.address) as line:
        page = context.new_page()
        page.goto(desk_address(line.address, plan))
        log_in(page)
        page.wait_for_selector(".cw-desk .cw-card")
        page.wait_for_function(AHEAD_LOADED)
        line.cut()
        given = label(page, "12")
        wait_until_kept(page, 2)
        page.goto("about:blank")
        line.mend()
        page.goto(desk_address(line.address, plan))
        expect(page.locator(".cw-desk-notice")).to_contain_text(
            "2 labels waiting to be saved"
        )
        assert page.locator(".cw-desk-card").is_hidden()
        assert kept_labels(locked_app.folder, plan) == {}
        log_in(page)
        page.wait_for_function(SAVED)
    assert kept_labels(locked_app.folder, plan) == given


@pytest.mark.slow
def test_labels_outlive_a_tab_that_is_closed_while_the_server_is_away(
    answered_app: Served, plan: Plan, browser: Browser
) -> None:
    folder = answered_app.folder
    with profile(browser) as context, line_to(answered_app.address) as line:
        page = open_loaded(context.new_page(), line.address, plan)
        line.cut()
        given = label(page, "1231231")
        wait_until_kept(page, 7)
        page.close()
        line.mend()
        other = open_loaded(
            context.new_page(), line.address, plan, "ben"
        )  # another person of the same browser
        label(other, "1")
        other.wait_for_function(SAVED)
        wait_until_kept(other, 7)
        assert kept_labels(folder, plan) == {}
        again = open_loaded(context.new_page(), line.address, plan)
        again.wait_for_function(SAVED)
        wait_until_kept(again, 0)
        expect(again.locator(".cw-desk-progress")).to_contain_text(
            f"7 of {len(plan.orders['ana'])}"
        )
        assert in_sight(again) not in given
    assert kept_labels(folder, plan) == given
    assert set(times_labelled(folder, plan).values()) == {1}
    assert len(kept_labels(folder, plan, "ben")) == 1


def downloaded(page: Page) -> list[dict[str, object]]:
    with page.expect_download() as download:
        click_button(page, "Download labels")
    lines = Path(download.value.path()).read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


@pytest.mark.slow
def test_labels_that_come_after_the_lock_are_told_and_can_be_downloaded(
    answered_app: Served, plan: Plan, browser: Browser
) -> None:
    with profile(browser) as context, line_to(answered_app.address) as line:
        page = open_loaded(context.new_page(), line.address, plan)
        label(page, "1")
        page.wait_for_function(SAVED)
        line.cut()
        given = label(page, "23")
        wait_until_kept(page, 2)
        page.close()
        lock_campaign(answered_app.folder, plan.campaign, by="ben")
        line.mend()
        again = open_loaded(context.new_page(), line.address, plan)
        expect(again.locator(".cw-desk-notice")).to_contain_text(
            "2 labels are not saved"
        )
        expect(again.locator(".cw-desk-last")).to_contain_text("Locked by ben")
        expect(again.locator(".cw-desk-saved")).to_have_text(
            "2 labels not saved"
        )
        acts = downloaded(again)
        wait_until_kept(again, 2)
        click_button(again, "Discard them")
        expect(again.locator(".cw-desk-notice")).to_be_hidden()
        wait_until_kept(again, 0)
    assert {str(act["id"]): act["label"] for act in acts} == given
    assert {(act["campaign"], act["annotator"]) for act in acts} == {
        (plan.campaign, "ana")
    }
    assert len(kept_labels(answered_app.folder, plan)) == 1


@pytest.mark.slow
def test_labels_of_a_campaign_that_is_gone_are_told_and_can_be_downloaded(
    answered_app: Served, plan: Plan, browser: Browser
) -> None:
    with profile(browser) as context:
        page = open_loaded(context.new_page(), answered_app.address, plan)
        campaign_file(answered_app.folder, plan.campaign).unlink()
        press_ready(page, "1")
        refuses(page, "There is no campaign")
        expect(page.locator(".cw-desk-notice")).to_contain_text(
            "1 label is not saved"
        )
        assert len(downloaded(page)) == 1
        page.reload()
        refuses(page, "There is no campaign")
        expect(page.locator(".cw-desk-notice")).to_contain_text(
            "1 label is not saved"
        )
        assert [act["label"] for act in downloaded(page)] == ["correct"]


@pytest.mark.slow
def test_labels_of_an_earlier_campaign_of_the_same_name_are_not_sent(
    answered: DataFolder, browser: Browser
) -> None:
    """The file is another one after a restart: under a running server a campaign's file only grows."""
    with closing(prepare(answered)) as store:
        plan = keep_all(answered, store, "waiting")
    port = free_port()
    with profile(browser) as context:
        page = context.new_page()
        with serve(
            answered.path, port=port, end_with=signal.SIGKILL
        ) as address:
            open_loaded(page, address, plan)
        label(page, "11")
        wait_until_kept(page, 2)
        page.close()
        file = campaign_file(answered, plan.campaign)
        made_anew = file.read_text("utf-8").replace(
            plan.created_at, "2020-01-01T00:00:00+00:00"
        )
        file.write_text(made_anew, "utf-8")
        with serve(answered.path, port=port) as address:
            again = open_loaded(context.new_page(), address, plan)
            expect(again.locator(".cw-desk-notice")).to_contain_text(
                "an earlier campaign of this name"
            )
            given = label(again, "3")
            again.wait_for_function(
                "!document.querySelector('.cw-desk-saved').textContent.includes('saving')"
            )
            wait_until_kept(again, 2)
    assert (
        kept_labels(answered, kept_campaign(answered, plan.campaign).plan)
        == given
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "block",
    [
        "Object.defineProperty(window, 'indexedDB', {value: undefined})",
        "IDBFactory.prototype.open = () => { throw new DOMException('no', 'SecurityError'); }",
        "IDBObjectStore.prototype.put = () => { throw new DOMException('full', 'QuotaExceededError'); }",
    ],
)
def test_a_browser_that_keeps_nothing_is_told_and_warns_before_it_is_left(
    block: str, answered_app: Served, plan: Plan, browser: Browser
) -> None:
    asked = []
    with profile(browser) as context, line_to(answered_app.address) as line:
        page = context.new_page()
        page.add_init_script(block)
        page.on(
            "dialog",
            lambda dialog: (asked.append(dialog.type), dialog.dismiss()),
        )
        open_loaded(page, line.address, plan)
        line.cut()
        given = label(page, "12")
        expect(page.locator(".cw-desk-notice")).to_contain_text(
            "This browser keeps nothing"
        )
        with page.expect_event("dialog"):
            page.close(run_before_unload=True)
        assert asked == ["beforeunload"]
        line.mend()
        page.wait_for_function(SAVED)
    assert kept_labels(answered_app.folder, plan) == given


@pytest.mark.slow
def test_a_tab_whose_labels_are_kept_may_be_left_without_a_question(
    answered_app: Served, plan: Plan, browser: Browser
) -> None:
    with profile(browser) as context, line_to(answered_app.address) as line:
        page = open_loaded(context.new_page(), line.address, plan)
        line.cut()
        label(page, "12")
        wait_until_kept(page, 2)
        with page.expect_event("close"):
            page.close(run_before_unload=True)
