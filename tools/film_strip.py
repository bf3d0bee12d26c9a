"""Take the five pictures of docs/engineer/live-notebook.md in a real JupyterLab. Usage: python -m tools.film_strip.

A cell with a wrong key is predicted, one that only a run can judge is rehearsed, a fix is found, applied and run.
Chromium is the one of CRANE_CHROMIUM, else of this machine.
"""

from __future__ import annotations

import tempfile
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, ViewportSize, expect

from benchmarks._browser import chromium
from benchmarks._lab import (
    TIMEOUT_MS,
    ask,
    cell,
    focus,
    jupyter,
    run,
    wait_for_kernel,
    write_cells,
)

PICTURES = Path(__file__).resolve().parents[1] / "docs" / "pictures"
SIZE: ViewportSize = {"width": 860, "height": 560}
N_COLOURS = 128
"""A palette: such a picture of text has a third of the bytes."""
DATA, MISSPELT, OPEN = range(3)
CELLS = (
    'beds = {"north": 3, "south": 5}',
    'beds["nroth"] + 1',
    'import textwrap\n\ntextwrap.wrap("peas", width=beds["north"] - 3)',
)


def main() -> None:
    with (
        tempfile.TemporaryDirectory() as home,
        jupyter(Path(home)) as (address, work),
        chromium() as browser,
    ):
        write_cells(work / "garden.ipynb", CELLS)
        page = browser.new_page(viewport=SIZE, color_scheme="light")
        page.set_default_timeout(TIMEOUT_MS)
        expect.set_options(timeout=TIMEOUT_MS)
        page.goto(f"{address}/doc/tree/garden.ipynb?reset")
        wait_for_kernel(page)
        run(page, DATA)
        _take_all(page)


def _take_all(page: Page) -> None:
    verdict = ask(page, MISSPELT)
    expect(verdict).to_have_attribute("data-verdict", "crash")
    _take(page, "1-predict")
    rehearsed = ask(page, OPEN)
    expect(rehearsed).to_have_attribute("data-rehearsed", "crash")
    _take(page, "2-rehearse")
    focus(page, MISSPELT)
    verdict.get_by_role("button", name="Find a fix").click()
    card = verdict.locator(".crane-fix").first
    expect(card).to_contain_text("ran through")
    _take(page, "3-fix")
    card.get_by_role("button", name="Apply").click()
    expect(cell(page, MISSPELT).locator(".cm-content")).to_have_text(
        'beds["north"] + 1'
    )
    _take(page, "4-apply")
    run(page, MISSPELT)
    _take(page, "5-run")


def _take(page: Page, name: str) -> None:
    # A cursor that blinks would make every picture another one.
    page.evaluate("document.activeElement.blur()")
    picture = Image.open(BytesIO(page.screenshot())).convert("RGB")
    picture.quantize(N_COLOURS).save(
        PICTURES / f"lab-{name}.png", optimize=True
    )


if __name__ == "__main__":
    main()
