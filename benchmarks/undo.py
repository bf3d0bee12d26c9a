"""Does `%crane undo` put a kernel back to before a cell that crashed? Compared deeply, by code that restores nothing.

python -m benchmarks.undo [--cells 200] [--seed 1] [--python PYTHON] [--no-pairs] [CASE ...]

The crashing notebooks of minibench, each in its own kernel, and cells made from a seed, many to a kernel: what names
hold, and the session's state, is described before the cell, after its crash and after the undo. A name that differs
after the undo counts as listed where the undo named it among what stays, else as silent. Exits with 1 where one is
silent. Pairs whose libraries are not installed are named.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from benchmarks._deep_state import different
from benchmarks._kernel import WITH_US, Kernel, fresh
from benchmarks._minibench import (
    BENCHMARK,
    cases_of,
    interpreter,
    not_installed,
    runnable,
)
from benchmarks._timing import command, machine
from benchmarks._undo_cells import crashing_cells
from benchmarks._undone import UndoneCell, tell
from crane_core.live.guard import OVERRIDE
from crane_core.runtime.kernel_side.crane_probe.session import processes
from crane_core.runtime.plan import read_plan

KNOWN = frozenset(("numpy", "pandas", "sklearn", "torch"))
"""Libraries that generated cells use."""
CELLS_PER_KERNEL = 50
_MAGICS = (
    "__import__('crane_core.live.magics', fromlist=['x']).loaded(get_ipython())"
)
# The machine may be busy: the time that a cell waits is measured, not bounded.
_PATIENT = f"setattr({_MAGICS}.session, 'copy_start_s', 60.0)"
_DESCRIBED = (
    "__import__('benchmarks._deep_state', "
    "fromlist=['x']).described(get_ipython().user_ns)"
)
_COPIES = f"{_MAGICS}.session._copies"
_UNDONE = (
    "(lambda now, copies: (now(), copies.undo(1), now()))"
    f"(__import__('time').perf_counter, {_COPIES})"
)


@contextmanager
def kernel_in(folder: Path, python: str) -> Iterator[Kernel]:
    with fresh(python, folder, **WITH_US) as kernel:
        kernel.run("%load_ext crane_core\n%crane guard on undo=1")
        kernel.value(_PATIENT)
        yield kernel


def undone(kernel: Kernel, title: str, target: str) -> UndoneCell | None:
    """What an undo of the target came to; None where the target did not crash."""
    before = kernel.value(_DESCRIBED)
    # What the guard would stop runs all the same.
    if kernel.run(f"{target}\n{OVERRIDE}").raised is None:
        return None
    kept_s, copy_mb = kernel.value(f"{_COPIES}.took_s"), mb_of_copy(kernel.pid)
    crashed = kernel.value(_DESCRIBED)
    began, told, ended = kernel.value(_UNDONE)
    left = different(before, kernel.value(_DESCRIBED))
    stays = [each["name"] for each in told.get("stays", ())]
    named = {name for names in stays for name in names.split(", ")}
    return UndoneCell(
        title,
        changed=different(before, crashed),
        listed=left & named,
        silent=left - named,
        refused=told.get("refused", ""),
        kept_s=kept_s,
        undo_s=ended - began,
        copy_mb=copy_mb,
    )


def mb_of_copy(pid: int) -> float:
    """Megabytes that the waiting copies of a kernel do not share with it."""
    waiting = [
        child
        for child in psutil.Process(pid).children()
        if child.name() == processes.STANDBY_NAME
    ]
    return sum(one.memory_full_info().uss for one in waiting) / 2**20


def of_pair(case: str, python: str) -> UndoneCell | None:
    """The crashing notebook of a pair, in a copy of its folder, as cells write files."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch, case)
        shutil.copytree(BENCHMARK / case, folder)
        plan = read_plan(folder / f"{case}_reproduced.ipynb", None)
        with kernel_in(folder, python) as kernel:
            for cell in plan.executed:
                kernel.run(f"{cell.source}\n{OVERRIDE}")
            return undone(kernel, case, plan.target.source)


def of_seed(n_cells: int, seed: int, python: str) -> Iterator[UndoneCell]:
    """Generated cells, in kernels that take many of them."""
    libraries = KNOWN - not_installed(KNOWN, python)
    made = crashing_cells(n_cells, seed, libraries)
    for start in range(0, n_cells, CELLS_PER_KERNEL):
        with (
            tempfile.TemporaryDirectory() as scratch,
            kernel_in(Path(scratch), python) as kernel,
        ):
            for place, one in enumerate(made[start : start + CELLS_PER_KERNEL]):
                kernel.run("%reset -f")
                kernel.run(f"{one.setup}\n{OVERRIDE}")
                found = undone(
                    kernel, f"seed {seed}, {start + place}", one.cell
                )
                assert found is not None, one.cell
                yield found


def main() -> int:
    parser = command(__doc__)
    parser.add_argument("--cells", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--python", type=interpreter, default=sys.executable)
    parser.add_argument(
        "--pairs", action=argparse.BooleanOptionalAction, default=True
    )
    chosen = cases_of(parser)
    pairs: list[UndoneCell] = []
    if chosen.pairs:
        for case in runnable(chosen.cases, chosen.python):
            if found := of_pair(case, chosen.python):
                pairs.append(found)
            else:
                print(f"{case}: its target did not crash here")
        tell("minibench", pairs)
    generated = list(of_seed(chosen.cells, chosen.seed, chosen.python))
    tell(f"generated, seed {chosen.seed}", generated)
    print(machine())
    return int(any(cell.silent for cell in pairs + generated))


if __name__ == "__main__":
    sys.exit(main())
