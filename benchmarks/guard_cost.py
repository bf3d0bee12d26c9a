"""What `%crane guard` adds to cells that do not crash, and whether it stops one of them.

python -m benchmarks.guard_cost [--step predict|rehearse] [--notebooks N] [--folder FOLDER]

The fixed notebooks of minibench, or those of a folder: each in a fresh kernel of this environment with the guard on. A
cell that is stopped runs again with the comment that lets it: where it then ends without an exception, the stop
was a false alarm. The time added is what the cell waited for the guard before it ran; pages that are copied afterwards
are not in it. A notebook ends at the first cell that raises.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import _kernel
from benchmarks._timing import Times, command, machine
from crane_core.errors import NotebookError
from crane_core.live.guard import OVERRIDE, GuardStep
from crane_core.pipeline.places import CHECKOUT
from crane_core.runtime.plan import read_plan

MINIBENCH = CHECKOUT / "data" / "minibench" / "benchmark"
CELL_S = 120
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
WAITED = "get_ipython()._crane_waited"


class GuardedCell(NamedTuple):
    """Of one cell: seconds that it waited for the guard, and its end."""

    waited_s: float
    end: str


RAN, RAISED, STOPPED, FALSE_ALARM = "ran", "raised", "stopped", "false alarm"


def cells_run(path: Path, step: GuardStep) -> list[GuardedCell]:
    """What the guard did to each cell of a notebook, up to the first that raises."""
    done: list[GuardedCell] = []
    with _kernel.fresh(sys.executable, path.parent, **_kernel.WITH_US) as (
        _,
        client,
    ):

        def run(code: str, **options: Any) -> dict[str, Any]:
            content: dict[str, Any] = client.execute_interactive(
                code,
                timeout=CELL_S,
                output_hook=lambda message: None,
                **options,
            )["content"]
            return content

        def one(source: str) -> GuardedCell:
            reply = run(source, user_expressions={"waited": WAITED})
            if reply["status"] == "ok":
                waited = reply["user_expressions"]["waited"]["data"][
                    "text/plain"
                ]
                return GuardedCell(float(waited), RAN)
            waited = run("", silent=True, user_expressions={"waited": WAITED})[
                "user_expressions"
            ]["waited"]["data"]["text/plain"]
            if reply["ename"] != "StoppedCell":
                return GuardedCell(float(waited), RAISED)
            again = run(f"{OVERRIDE}\n{source}")
            is_false = again["status"] == "ok"
            return GuardedCell(
                float(waited), FALSE_ALARM if is_false else STOPPED
            )

        try:
            run(f"%load_ext crane_core\n%crane guard {step}")
            run(
                f"_s = {{}}; exec({CLOCK!r}, _s); _s['clock'](get_ipython()); del _s",
                silent=True,
            )
            # As people do: the first cell is typed after the guard is on.
            time.sleep(PAUSE_S)
            for cell in read_plan(path, None).cells:
                if not cell.source.strip():
                    continue
                done.append(one(cell.source))
                if done[-1].end != RAN:
                    print(
                        f"{path.name}, code cell {cell.index}: {done[-1].end}"
                    )
                if done[-1].end in (RAISED, STOPPED):
                    break
        except TimeoutError:
            print(f"{path.name}: a cell took more than {CELL_S} s")
    return done


def main() -> None:
    parser = command(__doc__)
    parser.add_argument("--notebooks", type=int, default=40)
    parser.add_argument("--folder", type=Path)
    parser.add_argument(
        "--step",
        type=GuardStep,
        choices=(GuardStep.PREDICT, GuardStep.REHEARSE),
        default=GuardStep.REHEARSE,
    )
    chosen = parser.parse_args()
    paths = sorted(
        chosen.folder.rglob("*.ipynb")
        if chosen.folder
        else MINIBENCH.glob("*/*_fixed.ipynb")
    )
    # Every n-th, so that a few notebooks are of all libraries.
    every = max(1, len(paths) // chosen.notebooks)
    cells: list[GuardedCell] = []
    n_notebooks = 0
    for path in paths[::every][: chosen.notebooks]:
        try:
            done = cells_run(path, chosen.step)
        except NotebookError:
            continue
        n_notebooks += bool(done)
        cells += done
    ends = Counter(cell.end for cell in cells)
    waited = [cell.waited_s for cell in cells if cell.end == RAN]
    print(
        f"{chosen.step}: {n_notebooks} notebooks, {len(cells)} cells: {ends[RAN]} ran, {ends[RAISED]} raised,"
        f" {ends[STOPPED]} stopped, {ends[FALSE_ALARM]} false alarms"
    )
    if waited:
        print(f"added to a cell that ran: {Times(waited).in_ms()}")
    print(machine())


if __name__ == "__main__":
    main()
