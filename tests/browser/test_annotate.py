"""The labelling desk: one key a label, nothing lost or doubled, nothing told that would unblind."""

from __future__ import annotations

from contextlib import ExitStack

import pytest
from playwright.sync_api import Browser, Page, expect

from crane_core.annotation.plan import Plan
from crane_core.domain import Annotation, AnnotationAction
from crane_core.pipeline.campaigns.campaigns import acts_of, journal_of
from crane_core.pipeline.campaigns.desk_names import desk_names
from crane_core.pipeline.places import DataFolder
from crane_core.ui.annotate.snapshot import AT_ONCE

from .conftest import OpenPage, Served, profile
from .desk import (
    KEPT,
    LABELS,
    READY,
    SAVED,
    in_sight,
    kept_labels,
    open_desk,
    press_ready,
    study_campaign,
    unique,
)
from .desk import press as press_key
from .line import line_to
from .screen import (
    TITLES,
    arrives,
    click_button,
    refuses,
    sees,
    shows_title,
    wait_for_query,
)

CAMPAIGN = "pilot"


@pytest.fixture(scope="module")
def folder(study_app: Served) -> DataFolder:
    return study_app.folder


@pytest.fixture(scope="module")
def plan(study_app: Served) -> Plan:
    """A campaign of several annotators; each test labels as another of them."""
    return study_campaign(
        study_app, CAMPAIGN, "ana", "ben", "cleo", "dan", "finn", "gil", "hugo"
    )


@pytest.fixture(scope="module")
def app(study_app: Served, plan: Plan) -> str:
    return study_app.address


def press(page: Page, key: str) -> None:
    """Press a key of a label and wait until the next item stands and the page says saved."""
    press_key(page, key)
    page.wait_for_function(SAVED)


def acts(
    folder: DataFolder, plan: Plan, annotator: str, action: AnnotationAction
) -> list[Annotation]:
    return [
        act for act in acts_of(folder, plan, annotator) if act.action is action
    ]


def test_a_key_labels_saves_and_shows_the_next_item(
    app: str, folder: DataFolder, plan: Plan, open_page: OpenPage
) -> None:
    page = open_desk(open_page(app), app, CAMPAIGN, "ana")
    seen = {}
    for key in "1231":
        seen[in_sight(page)] = LABELS[key]
        press(page, key)
    assert kept_labels(folder, plan, "ana") == seen
    expect(page.locator(".cw-desk-progress")).to_contain_text(
        f"4 of {len(plan.orders['ana'])}"
    )
    for act in acts(folder, plan, "ana", AnnotationAction.LABEL):
        assert act.guideline == plan.guideline
        assert act.seconds is not None and 0 < act.seconds < 60
        assert act.shown_at is not None and act.first_action_at is not None
        assert act.shown_at <= act.first_action_at <= act.submitted_at


NOTE_PACE = """() => {
    const desk = document.querySelector('.cw-desk');
    window.waits = [];
    let pressed = null;
    addEventListener('keydown', event => { pressed = event.timeStamp; }, {capture: true});
    new MutationObserver(() => {
        if (desk.dataset.ready !== 'true' || pressed === null) return;
        window.waits.push(performance.now() - pressed);
        pressed = null;
    }).observe(desk, {attributeFilter: ['data-ready']});
}"""
"""Notes how long after each key the desk takes the next one, in milliseconds."""
ENOUGH = 100
"""Labels, taken as fast as the desk allows."""


