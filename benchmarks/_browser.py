"""Chromium as measurements and browser tests start it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Page, sync_playwright

ARGUMENTS = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]
"""For a machine without display that may run everything as root, as containers do."""
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
WIDE = {"width": 1440, "height": 900}


def executable() -> str | None:
    """CRANE_CHROMIUM, else the Chromium of this machine, else None: playwright's own."""
    return os.environ.get("CRANE_CHROMIUM") or next(
        (path for name in NAMES if (path := shutil.which(name))), None
    )


@contextmanager
def blank_page() -> Iterator[Page]:
    """A page in a separate browser."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=executable(), args=ARGUMENTS
        )
        try:
            yield browser.new_context(viewport=WIDE).new_page()
        finally:
            browser.close()
