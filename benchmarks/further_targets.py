"""What the rules cost for one target after another of a notebook, from its code.

python -m benchmarks.further_targets [NOTEBOOK ...]

Every code cell is a target, in order, in one process: the cells before it are followed again for each. Rules, IPython
and the libraries whose own signatures and names the rules ask for are loaded: a process does that once, not for each
target. Limit: 100 ms of processor time for a further target. Those above it are listed: they, or the cells before,
are themselves long to follow. Without a notebook, all of minibench are taken.
"""

from __future__ import annotations

import argparse
import importlib
import statistics
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from benchmarks._timing import machine
from crane_core.detectors.rules.cell_code import read_cell
from crane_core.detectors.rules.family import all_rules
from crane_core.detectors.rules.predict import Report, findings
from crane_core.domain import Cell, CellRole, Setting
from crane_core.notebooks import read_code_cells
from crane_core.pipeline.places import CHECKOUT

LIMIT_S = 0.1
ASKED_BY_RULES = ("pandas", "matplotlib.pyplot")


class Asked(NamedTuple):
    """One target: seconds of the processor, and steps of the target with all cells before it."""

    seconds: float
    n_steps: int


def asked(cells: Sequence[Cell], target: int) -> Asked:
    shown = [*cells[:target], replace(cells[target], role=CellRole.TARGET)]
    start = time.process_time()
    report: Report = findings(shown, None, Setting.CODE)
    return Asked(time.process_time() - start, report.n_steps)


def of_notebook(path: Path) -> list[Asked]:
    """Every cell as target in order."""
    sources = [cell.source for cell in read_code_cells(path.read_bytes())]
    cells = [Cell("own", path.stem, "own", at, CellRole.EXECUTED, source) for at, source in enumerate(sources)]
    return [asked(cells, target) for target in range(len(cells))]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.further_targets")
    parser.add_argument("notebooks", nargs="*", type=Path, metavar="NOTEBOOK", help="default: all of minibench")
    chosen = parser.parse_args()
    paths = chosen.notebooks or sorted((CHECKOUT / "data" / "minibench").glob("**/*_reproduced.ipynb"))
    all_rules()
    read_cell("%time 0")
    for library in ASKED_BY_RULES:
        with suppress(ImportError):
            importlib.import_module(library)
    every: list[float] = []
    for path in paths:
        in_order = of_notebook(path)
        further = in_order[1:]
        seconds = [each.seconds for each in further]
        every += seconds
        if not seconds:
            continue
        print(
            f"{path.stem}: {len(in_order)} targets; the last one has {in_order[-1].n_steps:,} steps; "
            f"further median {statistics.median(seconds) * 1e3:,.1f} ms, largest {max(seconds) * 1e3:,.0f} ms"
        )
        for target, each in enumerate(further, start=1):
            if each.seconds > LIMIT_S:
                print(f"  target {target}: {each.seconds * 1e3:,.0f} ms")
    n_above = sum(seconds > LIMIT_S for seconds in every)
    print(
        f"{len(every):,} further targets: median {statistics.median(every) * 1e3:,.1f} ms, {n_above} above "
        f"{LIMIT_S * 1e3:.0f} ms; {machine()}"
    )


if __name__ == "__main__":
    main()
