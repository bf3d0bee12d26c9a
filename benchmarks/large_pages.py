"""What every page takes on a hundred times the data: the first visit after a start, and later ones.

    python -m benchmarks.large_pages [--rounds N] [--data FOLDER]

22,200 instances with their runs, states, prompts and human labels (`benchmarks.large_store`). From the press on the
menu until the other page stands whole. Limits: 1 s for a warm change of the page (the median), 1.5 s for the first
visit of Results, 1 s for its later ones and for the first of Cases. --data takes a folder that was made before.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks._archive import archive_or_exit
from benchmarks._browser import blank_page
from benchmarks._figures import figure, tell
from benchmarks._server import serve
from benchmarks._timing import Times, machine
from benchmarks.large_store import large
from benchmarks.page_changes import Visits, opened, rounds
from crane_core.pipeline.places import DataFolder

STARTS = 3
CHANGE_LIMIT_S, FIRST_LIMIT_S, LATER_LIMIT_S, CASES_LIMIT_S = 1.0, 1.5, 1.0, 1.0


def visits(folder: DataFolder, n: int) -> Visits:
    """The first visit of every page after a start of the server, and `n` later ones."""
    with blank_page() as page, serve(folder.path) as address:
        return rounds([opened(page, address)], n)[0]


def tell_all(found: Sequence[Visits]) -> None:
    """`found` are the visits of each start."""
    for name in found[0].first:
        first = Times([one.first[name] for one in found])
        later = Times([seconds for one in found for seconds in one.warm[name]])
        print(f"  {name:16} first {first.median * 1e3:7,.0f} ms, later {later.in_ms()}")
    every = {
        name: [seconds for one in found for seconds in one.warm[name]]
        for name in found[0].warm
    }
    tell(figure("a warm page change at 100x", every, CHANGE_LIMIT_S))
    tell(
        figure(
            "the first visit of Results at 100x",
            [one.first["Results"] for one in found],
            FIRST_LIMIT_S,
        )
    )
    tell(figure("a later visit of Results at 100x", every["Results"], LATER_LIMIT_S))
    tell(
        figure(
            "the first visit of Cases at 100x",
            [one.first["Cases"] for one in found],
            CASES_LIMIT_S,
        )
    )


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.large_pages")
    parser.add_argument(
        "--rounds",
        type=int,
        default=3,
        help="later visits of each page after each start",
    )
    parser.add_argument(
        "--data", type=Path, help="a data folder that holds the large store already"
    )
    chosen = parser.parse_args(arguments)
    archive_or_exit()
    with tempfile.TemporaryDirectory() as scratch:
        folder = (
            DataFolder(chosen.data) if chosen.data else large(Path(scratch) / "x100")
        )
        tell_all([visits(folder, chosen.rounds) for _ in range(STARTS)])
    print(machine())


if __name__ == "__main__":
    main(sys.argv[1:])