@pytest.mark.slow
def test_a_double_tap_is_one_label_and_three_keys_a_second_are_all_taken(
    app: str, folder: DataFolder, plan: Plan, open_page: OpenPage
) -> None:
    page = open_desk(open_page(app), app, CAMPAIGN, "ben")
    page.evaluate(NOTE_PACE)
    seen, waits = {}, [float("inf")]
    while (
        min(waits) >= 333 and len(seen) < ENOUGH or len(seen) < 6
    ):  # on a busy machine the page itself takes time
        key = "123"[len(seen) % 3]
        seen[press_key(page, key)] = LABELS[key]
        page.wait_for_function(READY)
        waits = page.evaluate("window.waits")
    page.wait_for_function(SAVED)
    assert len(waits) == len(seen)
    assert min(waits) >= 250
    assert min(waits) < 333, "three labels a second"
    assert kept_labels(folder, plan, "ben") == seen

    page.wait_for_function(READY)
    first = in_sight(page)
    page.keyboard.press("1")
    page.keyboard.press(
        "2"
    )  # at once: the next item is in sight, and nobody has looked at it
    expect(page.locator(".cw-desk-missed")).to_contain_text("Not taken")
    page.wait_for_function(SAVED)
    assert kept_labels(folder, plan, "ben") == seen | {first: "correct"}


@pytest.mark.slow
def test_a_held_key_is_one_label_and_typing_labels_nothing(
    app: str, folder: DataFolder, plan: Plan, open_page: OpenPage
) -> None:
    page = open_desk(open_page(app), app, CAMPAIGN, "cleo")
    first = in_sight(page)
    page.wait_for_function(READY)
    page.keyboard.down("1")
    page.keyboard.down(
        "1"
    )  # a second "down" without "up" is the keyboard's own repetition
    page.keyboard.up("1")
    page.wait_for_function(SAVED)
    second = in_sight(page)
    press_ready(page, "n")
    page.keyboard.type("3 models say 2 things")
    page.keyboard.press("Enter")
    expect(page.locator("[data-act=note]")).to_contain_text("✎")
    press_ready(page, "f")
    page.wait_for_function(SAVED)
    assert in_sight(page) == second
    assert kept_labels(folder, plan, "cleo") == {first: "correct"}
    [note] = acts(folder, plan, "cleo", AnnotationAction.NOTE)
    showing = desk_names(folder, plan, "cleo").showing(second)
    assert showing and (note.item, note.note) == (
        showing.item,
        "3 models say 2 things",
    )
    assert [
        act.item for act in acts(folder, plan, "cleo", AnnotationAction.FLAG)
    ] == [showing.item]


def test_partial_and_wrong_open_reasons_and_undo_goes_back(
    app: str, folder: DataFolder, plan: Plan, open_page: OpenPage
) -> None:
    page = open_desk(open_page(app), app, CAMPAIGN, "dan")
    first = in_sight(page)
    press(page, "3")
    expect(page.locator(".cw-desk-last button")).to_have_count(6)
    page.keyboard.press("8")
    expect(
        page.locator(".cw-desk-last button[aria-pressed=true]")
    ).to_contain_text("e too vague")
    page.wait_for_function(SAVED)
    press(page, "1")
    expect(page.locator(".cw-desk-last button")).to_have_count(0)
    [given] = [
        entry
        for entry in journal_of(folder, plan, "dan").given.values()
        if entry.label == "wrong"
    ]
    assert given.reason == "e"

    press_ready(
        page, "s"
    )  # put off the third item, then take the first two back
    page.wait_for_function(SAVED)
    press_ready(page, "u")
    press_ready(page, "u")
    page.wait_for_function(
        "first => document.querySelector('.cw-desk').dataset.item === first",
        arg=first,
    )
    expect(page.locator(".cw-desk-last")).to_contain_text(
        "Undone: this item was ✗ wrong"
    )
    page.wait_for_function(SAVED)
    assert kept_labels(folder, plan, "dan") == {}
    press(page, "2")
    assert kept_labels(folder, plan, "dan") == {first: "partial"}
    expect(page.locator(".cw-desk-progress")).to_contain_text("1 skipped")


