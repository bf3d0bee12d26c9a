"""What a visitor sees and does on the app's pages, in words. Every wait is for a condition."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Locator, Page, TimeoutError, expect

from .conftest import slow

Words = str | re.Pattern[str]
MENU = [
    "Overview", "Cases", "Results", "Ablations", "Annotate", "Campaigns", "Agreement", "Runs", "Try a notebook", "Data",
]  # fmt: skip
TITLES: dict[str, Any] = {
    "/": "Runtime state adds 7 to 10 points of accuracy for all three models",
    "/cases": re.compile(
        "(every detector|these cases|these filters|of these [0-9,]+ |cases? contains?)"
    ),
    # The leaderboard, which is open at first, and parts that answer another question have their own titles.
    "/results": re.compile(
        r"^(GPT-5 \+RT has the highest accuracy \(76.6%\)|Runtime state adds 7 to 10 points for all three models|"
        "Who judged decides: |[0-9]+ of [0-9]+ tests find a gain|No case of JunoBench has a date|"
        "Every method finds a gain|No model has a gain by |.* gains? by every method, |"
        "If all [0-9]+ answers predict a crash, |"
        "Asking the rules first|[0-9]+ of the paper's [0-9]+ claims hold)"
    ),
    "/ablations": "Qwen2.5-32B-Instruct loses 8.1 points of detection accuracy with code only; no evidence for 2 "
    "others",
    "/annotate": re.compile("^Label diagnoses|^No campaign yet"),
    "/campaigns": re.compile(
        r"^(New campaign|[0-9,]+ campaigns? (is|are)|All [0-9,]+ campaigns)|: .*label"
    ),
    "/agreement": re.compile(
        "(^Agreement needs two annotators$|by chance: kappa |in common)"
    ),
    "/runs": re.compile(r"^[0-9,]+ runs?(;|$)| is the least stable: "),
    "/try_a_notebook": re.compile(
        r"^(Try a notebook$|Code cell [0-9]+( will crash: \w+|: no certain crash)$)"
    ),
    "/data": re.compile("cases and [0-9,]+ answers are loaded"),
}
"""Path of each page to its title, in menu order; most say what the page found."""
ROW_HEIGHT = 32
SLOW_WIDTHS = [slow(width) for width in (768, 1024, 1280, 1440, 1920)]
"""Of a window, in pixels; `make test` tries a phone's alone."""
_RULES = (
    Path(__file__).resolve().parents[2]
    / "data"
    / "minibench"
    / "results"
    / "rules.jsonl"
)


def right_of_rules(setting: str) -> set[str]:
    """Notebooks of minibench that the rules judge rightly in a setting, counted from the answers that are shipped."""
    answers = [
        json.loads(line) for line in _RULES.read_text("utf-8").splitlines()
    ]
    asked = [answer for answer in answers if answer["setting"] == setting]
    return {
        each["instance"]
        for each in asked
        if each["crashes"] == each["instance"].endswith("_reproduced")
    }


def rounded(figure: float) -> str:
    """A pattern of a figure with one decimal; what lies half between two may be rounded up or down."""
    return "|".join(
        re.escape(f"{figure + shift:.1f}") for shift in (-1e-6, 1e-6)
    )


def title(page: Page) -> Locator:
    return page.get_by_test_id("stMain").locator("h1")


def shows_title(page: Page, words: Words) -> None:
    """Wait until the page has this title."""
    expect(title(page)).to_have_text(words)


def of_campaign(title: str) -> re.Pattern[str]:
    """The heading of a campaign's page: its title, and how far it is."""
    return re.compile(rf"^{re.escape(title)}[:?] ")


def open_part(page: Page, name: str) -> Page:
    """Open a tab of a campaign's page."""
    settled(page).get_by_role("tab", name=name, exact=True).click()
    # While the tabs change their order two may have one name: only one of them is selected.
    expect(
        page.get_by_role("tab", name=name, exact=True, selected=True)
    ).to_be_visible()
    return settled(page)


