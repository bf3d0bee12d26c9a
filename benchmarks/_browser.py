"""Chromium as measurements and browser tests start it, and when a page of the app is painted in it."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

ARGUMENTS = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]
"""For a machine without display that may run everything as root, as containers do."""
NAMES = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
)
WIDE: ViewportSize = {"width": 1440, "height": 900}
TITLE = "[data-testid=stMain] h1"
ENTRY = "stTopNavLink"
"""The test id of an entry of the app's menu."""
WARM_UP_MS = 20_000
"""What the server does beside the first visit (`crane_core.ui.warm`) is over by then."""
_PAINTED = """
([before, press]) => {
    const painted = () => {
        const title = document.querySelector('[data-testid=stMain] h1');
        const over = document.querySelector('[data-testid=stApp][data-test-script-state=notRunning]');
        const stale = document.querySelector('[data-stale=true], [data-testid=stSkeleton]');
        return over && !stale && title && title.innerText !== before;
    };
    if (!press) return painted();
    window.paintedAfter = new Promise(tell => {
        addEventListener('pointerdown', () => {
            const start = performance.now();
            const look = () => requestAnimationFrame(() => painted() ? tell(performance.now() - start) : look());
            look();
        }, {capture: true, once: true});
    });
}
"""
"""Whether a page with another title stands whole; with `press`, when it does after the pointer's next press."""


@contextmanager
def chromium() -> Iterator[Browser]:
    """CRANE_CHROMIUM, else the Chromium of this machine, else playwright's own."""
    path = os.environ.get("CRANE_CHROMIUM") or next(
        filter(None, map(shutil.which, NAMES)), None
    )
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, args=ARGUMENTS
        )
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def blank_page() -> Iterator[Page]:
    """A page in a separate browser."""
    with chromium() as browser:
        yield browser.new_context(viewport=WIDE).new_page()


def opened(page: Page, address: str) -> Page:
    """The start page, after what the server does beside the first visit."""
    page.goto(address)
    page.wait_for_function(
        _PAINTED, arg=["", False], timeout=600_000, polling=20
    )
    page.wait_for_timeout(WARM_UP_MS)
    return page


def menu(page: Page) -> list[str]:
    """The pages that the menu names, the first of them last."""
    names = page.get_by_test_id(ENTRY).all_inner_texts()
    return [*names[1:], names[0]]


def turn_to(page: Page, name: str) -> float:
    """Seconds from the press on a menu entry to its painted page, measured inside the browser."""
    page.evaluate(_PAINTED, [page.locator(TITLE).inner_text(), True])
    whole_name = re.compile(f"^{re.escape(name)}$")
    page.get_by_test_id(ENTRY).filter(has_text=whole_name).click()
    return float(page.evaluate("window.paintedAfter")) / 1e3
