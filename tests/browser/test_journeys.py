"""Ten questions that bring people here: the clicks from Overview to the answer, counted as they are made."""

from __future__ import annotations

import re
from typing import NamedTuple

import pytest
from playwright.sync_api import Page, expect

from .conftest import OpenPage
from .screen import Words, hears_keys, settled, title

MENU_LINK = "menu"
ROW = "row"
KEYS = "keys"


class Journey(NamedTuple):
    """What is clicked, as role and name; the title of the page that answers, and words on it."""

    steps: tuple[tuple[str, Words], ...]
    title: Words
    words: Words


JOURNEYS = {
    "who predicts best": Journey(
        (("link", re.compile(r"^All \d+ rows")),),
        re.compile("has the highest accuracy"),
        "Qwen2.5-32B-Instruct +RT",
    ),
    "for which libraries": Journey(
        ((MENU_LINK, "Results"), ("tab", "Kinds of crash")),
        re.compile("Runtime state adds"),
        re.compile("^How this was computed"),
    ),
    "what the conclusion rests on": Journey(
        (("link", "Every reading of the same answers"),),
        re.compile("."),
        re.compile("readings|find a gain"),
    ),
    "a case that runtime state helped": Journey(
        (("link", re.compile(r"^\d+ cases where it helped")), (ROW, "")),
        re.compile(r"^\w+_\d+$"),
        "Answers",
    ),
    "crashes of torch that GPT-5 missed": Journey(
        ((KEYS, "torch missed by GPT-5"),),
        re.compile("of these"),
        re.compile("torch"),
    ),
    "a chart for a paper": Journey(
        (
            (MENU_LINK, "Results"),
            ("tab", "Runtime state"),
            ("button", "Export chart"),
        ),
        re.compile("Runtime state adds"),
        "SVG",
    ),
    "two runs, number by number": Journey(
        (
            (MENU_LINK, "Runs"),
            ("checkbox", re.compile("GPT-5.*−RT")),
            ("checkbox", re.compile(r"GPT-5.*\+RT")),
            ("button", re.compile("^Compare")),
        ),
        re.compile("is right on 10 more of 222"),
        "only GPT-5, +RT",
    ),
    "does the next cell crash": Journey(
        ((MENU_LINK, "Try a notebook"),),
        re.compile("will crash: "),
        re.compile("Predicted by"),
    ),
    "label a diagnosis": Journey(
        (
            (MENU_LINK, "Annotate"),
            ("button", re.compile("^Practice first")),
        ),
        re.compile("Practice"),
        re.compile("Diagnosis"),
    ),
    "what a campaign costs": Journey(
        ((MENU_LINK, "Campaigns"),),
        re.compile("campaign"),
        re.compile("items of .* cases, margin"),
    ),
}


def step(page: Page, role: str, name: Words) -> int:
    """One click of a visitor; words for the search field are typed and need none."""
    if role == KEYS:
        hears_keys(page).keyboard.press("/")
        field = page.get_by_role("combobox", name="Search for")
        field.press_sequentially(str(name))
        field.press("Enter")
        return 0
    if role == ROW:
        found = page.locator(".cw-cases tbody tr[data-case] th")
    elif role == MENU_LINK:
        found = page.get_by_test_id("stTopNavLink").filter(has_text=name)
    else:
        found = page.get_by_role(role, name=name)  # type: ignore[arg-type]
    found.first.click()
    return 1


@pytest.mark.slow
@pytest.mark.parametrize("question", JOURNEYS)
def test_an_answer_is_at_most_four_clicks_away(
    question: str, full_app: str, open_page: OpenPage
) -> None:
    journey = JOURNEYS[question]
    page = settled(open_page(full_app))
    clicks = sum(step(settled(page), *each) for each in journey.steps)
    expect(title(page)).to_have_text(journey.title)
    answer = page.get_by_text(journey.words).filter(visible=True)
    expect(answer.first).to_be_visible()
    assert clicks <= 4
