"""What `%crane guard rehearse` adds to cells that do not crash, and whether it stops one of them.

python -m benchmarks.guard_cost [--notebooks N] [--folder FOLDER]

The fixed notebooks of minibench, or those of a folder: each in a fresh kernel of this environment with the guard on. A
cell that is stopped runs again with the comment that lets it: where it then ends without an exception, the stop
was a false alarm. The time added is what the cell waited for the guard before it ran; pages that are copied afterwards
are not in it. A notebook ends at the first cell that raises.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks import _kernel
from benchmarks._minibench import BENCHMARK
from benchmarks._timing import Times, command, machine
from crane_core.errors import NotebookError
from crane_core.live.guard import OVERRIDE
from crane_core.runtime.plan import read_plan

PAUSE_S = 2.0
"""For the process beside the kernel to start, before the first cell."""
# In a separate namespace, so that the notebook has no name more.
CLOCK = """
def clock(shell):
    import time
    from crane_core.live.magics import loaded
    guard = loaded(shell).guard
    visit = guard.visit
    def timed(node):
        began = time.perf_counter()
        try:
            return visit(node)
        finally:
            shell._crane_waited = time.perf_counter() - began
    guard.visit = timed
"""
SET_CLOCK = (
    f"(lambda own: (exec({CLOCK!r}, own), "
    f"own['clock'](get_ipython()))[1])({{}})"
)
WAITED = "get_ipython()._crane_waited"
RAN = "ran"
RAISED = "raised"
STOPPED = "stopped"
FALSE_ALARM = "false alarm"


class GuardedCell(NamedTuple):
    """Of one cell: seconds that it waited for the guard, and its end."""

    waited_s: float
    end: str


def guarded(kernel: _kernel.Kernel, source: str) -> GuardedCell:
    raised = kernel.run(source).raised
    waited_s = kernel.value(WAITED)
    if raised is None:
        return GuardedCell(waited_s, RAN)
    if raised != "StoppedCell":
        return GuardedCell(waited_s, RAISED)
    again = kernel.run(f"{OVERRIDE}\n{source}").raised
    return GuardedCell(waited_s, FALSE_ALARM if again is None else STOPPED)


def cells_run(path: Path) -> Iterator[GuardedCell]:
    """What the guard did to each cell of a notebook, up to the first that raises."""
    cells = [
        cell for cell in read_plan(path, None).cells if cell.source.strip()
    ]
    with _kernel.fresh(
        sys.executable, path.parent, **_kernel.WITH_US
    ) as kernel:
        kernel.run("%load_ext crane_core\n%crane guard rehearse")
        kernel.value(SET_CLOCK)
        # As people do: the first cell is typed after the guard is on.
        time.sleep(PAUSE_S)
        for cell in cells:
            done = guarded(kernel, cell.source)
            yield done
            if done.end != RAN:
                print(f"{path.name}, code cell {cell.index}: {done.end}")
            if done.end in (RAISED, STOPPED):
                return


def main() -> None:
    parser = command(__doc__)
    parser.add_argument("--notebooks", type=int, default=40)
    parser.add_argument("--folder", type=Path)
    chosen = parser.parse_args()
    paths = sorted(
        chosen.folder.rglob("*.ipynb")
        if chosen.folder
        else BENCHMARK.glob("*/*_fixed.ipynb")
    )
    # Every n-th, so that a few notebooks are of all libraries.
    every = max(1, len(paths) // chosen.notebooks)
    cells: list[GuardedCell] = []
    n_notebooks = 0
    for path in paths[::every][: chosen.notebooks]:
        n_before = len(cells)
        try:
            cells += cells_run(path)
        except (NotebookError, TimeoutError) as error:
            print(f"{path.name}: {error}")
        n_notebooks += len(cells) > n_before
    ends = Counter(cell.end for cell in cells)
    waited = [cell.waited_s for cell in cells if cell.end == RAN]
    print(
        f"{n_notebooks} notebooks, {len(cells)} cells: {ends[RAN]} ran, "
        f"{ends[RAISED]} raised,"
        f" {ends[STOPPED]} stopped, {ends[FALSE_ALARM]} false alarms"
    )
    if waited:
        print(f"added to a cell that ran: {Times(waited).in_ms()}")
    print(machine())


if __name__ == "__main__":
    main()