@pytest.mark.slow
def test_undo_goes_back_in_another_browser(
    study_app: Served, browser: Browser
) -> None:
    plan = study_campaign(study_app, unique("undone"), "eva")
    with profile(browser) as context:
        page = context.new_page()
        open_desk(page, study_app.address, plan.campaign, "eva")
        items = []
        for key in "123":
            items.append(in_sight(page))
            press(page, key)
    with profile(browser) as context:
        page = context.new_page()
        open_desk(page, study_app.address, plan.campaign, "eva")
        expect(page.locator(".cw-desk-progress")).to_contain_text(
            f"3 of {len(plan.orders['eva'])}"
        )
        press_ready(page, "u")
        page.wait_for_function(
            "item => document.querySelector('.cw-desk').dataset.item === item",
            arg=items[2],
        )
        page.wait_for_selector(".cw-desk .cw-card")
        page.wait_for_function(SAVED)
    assert kept_labels(study_app.folder, plan, "eva") == dict(
        zip(items[:2], ["correct", "partial"], strict=True)
    )


def test_labels_given_while_the_server_is_away_are_kept_and_arrive(
    study_app: Served, browser: Browser
) -> None:
    plan = study_campaign(study_app, unique("away"), "eva")
    with profile(browser) as context, line_to(study_app.address) as line:
        page = context.new_page()
        open_desk(page, line.address, plan.campaign, "eva")
        first = in_sight(page)
        press(page, "1")
        line.cut()
        given = {first: "correct"}
        for key in "123":
            given[in_sight(page)] = LABELS[key]
            press_key(page, key)
        expect(page.locator(".cw-desk-saved")).to_have_text(
            "3 labels waiting to be saved"
        )
        assert kept_labels(study_app.folder, plan, "eva") == {first: "correct"}
        line.mend()
        page.wait_for_function(SAVED)
        assert kept_labels(study_app.folder, plan, "eva") == given


@pytest.mark.slow
def test_cards_that_run_out_while_the_server_is_away_are_no_end_and_take_no_label(
    study_app: Served, browser: Browser
) -> None:
    plan = study_campaign(study_app, unique("run-out"), "eva")
    with profile(browser) as context, line_to(study_app.address) as line:
        page = context.new_page()
        open_desk(page, line.address, plan.campaign, "eva")
        line.cut()
        given = {}
        while page.locator(".cw-desk-card .cw-card").count():
            given[press_key(page, "1")] = "correct"
        for key in "123usfn":
            page.keyboard.press(key)
        expect(page.locator(".cw-desk-missed")).to_contain_text("Not taken")
        expect(page.locator(".cw-desk-wait")).to_have_text("loading …")
        expect(
            page.locator(".cw-desk [data-act=label-correct]")
        ).to_be_disabled()
        expect(page.locator(".cw-desk-card")).to_have_text(
            "Loading the next item …"
        )
        line.mend()
        page.wait_for_function(SAVED)
        page.wait_for_selector(".cw-desk .cw-card")
        assert kept_labels(study_app.folder, plan, "eva") == given
        assert (
            len(acts_of(study_app.folder, plan, "eva")) == len(given) >= AT_ONCE
        )