def arrives(page: Page, words: Words) -> Page:
    """Wait until the page with this title stands."""
    shows_title(page, words)
    return settled(page)


def sees(place: Page | Locator, words: Words, *, exact: bool = False) -> None:
    """Wait until these words are in sight."""
    expect(place.get_by_text(words, exact=exact)).to_be_visible()


def refuses(place: Page | Locator, words: Words) -> None:
    """Wait for a refusal that holds these words."""
    expect(place.get_by_test_id("stAlertContentError")).to_contain_text(words)


def fill(page: Page, label: str, value: str) -> None:
    """Write into the field of this label, and leave it, until the page stands again."""
    box = page.get_by_label(label, exact=True)
    box.fill(value)
    box.blur()
    settled(page)


def click_button(
    place: Page | Locator, name: Words, *, exact: bool = False
) -> None:
    """A real click on the button of this name."""
    place.get_by_role("button", name=name, exact=exact).click()


def settled(page: Page) -> Page:
    """The page once its script is over and everything has been drawn.

    In one question: a page that has not begun says that no script runs, as one that is over does.
    """
    try:
        page.wait_for_function(_SETTLED)
    except TimeoutError as error:
        raise AssertionError(
            f"{page.url} has not come to rest: {_restless(page)}"
        ) from error
    return page


def _restless(page: Page) -> str:
    """What a page that does not come to rest shows, for anyone who reads of a failed test."""
    try:
        return str(
            page.wait_for_function(_RESTLESS, timeout=5_000).json_value()
        )
    except TimeoutError:
        return "it answers no question"


def hears_keys(page: Page) -> Page:
    """The settled page once its bar listens: the script of the bar may come after everything has been drawn."""
    settled(page).wait_for_function("window.craneBarKey != null")
    return page


_SETTLED = """() => document.querySelector('[data-testid=stApp][data-test-script-state=notRunning]')
    && document.querySelector('[data-testid=stMain] h1')
    && !document.querySelector('[data-testid=stSkeleton], [data-stale=true]')"""
_RESTLESS = """async () => JSON.stringify({
    state: document.querySelector('[data-testid=stApp]')?.dataset.testScriptState,
    connection: document.querySelector('[data-testid=stApp]')?.dataset.testConnectionState,
    title: document.querySelector('[data-testid=stMain] h1')?.innerText,
    waiting: [...document.querySelectorAll('[data-testid=stSkeleton], [data-stale=true]')].slice(0, 5).map(
        element => element.outerHTML.slice(0, 300)),
    paintsFrames: await new Promise(tell => {
        requestAnimationFrame(() => tell(true));
        setTimeout(() => tell(false), 1000);
    }),
})"""


def query(page: Page) -> dict[str, list[str]]:
    """The parameters in the address bar, once the page rests: a script that runs may still write them."""
    return parse_qs(urlsplit(settled(page).url).query)


def path(page: Page) -> str:
    return urlsplit(page.url).path


def visit(page: Page, name: str) -> None:
    """Go to a page by the menu and wait until it stands."""
    page.get_by_test_id("stTopNavLink").filter(
        has_text=re.compile(f"^{name}$")
    ).click()
    expect(title(page)).to_have_text(
        dict(zip(MENU, TITLES.values(), strict=True))[name]
    )
    settled(page)


def menu(page: Page) -> list[str]:
    return settled(page).get_by_test_id("stTopNavLink").all_inner_texts()


def wait_for_query(page: Page, **wanted: str | None) -> None:
    """Until the address holds these values; None: until the parameter is gone."""
    for name, value in wanted.items():
        page.wait_for_function(
            "([name, value]) => new URLSearchParams(location.search).get(name) === value",
            arg=[name, value],
        )


def opened_reading(page: Page) -> Locator:
    """The switches behind the button of Results that says how the answers are read."""
    body = page.get_by_test_id("stPopoverBody")
    if not body.count():
        page.locator(".st-key-reading").get_by_role("button").click()
    expect(body).to_be_visible()
    return body


