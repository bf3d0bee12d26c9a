"""A desk in the browser: what it shows and keeps, how a label is given, and campaigns for it."""

from __future__ import annotations

import re
from itertools import count

from playwright.sync_api import Page

from benchmarks._data import SEED, STUDY
from crane_core.annotation.draw import CampaignRequest
from crane_core.annotation.plan import Design, DrawKind, Plan, Population
from crane_core.pipeline.campaigns.campaigns import (
    drawn_plan,
    journal_of,
    keep_campaign,
    kept_campaign,
)
from crane_core.pipeline.campaigns.desk_names import desk_names
from crane_core.pipeline.places import DataFolder
from crane_core.storage.store import Store

from .conftest import Served
from .screen import sees, settled

ITEM = "document.querySelector('.cw-desk').dataset.item"
READY = "document.querySelector('.cw-desk')?.dataset.ready === 'true'"
"""Whether keys count: the card has been in sight for a moment."""
AHEAD_LOADED = (
    "document.querySelector('.cw-desk')?.cwDesk?.snapshot?.has_more === false"
)
"""Whether the next cards are in the browser, so that it can go on without a server."""
SAVED = "document.querySelector('.cw-desk-saved')?.textContent === 'saved'"
KEPT = """async () => {
  const database = await new Promise(tell => {
    const asked = indexedDB.open('crane-desk');
    asked.onsuccess = () => tell(asked.result);
  });
  const asked = database.transaction('acts').objectStore('acts').getAll();
  return new Promise(tell => asked.onsuccess = () => { database.close(); tell(asked.result); });
}"""
"""Script of a function: every act that waits, as it is stored."""
COUNT_DIALOGS = """() => {
    window.dialogs = 0;
    const found = node => node.matches?.('[data-testid=stDialog]');
    new MutationObserver(all => { window.dialogs += all.flatMap(one => [...one.addedNodes]).filter(found).length; })
        .observe(document.body, {childList: true});
}"""
"""Counts the dialogs with which Streamlit covers the page when its server is gone."""
LABELS = {"1": "correct", "2": "partial", "3": "wrong"}
_NUMBERS = count(1)
OWN_ANSWERS = Population("minibench", "ours")


def open_desk(
    page: Page, address: str, campaign: str, annotator: str = "ana"
) -> Page:
    """Open somebody's desk and wait for its first card."""
    page.goto(f"{address}/annotate?campaign={campaign}&annotator={annotator}")
    page.wait_for_selector(".cw-desk .cw-card")
    return page


def in_sight(page: Page) -> str:
    """The token of the item that is shown."""
    return str(page.evaluate(ITEM))


def shown_item(
    page: Page, folder: DataFolder, campaign: str, annotator: str
) -> str:
    """The ledger's name of the item that is shown, which no browser is told."""
    names = desk_names(folder, kept_campaign(folder, campaign).plan, annotator)
    showing = names.showing(in_sight(page))
    return showing.item if showing else ""


def kept_labels(
    folder: DataFolder, plan: Plan, annotator: str = "ana"
) -> dict[str, str]:
    """What the ledger says: name at the desk to label."""
    given = journal_of(folder, plan, annotator).given
    names = desk_names(folder, plan, annotator)
    return {
        names.of(showing): str(entry.label) for showing, entry in given.items()
    }


def press_ready(page: Page, key: str) -> None:
    """Press a key as soon as the desk takes it."""
    page.wait_for_function(READY)
    page.keyboard.press(key)


def press(page: Page, key: str) -> str:
    """Press a key that leads to another item and wait until that is shown; the item that was in sight before."""
    before = in_sight(page)
    press_ready(page, key)
    page.wait_for_function(f"before => {ITEM} !== before", arg=before)
    return before


def unique(name: str) -> str:
    """A name that no campaign of this run has: campaigns of several tests live in one app."""
    return f"{name}-{next(_NUMBERS)}"


def campaign_of_all(
    app: Served,
    name: str,
    population: Population = OWN_ANSWERS,
    *,
    annotators: tuple[str, ...] = ("ana", "ben"),
) -> Plan:
    """A campaign of the running app in which these people label every diagnosis of the population."""
    return keep_all(
        app.folder, app.store, name, population, annotators=annotators
    )


def keep_all(
    folder: DataFolder,
    store: Store,
    name: str,
    population: Population = OWN_ANSWERS,
    *,
    annotators: tuple[str, ...] = ("ana", "ben"),
) -> Plan:
    """Such a campaign, drawn from a store that is open here."""
    plan = drawn_plan(
        store,
        CampaignRequest(
            name, annotators, population, Design(DrawKind.ALL), seed=7
        ),
    )
    keep_campaign(folder, plan)
    return plan


def study_campaign(app: Served, name: str, *annotators: str) -> Plan:
    """The study's own design, 222 of 501, for these annotators."""
    plan = drawn_plan(
        app.store, CampaignRequest(name, annotators, STUDY, seed=SEED)
    )
    keep_campaign(app.folder, plan)
    return plan


def choose_own_answers(page: Page) -> None:
    """Choose our own answers in the form of a new campaign; by keys, as in `screen.choose`."""
    verdicts = settled(page).get_by_role(
        "combobox", name=re.compile("Results of")
    )
    verdicts.fill("ours")
    verdicts.press("Enter")
    sees(page, "48 verdicts can be labelled")
    settled(page)
