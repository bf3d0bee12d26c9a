"""How long a click takes to show a pair on the imported data: at most a second, median of 20 different pairs.

python -m benchmarks.pair_page
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from playwright.sync_api import Page

from benchmarks._archive import archive_or_exit, imported
from benchmarks._browser import blank_page
from benchmarks._painted import arm, seconds_to_paint, title, wait_until_loaded
from benchmarks._server import serve
from benchmarks._timing import Times, machine

LIMIT_S = 1.0
ROWS = range(0, 20, 2)
"""Rows of the list that are clicked; pairs below them are reached with Next."""
N_STEPS = 10
N_VISITS = 10
LISTED = ".cw-cases tbody tr"
PAIR = ".cw-pair"


def click_rows(page: Page, address: str) -> Times:
    """From the press on a row of the list to its painted pair."""
    seconds = []
    for row in ROWS:
        page.goto(f"{address}/cases")
        wait_until_loaded(page, wanted=LISTED)
        arm(page, wanted=PAIR)
        page.locator(LISTED).nth(row).click()
        seconds.append(seconds_to_paint(page))
    return Times(seconds)


def step_on(page: Page) -> tuple[Times, list[str]]:
    """From the press on Next to the painted pair, one pair after the other; their names."""
    seconds, names = [], []
    for _ in range(N_STEPS):
        arm(page, wanted=PAIR)
        page.get_by_role("button", name="Next").click()
        seconds.append(seconds_to_paint(page))
        names.append(title(page))
    return Times(seconds), names


def visit(page: Page, address: str, names: list[str]) -> Times:
    """A pair by its own address: a new session each time, scripts from the browser's cache."""
    seconds = []
    for name in names:
        start = time.perf_counter()
        page.goto(f"{address}/cases?case={name}")
        wait_until_loaded(page, wanted=PAIR)
        seconds.append(time.perf_counter() - start)
    return Times(seconds)


def main() -> None:
    archive_or_exit()
    with tempfile.TemporaryDirectory() as scratch:
        folder = imported(Path(scratch) / "data")
        with serve(folder.path) as address, blank_page() as page:
            rows = click_rows(page, address)
            steps, names = step_on(page)
            visits = visit(page, address, names[:N_VISITS])
    both = Times(rows.seconds + steps.seconds)
    print(f"click on a row:      {rows.in_ms()}")
    print(f"click on Next:       {steps.in_ms()}")
    print(f"both, {len(both.seconds)} pairs:     {both.in_ms()}")
    print(f"visit by address:    {visits.in_ms()}")
    print(f"ratio {both.median / LIMIT_S:.2f} of the limit of {LIMIT_S:.0f} s; {machine()}")


if __name__ == "__main__":
    main()
