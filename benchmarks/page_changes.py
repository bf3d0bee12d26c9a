"""How long a click on the menu takes to show the other page: 400 ms at the median, 900 ms at the 95th percentile.

    python -m benchmarks.page_changes [--rounds N] [--login]

On the imported data where the archive lies beside the checkout, else on the embedded ones. From the press on the menu
to the frame in which the other page stands whole: its script is over, its title is another, nothing is stale. The first
visits after a start stand apart; every later one counts as warm. `--login` measures a second server beside it, with a
roles file and a signed session of an admin, in turns, and prints the ratio.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from typing import NamedTuple

from playwright.sync_api import Page

from benchmarks._archive import ARCHIVE, imported
from benchmarks._browser import WIDE, blank_page
from benchmarks._figures import figure
from benchmarks._figures import tell as tell_figure
from benchmarks._painted import arm, seconds_to_paint, wait_until_loaded
from benchmarks._server import serve
from benchmarks._timing import Times, machine
from crane_core.identity.key import signing_key
from crane_core.identity.passes import Purpose, new_pass, signed
from crane_core.pipeline.loading.load import prepare
from crane_core.pipeline.places import DataFolder
from crane_core.ui.visit import COOKIE

MEDIAN_LIMIT_S, P95_LIMIT_S = 0.4, 0.9
ANYTHING = "[data-testid=stMain] h1"
EMAIL = "ada@lab.example"
WARM_UP_MS = 20_000
"""What the server does beside the first visit (`crane_core.ui.warm`) is over by then."""


def turn_to(page: Page, name: str) -> float:
    """Seconds from the press on a menu entry to its painted page."""
    arm(page, wanted=ANYTHING)
    page.get_by_test_id("stTopNavLink").filter(has_text=re.compile(f"^{name}$")).click()
    return seconds_to_paint(page)


class Visits(NamedTuple):
    """Seconds of the first visit of each page, and of later ones."""

    first: dict[str, float]
    warm: dict[str, list[float]]

    @property
    def every(self) -> Times:
        return Times([one for seconds in self.warm.values() for one in seconds])


def rounds(pages: Sequence[Page], n: int) -> list[Visits]:
    """The first visit of each page of the app and `n` later ones, on each of `pages` in turns that alternate."""
    names = pages[0].get_by_test_id("stTopNavLink").all_inner_texts()
    others = [*names[1:], names[0]]
    found = [Visits({}, {name: [] for name in others}) for _ in pages]
    for number in range(n + 1):
        turns = list(zip(pages, found, strict=True))[:: -1 if number % 2 else 1]
        for name in others:
            for page, visits in turns:
                seconds = turn_to(page, name)
                if number:
                    visits.warm[name].append(seconds)
                else:
                    visits.first[name] = seconds
    return found


def prepared(data: Path) -> DataFolder:
    """A data folder with the archive where it lies beside the checkout, else with the embedded data alone."""
    if ARCHIVE.is_file():
        return imported(data)
    data.mkdir()
    folder = DataFolder(data)
    prepare(folder).close()
    return folder


@contextmanager
def logged_in(folder: DataFolder, beside: Page) -> Iterator[Page]:
    """A blank page of another server on a copy of the data, in a browser profile with the session of an admin."""
    copy = DataFolder(
        Path(shutil.copytree(folder.path, folder.path.with_name("with-login")))
    )
    roles = folder.path.with_name("roles.toml")
    roles.write_text(f'"{EMAIL}" = "admin"\n')
    session = signed(
        new_pass(EMAIL, seconds=3600), Purpose.SESSION, signing_key(copy.path)
    )
    browser = beside.context.browser
    assert browser is not None
    with serve(copy.path, CRANE_ROLES=str(roles)) as address:
        context = browser.new_context(viewport=WIDE)
        context.add_cookies([{"name": COOKIE, "value": session, "url": address}])
        yield opened(context.new_page(), address)


def opened(page: Page, address: str) -> Page:
    """The start page, after what the server does beside the first visit."""
    page.goto(address)
    wait_until_loaded(page)
    page.wait_for_timeout(WARM_UP_MS)
    return page


def tell(visits: Visits) -> None:
    for name, seconds in visits.warm.items():
        print(
            f"  {name:16} first {visits.first[name] * 1e3:5,.0f} ms, warm {Times(seconds).in_ms()}"
        )
    every = visits.every
    print(f"warm page changes: {every.in_ms()}")
    print(
        f"of the limits: median {every.median / MEDIAN_LIMIT_S:.2f}, p95 {every.p95 / P95_LIMIT_S:.2f}"
    )


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.page_changes")
    parser.add_argument(
        "--rounds", type=int, default=5, help="warm visits of each page"
    )
    parser.add_argument(
        "--login",
        action="store_true",
        help="also as an admin who is logged in, in turns",
    )
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as scratch:
        folder = prepared(Path(scratch) / "data")
        with ExitStack() as open_now, blank_page() as page:
            session = (
                open_now.enter_context(logged_in(folder, page))
                if chosen.login
                else None
            )
            address = open_now.enter_context(serve(folder.path))
            pages = [opened(page, address), *([session] if session else [])]
            found = rounds(pages, chosen.rounds)
            open_now.close()  # before the browser
    for visits, who in zip(
        found, ("without a login", "logged in as admin"), strict=False
    ):
        print(f"{who}:")
        tell(visits)
    tell_figure(figure("a warm page change", found[0].warm, MEDIAN_LIMIT_S))
    if chosen.login:
        ratios = [
            after / before
            for before, after in zip(*(one.every.seconds for one in found), strict=True)
        ]
        print(
            f"with a login / without: {median(ratios):.2f}, the median of {len(ratios)} pairs of visits"
        )
    print(machine())


if __name__ == "__main__":
    main(sys.argv[1:])
