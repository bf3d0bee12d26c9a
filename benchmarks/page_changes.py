"""How long a click on the menu takes to show the other page: 400 ms at the median, 900 ms at the 95th percentile.

    python -m benchmarks.page_changes [--rounds N]

On the imported data where the archive lies beside the checkout, else on the embedded ones. From the press on the menu
to the frame in which the other page stands whole: its script is over, its title is another, nothing is stale. The first
visits after a start stand apart; every later one counts as warm.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from playwright.sync_api import Page

from benchmarks._archive import ARCHIVE, imported
from benchmarks._browser import blank_page
from benchmarks._painted import arm, seconds_to_paint, wait_until_loaded
from benchmarks._server import serve
from benchmarks._timing import Times, machine
from crane_core.pipeline.load import prepare
from crane_core.pipeline.places import DataFolder

MEDIAN_LIMIT_S, P95_LIMIT_S = 0.4, 0.9
ANYTHING = "[data-testid=stMain] h1"
WARM_UP_MS = 20_000
"""What the server does beside the first visit (`crane_core.ui.warm`) is over by then."""


def turn_to(page: Page, name: str) -> float:
    """Seconds from the press on a menu entry to its painted page."""
    arm(page, wanted=ANYTHING)
    page.get_by_test_id("stTopNavLink").filter(has_text=re.compile(f"^{name}$")).click()
    return seconds_to_paint(page)


def rounds(page: Page, n: int) -> tuple[dict[str, float], dict[str, list[float]]]:
    """The first visit of each page, and `n` later ones of each."""
    names = page.get_by_test_id("stTopNavLink").all_inner_texts()
    others = [*names[1:], names[0]]
    first = {name: turn_to(page, name) for name in others}
    warm: dict[str, list[float]] = {name: [] for name in others}
    for _ in range(n):
        for name in others:
            warm[name].append(turn_to(page, name))
    return first, warm


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.page_changes")
    parser.add_argument("--rounds", type=int, default=5, help="warm visits of each page")
    n = parser.parse_args(arguments).rounds
    with tempfile.TemporaryDirectory() as scratch:
        folder = DataFolder(Path(scratch) / "data")
        if ARCHIVE.is_file():
            imported(folder.path)
        else:
            folder.path.mkdir()
            prepare(folder).close()
        with serve(folder.path) as address, blank_page() as page:
            page.goto(address)
            wait_until_loaded(page)
            page.wait_for_timeout(WARM_UP_MS)
            first, warm = rounds(page, n)
    for name, seconds in warm.items():
        print(f"  {name:16} first {first[name] * 1e3:5,.0f} ms, warm {Times(seconds).in_ms()}")
    every = Times([one for seconds in warm.values() for one in seconds])
    print(f"warm page changes: {every.in_ms()}")
    print(f"of the limits: median {every.median / MEDIAN_LIMIT_S:.2f}, p95 {every.p95 / P95_LIMIT_S:.2f}")
    print(machine())


if __name__ == "__main__":
    main(sys.argv[1:])
