"""Take the pictures of the README from a fresh store. Usage: python -m tools.screenshots CHROMIUM."""

from __future__ import annotations

import sys
import tempfile
from io import BytesIO
from pathlib import Path

from PIL import Image
from PIL.PngImagePlugin import PngInfo
from playwright.sync_api import sync_playwright

from benchmarks._server import serve

ROOT = Path(__file__).resolve().parents[1]
PICTURES = {
    "try": "try_a_notebook",
    "overview": "",
    "pair": "cases?benchmark=minibench&case=sklearn_1",
}
"""Name of each picture to the address that it shows."""
DRAWN = {
    "overview": "[data-testid=stVegaLiteChart] svg",
    "pair": ".cw-pair",
    "try": ".cw-verdict",
}
"""What must be visible first."""
SIZE = {"width": 1280, "height": 820}
MENU, TITLE = "menu", "title"
"""The metadata of each picture, so that a test can compare it with the current app."""
QUIET = "() => !document.querySelector('[data-testid=stSkeleton], [data-stale=true]')"
OVER = "[data-testid=stApp][data-test-script-state=notRunning]"


def main(chromium: str) -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        serve(Path(folder) / "data") as address,
    ):
        _take(chromium, f"{address}/")


def _take(chromium: str, address: str) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium,
            args=["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"],
        )
        page = browser.new_page(
            viewport=SIZE, color_scheme="light", device_scale_factor=1.5
        )
        page.set_default_timeout(120_000)
        for name, path in PICTURES.items():
            page.goto(address + path)
            for selector in (DRAWN[name], OVER):
                page.wait_for_selector(selector)
            page.wait_for_function(QUIET)
            picture = Image.open(BytesIO(page.screenshot()))
            told = PngInfo()
            told.add_text(
                MENU,
                "\n".join(
                    page.get_by_test_id("stTopNavLink").all_inner_texts()
                ),
            )
            told.add_text(
                TITLE, page.locator("[data-testid=stMain] h1").inner_text()
            )
            picture.save(
                ROOT / "docs" / "pictures" / f"{name}.png",
                pnginfo=told,
                optimize=True,
            )
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1])