@pytest.mark.slow
def test_two_devices_of_one_annotator_neither_lose_nor_double_a_label_and_the_stale_one_is_told(
    app: str, folder: DataFolder, plan: Plan, browser: Browser
) -> None:
    # A second try of this test finds the labels of the first.
    before = kept_labels(folder, plan, "finn")
    acts_before = acts(folder, plan, "finn", AnnotationAction.LABEL)
    last = max((act.sequence for act in acts_before), default=0)

    def kept_now() -> dict[str, str]:
        kept = kept_labels(folder, plan, "finn")
        return {item: kept[item] for item in kept if item not in before}

    with ExitStack() as contexts:
        tabs = []
        for _ in range(2):
            context = browser.new_context()
            contexts.callback(context.close)
            tabs.append(open_desk(context.new_page(), app, CAMPAIGN, "finn"))
        one, other = tabs
        shared = in_sight(one)
        assert in_sight(other) == shared
        press(one, "1")
        told = other.locator(".cw-desk-overtaken")
        press(
            other, "3"
        )  # the same item: this device has not heard of the other's label yet
        expect(told).to_contain_text("labelled on another device")
        expect(told).to_contain_text("✓ correct. Your label here is ✗ wrong")
        assert kept_now() == {shared: "correct"}
        other.reload()
        expect(told).to_contain_text("Your label here is ✗ wrong")
        told.locator("summary").click()
        expect(told.locator(".cw-card")).to_be_visible()
        click_button(other, "Store mine: ✗ wrong")
        expect(told).to_be_hidden()
        other.wait_for_function(SAVED)
        assert kept_now() == {shared: "wrong"}

        second = in_sight(other)
        press(other, "2")
        assert (
            press_key(one, "2") == second
        )  # the same label: nothing to decide
        one.wait_for_function(SAVED)
        third = press_key(other, "1")
        other.wait_for_function(SAVED)
        assert press_key(one, "3") == third
        expect(one.locator(".cw-desk-overtaken")).to_contain_text(
            "Your label here is ✗ wrong"
        )
        click_button(one, "Keep ✓ correct")
        expect(one.locator(".cw-desk-overtaken")).to_be_hidden()
        one.wait_for_function(f"async () => (await ({KEPT})()).length === 0")
    assert kept_now() == {
        shared: "wrong",
        second: "partial",
        third: "correct",
    }
    label_acts = acts(folder, plan, "finn", AnnotationAction.LABEL)
    label_acts = label_acts[len(acts_before) :]
    assert [act.sequence - last for act in label_acts] == [1, 2, 3, 4]
    assert len({act.device for act in label_acts}) == 2


def test_nothing_that_tells_model_setting_or_run_reaches_the_browser(
    app: str, folder: DataFolder, plan: Plan, browser: Browser
) -> None:
    """The frames of the websocket, the page, its address and what the browser stores, after 25 items with evidence."""
    context = browser.new_context()
    frames: list[bytes] = []
    try:
        page = context.new_page()
        page.on(
            "websocket",
            lambda socket: socket.on(
                "framereceived", lambda data: frames.append(_bytes(data))
            ),
        )
        open_desk(page, app, CAMPAIGN, "gil")
        for place in range(25):
            press(page, "123"[place % 3])
        page.keyboard.press("d")
        page.wait_for_selector(".cw-desk-evidence .cw-pair")
        page.wait_for_function(SAVED)
        stop_the_socket(page)
        press_ready(page, "1")  # waits in the browser's storage
        page.wait_for_function(f"async () => (await ({KEPT})()).length === 1")
        stored = page.evaluate(
            f"async () => JSON.stringify([await ({KEPT})(), await indexedDB.databases(), Object.entries(localStorage), "
            "Object.entries(sessionStorage), document.cookie])"
        )
        seen = b"\n".join(
            [
                *frames,
                page.content().encode(),
                page.url.encode(),
                stored.encode(),
            ]
        ).decode("utf-8", "replace")
    finally:
        context.close()
    assert len(frames) > 25
    assert all(
        item in seen for item in list(kept_labels(folder, plan, "gil"))[:20]
    )
    for secret in _secrets(plan):
        assert secret not in seen, secret


def stop_the_socket(page: Page) -> None:
    """From here on nothing that the page sends arrives."""
    page.evaluate("() => { WebSocket.prototype.send = () => {}; }")


def _bytes(data: str | bytes) -> bytes:
    return data.encode() if isinstance(data, str) else data


def _secrets(plan: Plan) -> list[str]:
    """Everything that names a detector, a setting's input, an experiment, a run or another annotator."""
    verdicts = [item.verdict for item in plan.items]
    detectors = {verdict.detector for verdict in verdicts}
    titles = {"Gemini 2.5 Flash", "Qwen2.5-32B-Instruct", "GPT-5"}
    words = {
        "+RT",
        "−RT",
        "with runtime state",
        "code only",
        "runtime information",
        "run_index",
        "setting",
    }
    others = set(plan.annotators) - {"gil"}
    names = {f'"{name}"' for name in others} | {
        f"annotator={name}" for name in others
    }
    return sorted(
        detectors | titles | words | {plan.population.experiment} | names
    )


