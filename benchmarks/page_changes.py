"""How long a click on the menu takes to show the other page: 200 ms at the median, 500 ms at the 95th percentile.

    python -m benchmarks.page_changes [--rounds N]

On the imported data where the archive lies beside the checkout, else on the embedded ones. From the press on the menu
to the frame in which the other page stands whole: its script is over, its title is another, nothing is stale. The first
visits after a start stand apart; every later one counts as warm, of which each page has N.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import Page

from benchmarks._browser import blank_page, menu, opened, turn_to
from benchmarks._data import ARCHIVE, embedded_only, imported
from benchmarks._figures import figure, tell
from benchmarks._server import serve
from benchmarks._timing import Times, machine, options

MEDIAN_LIMIT_S, P95_LIMIT_S = 0.2, 0.5


class Visits(NamedTuple):
    """Seconds of the first visit of each page, and of later ones."""

    first: dict[str, float]
    warm: dict[str, list[float]]


def rounds(page: Page, n: int) -> Visits:
    """The first visit of each page of the app and `n` later ones."""
    names = menu(page)
    first = {name: turn_to(page, name) for name in names}
    warm: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(n):
        for name in names:
            warm[name].append(turn_to(page, name))
    return Visits(first, warm)


def main() -> None:
    n = options(__doc__, rounds=5).rounds
    with tempfile.TemporaryDirectory() as scratch:
        prepared = imported if ARCHIVE.is_file() else embedded_only
        folder = prepared(Path(scratch) / "data")
        with blank_page() as page, serve(folder.path) as address:
            visits = rounds(opened(page, address), n)
    for name, seconds in visits.warm.items():
        first_ms = visits.first[name] * 1e3
        print(
            f"  {name:16} first {first_ms:5,.0f} ms, warm "
            f"{Times(seconds).in_ms()}"
        )
    every = Times([one for seconds in visits.warm.values() for one in seconds])
    print(
        f"warm page changes: {every.in_ms()}; of the limit for p95 "
        f"{every.p95 / P95_LIMIT_S:.2f}"
    )
    tell(figure("a warm page change", visits.warm, MEDIAN_LIMIT_S))
    print(machine())


if __name__ == "__main__":
    main()
