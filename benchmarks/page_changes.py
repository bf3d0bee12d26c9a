"""What pages take in Chromium on the imported data and on a hundred times of them: seconds of a click, and memory.

    python -m benchmarks.page_changes [--rounds N]

From the press on the menu to the frame in which the other page stands whole: its script is over, its title is another,
nothing is stale. First visits after a start of the server stand apart from the N later ones of each page. Memory is
resident bytes of the server and what it started, the most after the first two visits of any page; of these, about
140 MB are the process that asks libraries, from the first visit of Try a notebook on. At 100x
(`benchmarks/_data.py`: 22,200 instances with their runs, states, prompts and human labels) the server starts three
times. Limits: 0.2 s for a later visit at the median, 0.22 s at 100x; there 1 s for a first visit, 0.5 s for a later
one of Results; 600 MB, and 1,100 MB at 100x.
"""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks._browser import blank_page, menu, opened, turn_to
from benchmarks._data import archive_or_exit, imported, large
from benchmarks._figures import figure, tell
from benchmarks._server import resident_bytes, serve_process
from benchmarks._timing import Times, machine, options

STARTS_OF_LARGE = 3
ROUNDS_OF_MEMORY = 2
LIMIT_S = 0.2
LIMIT_MB = 600
# At 100x.
LARGE_LIMIT_S = 0.22
FIRST_LIMIT_S = 1
LATER_LIMIT_S = 0.5
LARGE_LIMIT_MB = 1100


class Visit(NamedTuple):
    """A page after the press on its entry: in which round, the first being 0, and megabytes (10^6) when it stood."""

    number: int
    page: str
    seconds: float
    megabytes: float


def visits(data: Path, n_later: int) -> Iterator[Visit]:
    """Start the server; visit every page of the menu once, then `n_later` times."""
    with blank_page() as page, serve_process(data) as (address, pid):
        opened(page, address)
        for number in range(1 + n_later):
            for name in menu(page):
                took_s = turn_to(page, name)
                yield Visit(number, name, took_s, resident_bytes(pid) / 1e6)


def by_page(found: Sequence[Visit], *, later: bool) -> dict[str, list[float]]:
    """Seconds of first or of later visits."""
    seconds = defaultdict(list)
    for one in found:
        if bool(one.number) is later:
            seconds[one.page].append(one.seconds)
    return seconds


def show(title: str, found: Sequence[Visit]) -> None:
    """A line for each page."""
    later = by_page(found, later=True)
    print(title)
    for name, seconds in by_page(found, later=False).items():
        megabytes = max(one.megabytes for one in found if one.page == name)
        print(
            f"  {name:16} first {Times(seconds).median * 1e3:5,.0f} ms, later "
            f"{Times(later[name]).in_ms()}, at most {megabytes:,.0f} MB"
        )


def tell_memory(question: str, found: Sequence[Visit], limit: float) -> None:
    early = [x.megabytes for x in found if x.number < ROUNDS_OF_MEMORY]
    tell(figure(question, [max(early)], limit, unit="MB"))


def main() -> None:
    n = options(__doc__, rounds=5).rounds
    archive_or_exit()
    with tempfile.TemporaryDirectory() as scratch:
        found = [*visits(imported(Path(scratch) / "x1").path, n)]
        show("imported data", found)
        warm = by_page(found, later=True)
        tell(figure("a warm page change", warm, LIMIT_S))
        tell_memory("memory of the app", found, LIMIT_MB)
        data = large(Path(scratch) / "x100").path
        starts = [[*visits(data, n)] for _ in range(STARTS_OF_LARGE)]
    found = [one for start in starts for one in start]
    show("100x", found)
    first, warm = (by_page(found, later=later) for later in (False, True))
    slowest = [
        max(one.seconds for one in start if not one.number) for start in starts
    ]
    for question, seconds, limit in (
        ("a warm page change at 100x", warm, LARGE_LIMIT_S),
        ("the first visit of Results at 100x", first["Results"], FIRST_LIMIT_S),
        ("a later visit of Results at 100x", warm["Results"], LATER_LIMIT_S),
        ("the first visit of Cases at 100x", first["Cases"], FIRST_LIMIT_S),
        ("the slowest first visit at 100x", slowest, FIRST_LIMIT_S),
    ):
        tell(figure(question, seconds, limit))
    tell_memory("memory of the app at 100x", found, LARGE_LIMIT_MB)
    print(machine())


if __name__ == "__main__":
    main()