def test_practice_tells_at_once_what_the_guideline_says_and_keeps_nothing(
    app: str, folder: DataFolder, open_page: OpenPage
) -> None:
    before = sorted(folder.ledger.rglob("*.jsonl"))
    page = open_page(f"{app}/annotate")
    click_button(page, "Practice first: ten items with feedback")
    page.wait_for_selector(".cw-desk .cw-card")
    wait_for_query(page, practice="1")
    expect(page).to_have_title("Practice · Annotate · Crane Workbench")
    for place in range(10):
        press_ready(page, "1")
        feedback = page.locator(".cw-desk-feedback")
        expect(feedback).to_be_visible()
        right = "as in the guideline" in feedback.inner_text()
        assert feedback.get_attribute("data-right") == str(right).lower()
        page.keyboard.press("Enter")
        expect(page.locator(".cw-desk-progress")).to_contain_text(
            f"{place + 1} of 10"
        )
    expect(page.locator(".cw-desk-end")).to_contain_text(
        "4 of 10 as in the guideline"
    )
    misses = page.locator(".cw-desk-review details")
    expect(misses).to_have_count(6)
    expect(misses.first).to_contain_text(
        "You said ✓ correct; the guideline says"
    )
    misses.first.locator("summary").click()
    expect(misses.first.locator(".cw-card")).to_be_visible()
    click_button(page, "Again")
    expect(page.locator(".cw-desk-progress")).to_contain_text("0 of 10")
    expect(page.locator(".cw-desk-card .cw-card")).to_be_visible()
    assert sorted(folder.ledger.rglob("*.jsonl")) == before


@pytest.mark.slow
def test_the_keys_are_told_and_leave_streamlits_alone(
    app: str, open_page: OpenPage
) -> None:
    page = open_desk(open_page(app), app, CAMPAIGN, "ana")
    printed = {
        key.strip().upper()
        for key in page.locator(".cw-desk kbd").all_inner_texts()
    }
    assert printed.isdisjoint({"R", "C"})
    page.keyboard.press("?")
    expect(page.locator(".cw-desk-keys")).to_be_visible()
    before = in_sight(page)
    page.keyboard.press("1")
    assert in_sight(page) == before
    page.keyboard.press("Escape")
    expect(page.locator(".cw-desk-keys")).not_to_be_visible()
    click_button(page, "Guideline")
    sees(page, "Your task.")


@pytest.mark.slow
def test_choosing_a_name_keeps_the_place_in_the_address(
    app: str, open_page: OpenPage
) -> None:
    page = open_page(f"{app}/annotate")
    click_button(page, "hugo", exact=True)
    page.wait_for_selector(".cw-desk .cw-card")
    wait_for_query(page, campaign=CAMPAIGN, annotator="hugo")
    click_button(page, "All campaigns")
    shows_title(page, TITLES["/annotate"])
    wait_for_query(page, campaign=None, annotator=None)


@pytest.mark.slow
def test_who_has_no_place_is_told_so(app: str, open_page: OpenPage) -> None:
    page = open_page(f"{app}/annotate?campaign={CAMPAIGN}&annotator=nobody")
    refuses(page, "is not an annotator")
    page.goto(f"{app}/annotate?campaign=../../etc&annotator=ana")
    refuses(page, "There is no campaign")


def test_without_a_campaign_the_page_says_where_one_is_made(
    facts_app: str, open_page: OpenPage
) -> None:
    page = open_page(f"{facts_app}/annotate")
    arrives(page, "No campaign yet: practise on ten items")
    sees(page, "Create a campaign")
