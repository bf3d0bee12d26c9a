"""Two tabs of one person in one browser: only one takes labels. Keys count for what was in sight, in their order."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, expect

from crane_core.annotation.order import Showing
from crane_core.pipeline.campaigns.campaigns import acts_of, journal_of
from crane_core.pipeline.campaigns.desk_names import desk_names
from crane_core.ui.annotate.snapshot import BACK

from .conftest import Served, profile
from .desk import (
    AHEAD_LOADED,
    KEPT,
    READY,
    SAVED,
    campaign_of_all,
    in_sight,
    open_desk,
    press,
    press_ready,
    unique,
)
from .screen import click_button

ASIDE = "This desk is open in another tab"


@pytest.mark.slow
def test_the_second_tab_says_so_and_takes_no_label_until_it_is_chosen(
    answered_app: Served, browser: Browser
) -> None:
    plan = campaign_of_all(answered_app, unique("tabs"))
    with profile(browser) as context:
        first = open_desk(
            context.new_page(), answered_app.address, plan.campaign
        )
        press(first, "1")
        first.wait_for_function(SAVED)
        second = open_desk(
            context.new_page(), answered_app.address, plan.campaign
        )
        notice = second.locator(".cw-desk-notice")
        expect(notice).to_contain_text(ASIDE)
        shown = in_sight(second)
        second.keyboard.press("3")
        expect(second.locator("[data-act=label-wrong]")).to_be_disabled()
        assert in_sight(second) == shown == in_sight(first)
        press(first, "2")
        first.wait_for_function(SAVED)

        click_button(notice, "Label in this tab")
        expect(notice).to_be_hidden()
        assert in_sight(second) == in_sight(first)
        expect(first.locator(".cw-desk-notice")).to_contain_text(ASIDE)
        first.keyboard.press("3")
        press(second, "1")
        second.wait_for_function(SAVED)
        first.close()
        assert (
            open_desk(second, answered_app.address, plan.campaign)
            .locator(".cw-desk-notice")
            .is_hidden()
        )
    given = journal_of(answered_app.folder, plan, "ana").given
    assert [str(entry.label) for entry in sorted(given.values(), key=lambda entry: entry.sequence)] == [
        "correct", "partial", "correct"
    ]  # fmt: skip


SET_CLOCK_BACK = """() => {
    const Now = Date, back = 3_600_000;
    window.Date = class extends Now {
        constructor(...given) { given.length ? super(...given) : super(Now.now() - back); }
        static now() { return Now.now() - back; }
    };
}"""
KEYS_FROM_THE_FIRST_MOMENT = """(() => {
    window.pressed = [];
    const press = () => {
        const desk = document.querySelector('.cw-desk');
        if (!desk) return true;
        if (desk.dataset.ready === 'true') return false;
        document.body.dispatchEvent(new KeyboardEvent('keydown', {key: '1', code: 'Digit1', bubbles: true}));
        window.pressed.push(Boolean(desk.querySelector('.cw-card')));
        return true;
    };
    const first = new MutationObserver(() => { if (window.pressed.length) first.disconnect(); else press(); });
    first.observe(document, {childList: true, subtree: true});
    const inEachFrame = () => press() && requestAnimationFrame(inEachFrame);
    requestAnimationFrame(inEachFrame);
})();"""
"""A key as soon as the desk is there and in every frame until it takes keys; whether a card was there at each."""


@pytest.mark.slow
def test_keys_need_an_item_that_was_in_sight_and_their_order_needs_no_clock(
    answered_app: Served, browser: Browser
) -> None:
    plan = campaign_of_all(answered_app, unique("order"))
    folder = answered_app.folder
    with profile(browser) as context:
        page = context.new_page()
        page.add_init_script(KEYS_FROM_THE_FIRST_MOMENT)
        open_desk(page, answered_app.address, plan.campaign)
        page.wait_for_function(READY)
        pressed = page.evaluate("window.pressed")
        assert pressed.count(True) > 2
        assert pressed.count(False) > 0
        assert acts_of(folder, plan, "ana") == []
        given = [press(page, "123"[place % 3]) for place in range(8)]
        page.wait_for_function(SAVED)

        page.reload()
        page.wait_for_function(READY)
        page.wait_for_function(AHEAD_LOADED)
        page.evaluate(
            "() => { WebSocket.prototype.send = () => {}; }"
        )  # nothing arrives from here on
        for back in (given[::-1])[:BACK]:
            press(page, "u")
            assert in_sight(page) == back
        press_ready(page, "u")  # this one's card is not here
        expect(page.locator(".cw-desk-wait")).to_have_text(
            "loading the previous item …"
        )
        page.keyboard.press("3")
        expect(page.locator(".cw-desk-missed")).to_contain_text("Not taken")
        assert in_sight(page) == given[-BACK]
        page.wait_for_function(
            f"async n => (await ({KEPT})()).length === n", arg=BACK
        )
        page.wait_for_function(READY)  # it is given up, and labelling goes on
        page.keyboard.press("3")
        page.evaluate(SET_CLOCK_BACK)
        press(page, "u")
        assert in_sight(page) == given[-BACK]
        press(page, "1")
        page.wait_for_function(
            f"async n => (await ({KEPT})()).length === n", arg=BACK + 3
        )
        page.close()
        page = context.new_page()
        open_desk(page, answered_app.address, plan.campaign)
        page.wait_for_function(SAVED)
        while given[4] != in_sight(page):
            press(page, "u")
        page.wait_for_function(SAVED)
    names = desk_names(folder, plan, "ana")
    labels = {
        names.of(one): entry.label
        for one, entry in journal_of(folder, plan, "ana").given.items()
    }
    assert labels == {
        given[0]: "correct",
        given[1]: "partial",
        given[2]: "wrong",
        given[3]: "correct",
    }
    acts = [
        act
        for act in acts_of(folder, plan, "ana")
        if names.of(Showing(act.item, act.showing)) == given[-BACK]
    ]
    assert [(act.action, act.label) for act in acts] == [
        ("label", "wrong"), ("undo", None), ("label", "wrong"), ("undo", None), ("label", "correct"), ("undo", None)
    ]  # fmt: skip
    assert [act.number for act in acts_of(folder, plan, "ana")] == list(
        range(1, len(acts_of(folder, plan, "ana")) + 1)
    )