def reads(page: Page, words: Words) -> None:
    """Wait until that button says these words."""
    expect(page.locator(".st-key-reading")).to_contain_text(words)


def count_line(page: Page) -> Locator:
    """The line above the case list that counts what passes the filters.

    The first, because while the page is drawn again an old one may be left for a moment.
    """
    return (
        page.locator(".st-key-case_counts")
        .get_by_test_id("stCaptionContainer")
        .first
    )


def choose(page: Page, label: str, option: str) -> None:
    """Pick `option` in the select box or multiselect called `label`, and leave it.

    By keys, because the list that a click opens closes again when that click had to scroll; up to four times, because
    it closes too when the page is drawn again at that moment. Every second time by a click, after which nothing has to
    scroll any more: once, keys alone opened no list for 48 s.
    """
    for is_clicked, timeout_ms in (
        (False, 3_000),
        (True, 10_000),
        (False, 15_000),
        (True, 30_000),
    ):
        # A chosen value leaves the options: the try before may have been slow only to show it.
        if page.evaluate(_SHOWS, [label, option]):
            break
        box = page.get_by_role("combobox", name=label, exact=True)
        with suppress(TimeoutError):
            if is_clicked:
                box.blur()
                box.click(timeout=timeout_ms)
            else:
                box.focus()
                box.press("ArrowDown")
            page.get_by_role(
                "option", name=re.compile(rf"^{re.escape(option)}( · [\d,]+)?$")
            ).click(timeout=timeout_ms)
            box.blur()
            page.wait_for_function(
                _SHOWS, arg=[label, option], timeout=timeout_ms
            )
    assert page.evaluate(_SHOWS, [label, option]), (
        f"{option} is not chosen in {label}"
    )
    # A list that stayed open as the page was drawn again hides all else from who reads by role.
    lists = page.get_by_role("listbox")
    if lists.count():
        page.locator("h1").first.click(force=True)
    expect(lists).to_have_count(0)


_SHOWS = """([label, option]) => {
    const boxes = [...document.querySelectorAll('[data-testid=stMultiSelect], [data-testid=stSelectbox]')];
    const named = box => box.querySelector('[role=combobox]')?.getAttribute('aria-label')?.includes(label);
    const typed = box => [...box.querySelectorAll('input')].some(input => input.value.includes(option));
    return boxes.some(box => named(box) && (box.innerText.includes(option) || typed(box)));
}"""


def grid(page: Page) -> Locator:
    return page.get_by_test_id("stDataFrame").first


def texts(locator: Locator) -> list[str]:
    """What stands in each of these elements, once there is one: a grid writes its cells after it is drawn.

    Read once the page rests: while it is drawn again, old rows may stand beside new ones.
    """
    expect(locator.first).to_be_attached()
    settled(locator.page)
    return locator.all_text_contents()


def click_row(page: Page, row: int) -> None:
    """A real click into the first column of a row that is in sight; the grid is a canvas."""
    grid(page).click(position={"x": 60, "y": int(ROW_HEIGHT * (row + 1.5))})


def click_mark(page: Page, mark: Locator) -> None:
    """A real click on the middle of a chart's mark, once the page around it has come to rest."""
    settled(page)
    mark.scroll_into_view_if_needed()
    handle = mark.element_handle()
    handle.wait_for_element_state("stable")
    box = handle.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


def open_pair(
    page: Page, address: str, case_id: str, **parameters: str
) -> Page:
    """Go to the pair by its address and wait until its name stands above it."""
    more = "".join(f"&{name}={value}" for name, value in parameters.items())
    page.goto(f"{address}/cases?case={case_id}{more}")
    expect(title(page)).to_have_text(case_id)
    return settled(page)


def listed(page: Page) -> Locator:
    """The rows of the list of cases."""
    return page.locator(".cw-cases tbody tr[data-case]:not(.cw-hit)")


def listed_names(page: Page) -> list[str]:
    """The cases of the list from top to bottom."""
    return listed(settled(page)).locator("th").all_inner_texts()
