"""What every page takes on a hundred times the data: the first visit after a start, and later ones.

    python -m benchmarks.large_pages [--rounds N]

22,200 instances with their runs, states, prompts and human labels (`benchmarks/_data.py`). From the press on the
menu until the other page stands whole. Limits: 0.22 s for a warm change of the page (the median), 0.5 s for a later
visit of Results, 1 s for the first visit of any page. N later visits of each page after each start.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks._browser import blank_page, opened
from benchmarks._data import archive_or_exit, large
from benchmarks._figures import figure, tell
from benchmarks._server import serve
from benchmarks._timing import Times, machine, options
from benchmarks.page_changes import Visits, rounds
from crane_core.pipeline.places import DataFolder

STARTS = 3
CHANGE_LIMIT_S, FIRST_LIMIT_S, LATER_LIMIT_S = 0.22, 1.0, 0.5


def visits(folder: DataFolder, n: int) -> Visits:
    """The first visit of every page after a start of the server, and `n` later ones."""
    with blank_page() as page, serve(folder.path) as address:
        return rounds(opened(page, address), n)


def tell_all(found: Sequence[Visits]) -> None:
    """`found` are the visits of each start."""
    first = {
        name: [one.first[name] for one in found] for name in found[0].first
    }
    warm = {
        name: [s for one in found for s in one.warm[name]] for name in first
    }
    for name, seconds in first.items():
        first_ms = Times(seconds).median * 1e3
        print(
            f"  {name:16} first {first_ms:7,.0f} ms, later "
            f"{Times(warm[name]).in_ms()}"
        )
    slowest = [max(one.first.values()) for one in found]
    for question, seconds_of, limit in (
        ("a warm page change at 100x", warm, CHANGE_LIMIT_S),
        ("the first visit of Results at 100x", first["Results"], FIRST_LIMIT_S),
        ("a later visit of Results at 100x", warm["Results"], LATER_LIMIT_S),
        ("the first visit of Cases at 100x", first["Cases"], FIRST_LIMIT_S),
        ("the slowest first visit at 100x", slowest, FIRST_LIMIT_S),
    ):
        tell(figure(question, seconds_of, limit))


def main() -> None:
    n = options(__doc__, rounds=3).rounds
    archive_or_exit()
    with tempfile.TemporaryDirectory() as scratch:
        folder = large(Path(scratch) / "x100")
        tell_all([visits(folder, n) for _ in range(STARTS)])
    print(machine())


if __name__ == "__main__":
    main()
