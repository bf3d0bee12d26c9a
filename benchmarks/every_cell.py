"""Every code cell of a notebook as a target: what the certain-crash rules predict, beside what then comes.

python -m benchmarks.every_cell [--python PATH] [--at-once N] [NOTEBOOK ...]

Each notebook (default: all of minibench) runs in one kernel; before each of its cells the kernel is looked at and the
rules say what they expect, from the code alone (asking the libraries of the interpreter that runs the notebook) and
with the state, then the cell runs. Where the study's archive is beside the checkout, so do all cells that ran before
the study's targets, from the code alone: the study records that none of them raised. A notebook's cells are many more
than its target, and hardly one of them crashes: what is predicted of the others is a false alarm.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from IPython.core.inputtransformer2 import TransformerManager

from benchmarks._data import cells_by_instance, study_records
from benchmarks._decisive import case_ids
from benchmarks._minibench import (
    JudgedTarget,
    at_once,
    cells_of,
    counted,
    judged,
    kernel_command,
    notebooks,
    state_of,
)
from benchmarks._timing import machine
from crane_core.detectors.rules.predict import findings
from crane_core.domain import CellRole, Setting
from crane_core.errors import CraneError
from crane_core.runtime import probe_source
from crane_core.runtime.interpreters import ASSUMED
from crane_core.runtime.kernel import (
    EndedError,
    ExpressionError,
    fresh_kernel,
)
from crane_core.runtime.limits import KernelLimits
from crane_core.runtime.plan import read_plan
from crane_core.runtime.program import program

SETTINGS = (Setting.CODE, Setting.RUNTIME_PLUS)
Judged = tuple[Setting, JudgedTarget]


def run_through(path: Path, python: str) -> list[Judged]:
    """All cells of a notebook, until one raises. What fails otherwise is told, and what was seen until then counts."""
    whole = read_plan(path, None)
    cells = [*whole.executed, whole.target]
    found: list[Judged] = []
    try:
        with fresh_kernel(
            program(python=python), path.parent, KernelLimits()
        ) as kernel:
            magic = json.loads(kernel.evaluate(probe_source.greet()))["magic"]
            for position, cell in enumerate(cells):
                plan = whole._replace(executed=cells[:position], target=cell)
                look = probe_source.look(plan.request(), magic)
                state = state_of(json.loads(kernel.evaluate(look))["state"])
                came = kernel.run(cell.source).exception
                for setting in SETTINGS:
                    report = findings(cells_of(plan), state, setting)
                    place = f"{path.stem}, code cell {cell.index}"
                    found.append((setting, judged(place, report, came)))
                if came is not None:
                    break
    except (CraneError, EndedError, ExpressionError) as error:
        print(f"failed: {path.name}: {error}")
    return found


def refused(code: str) -> str | None:
    """The exception with which Python refuses the text itself, or None: published texts are not always what ran."""
    try:
        compile(TransformerManager().transform_cell(code), "<cell>", "exec")  # type: ignore[no-untyped-call]
    except SyntaxError:
        return SyntaxError.__name__
    return None


def on_published() -> Iterator[JudgedTarget]:
    """Cells that ran in the study, each with those before it; what came is what Python says of the published text."""
    by_instance = cells_by_instance(study_records())
    for instance_id, cells in sorted(by_instance.items()):
        for position, cell in enumerate(cells):
            if cell.role is CellRole.EXECUTED:
                asked = [*cells[:position], replace(cell, role=CellRole.TARGET)]
                report = findings(asked, None, Setting.CODE)
                place = f"{instance_id}, position {position}"
                yield judged(place, report, refused(cell.code))


def main() -> None:
    parser = kernel_command(__doc__)
    parser.add_argument("notebooks", nargs="*", type=Path, metavar="NOTEBOOK")
    chosen = parser.parse_args()
    paths = chosen.notebooks or notebooks(case_ids(), chosen.python)
    os.environ[ASSUMED] = chosen.python
    found = at_once(
        chosen.at_once, lambda path: run_through(path, chosen.python), paths
    )
    ours = [one for of_notebook in found for one in of_notebook]
    print(
        f"{len(paths)} notebooks, {len(ours) // len(SETTINGS):,} cells; "
        f"{machine()}"
    )
    for setting in SETTINGS:
        targets = [one for seen_with, one in ours if seen_with is setting]
        print("\n".join(counted(setting, targets)))
    del os.environ[ASSUMED]  # the study ran other versions
    published = list(on_published())
    title = f"{len(published):,} cells that ran before the study's targets"
    print("\n".join(counted(title, published)))


if __name__ == "__main__":
    main()
