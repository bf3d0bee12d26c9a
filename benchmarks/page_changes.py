"""How long a click on the menu takes to show the other page: 200 ms at the median, 500 ms at the 95th percentile.

    python -m benchmarks.page_changes [--rounds N] [--login]

On the imported data where the archive lies beside the checkout, else on the embedded ones. From the press on the menu
to the frame in which the other page stands whole: its script is over, its title is another, nothing is stale. The first
visits after a start stand apart; every later one counts as warm, of which each page has N. `--login` measures a second
server beside it, with a roles file and a signed session of an admin, in turns, and prints the ratio.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from typing import NamedTuple

from playwright.sync_api import Page

from benchmarks._browser import WIDE, blank_page, menu, opened, turn_to
from benchmarks._data import ARCHIVE, embedded_only, imported
from benchmarks._figures import figure
from benchmarks._figures import tell as tell_figure
from benchmarks._server import serve
from benchmarks._timing import Times, machine, options
from crane_core.identity.key import signing_key
from crane_core.identity.passes import Purpose, new_pass, signed
from crane_core.pipeline.places import DataFolder
from crane_core.ui.visit import COOKIE

MEDIAN_LIMIT_S, P95_LIMIT_S = 0.2, 0.5
EMAIL = "ada@lab.example"


class Visits(NamedTuple):
    """Seconds of the first visit of each page, and of later ones."""

    first: dict[str, float]
    warm: dict[str, list[float]]

    @property
    def every(self) -> Times:
        return Times([one for seconds in self.warm.values() for one in seconds])


def rounds(pages: Sequence[Page], n: int) -> list[Visits]:
    """The first visit of each page of the app and `n` later ones, on each of `pages` in turns that alternate."""
    names = menu(pages[0])
    found = [Visits({}, {name: [] for name in names}) for _ in pages]
    for number in range(n + 1):
        turns = list(zip(pages, found, strict=True))
        if number % 2:
            turns.reverse()
        for name in names:
            for page, visits in turns:
                seconds = turn_to(page, name)
                if number:
                    visits.warm[name].append(seconds)
                else:
                    visits.first[name] = seconds
    return found


@contextmanager
def logged_in(folder: DataFolder, beside: Page) -> Iterator[Page]:
    """A blank page of another server on a copy of the data, in a browser profile with the session of an admin."""
    path = shutil.copytree(folder.path, folder.path.with_name("with-login"))
    roles = folder.path.with_name("roles.toml")
    roles.write_text(f'"{EMAIL}" = "admin"\n')
    admin = new_pass(EMAIL, seconds=3600)
    session = signed(admin, Purpose.SESSION, signing_key(path))
    browser = beside.context.browser
    assert browser is not None
    with serve(path, CRANE_ROLES=str(roles)) as address:
        context = browser.new_context(viewport=WIDE)
        context.add_cookies(
            [{"name": COOKIE, "value": session, "url": address}]
        )
        yield opened(context.new_page(), address)


def tell(who: str, visits: Visits) -> None:
    print(f"{who}:")
    for name, seconds in visits.warm.items():
        first_ms = visits.first[name] * 1e3
        print(
            f"  {name:16} first {first_ms:5,.0f} ms, warm {Times(seconds).in_ms()}"
        )
    every = visits.every
    of_median, of_p95 = every.median / MEDIAN_LIMIT_S, every.p95 / P95_LIMIT_S
    print(f"warm page changes: {every.in_ms()}")
    print(f"of the limits: median {of_median:.2f}, p95 {of_p95:.2f}")


def main() -> None:
    chosen = options(__doc__, rounds=5, login=False)
    with tempfile.TemporaryDirectory() as scratch:
        prepared = imported if ARCHIVE.is_file() else embedded_only
        folder = prepared(Path(scratch) / "data")
        with blank_page() as page, ExitStack() as open_now:
            pages = [page]
            if chosen.login:
                pages.append(open_now.enter_context(logged_in(folder, page)))
            opened(page, open_now.enter_context(serve(folder.path)))
            found = rounds(pages, chosen.rounds)
    tell("without a login", found[0])
    if chosen.login:
        tell("logged in as admin", found[1])
        pairs = zip(found[0].every.seconds, found[1].every.seconds, strict=True)
        ratios = [after / before for before, after in pairs]
        print(
            f"with a login / without: {median(ratios):.2f}, the median of {len(ratios)} pairs of visits"
        )
    tell_figure(figure("a warm page change", found[0].warm, MEDIAN_LIMIT_S))
    print(machine())


if __name__ == "__main__":
    main()
