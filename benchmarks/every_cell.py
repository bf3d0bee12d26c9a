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
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from IPython.core.inputtransformer2 import TransformerManager

from benchmarks._data import cells_by_instance, study_records
from benchmarks._decisive import case_ids
from benchmarks._minibench import (
    FALSE_ALARM,
    OTHER_CLASS,
    at_once,
    cells_of,
    complain,
    in_a_word,
    kernel_command,
    notebooks,
    state_of,
)
from benchmarks._timing import machine
from crane_core.detectors.rules.predict import findings
from crane_core.domain import Cell, CellRole, KernelState, Setting
from crane_core.errors import CraneError
from crane_core.runtime import probe_source
from crane_core.runtime.interpreters import ASSUMED
from crane_core.runtime.kernel import (
    EndedError,
    ExpressionError,
    Kernel,
    fresh_kernel,
)
from crane_core.runtime.limits import KernelLimits
from crane_core.runtime.plan import NotebookPlan, read_plan
from crane_core.runtime.program import program

SETTINGS = (Setting.CODE, Setting.RUNTIME_PLUS)


class CellOutcome(NamedTuple):
    """One cell as a target: `predicted` and `came` are exceptions, None for none; `why` is the rule's word."""

    place: str
    setting: Setting
    predicted: str | None
    came: str | None
    why: str = ""

    @property
    def kind(self) -> str:
        return in_a_word(self.predicted, self.came)


def predicted(
    place: str,
    setting: Setting,
    cells: Sequence[Cell],
    state: KernelState | None,
    came: str | None,
) -> CellOutcome:
    """What the rules say of the last of these cells. Prints a rule that failed."""
    report = findings(cells, state, setting)
    complain(report, place)
    first = report.findings[0] if report.findings else None
    return CellOutcome(
        place,
        setting,
        first.exception if first else None,
        came,
        first.why if first else "",
    )


def looked(kernel: Kernel, plan: NotebookPlan, magic: str) -> KernelState:
    told = json.loads(kernel.evaluate(probe_source.look(plan.request(), magic)))
    return state_of(told["state"], plan.name)


def run_through(path: Path, python: str) -> list[CellOutcome]:
    """All cells of a notebook, until one raises. What fails otherwise is told, and what was seen until then counts."""
    whole = read_plan(path, None)
    cells = [*whole.executed, whole.target]
    outcomes: list[CellOutcome] = []
    try:
        with fresh_kernel(
            program(python=python), path.parent, KernelLimits()
        ) as kernel:
            magic = json.loads(kernel.evaluate(probe_source.greet()))["magic"]
            for position, cell in enumerate(cells):
                plan = whole._replace(executed=cells[:position], target=cell)
                state = looked(kernel, plan, magic)
                came = kernel.run(cell.source).exception
                place = f"{path.stem}, code cell {cell.index}"
                for setting in SETTINGS:
                    seen = state if setting is Setting.RUNTIME_PLUS else None
                    outcomes.append(
                        predicted(place, setting, cells_of(plan), seen, came)
                    )
                if came is not None:
                    break
    except (CraneError, EndedError, ExpressionError) as error:
        print(f"failed: {path.name}: {error}")
    return outcomes


def refused(code: str) -> str | None:
    """The exception with which Python refuses the text itself, or None: published texts are not always what ran."""
    try:
        compile(TransformerManager().transform_cell(code), "<cell>", "exec")  # type: ignore[no-untyped-call]
    except SyntaxError:
        return SyntaxError.__name__
    return None


def on_published() -> Iterator[CellOutcome]:
    """Cells that ran in the study, each with those before it; what came is what Python says of the published text."""
    for instance_id, cells in sorted(
        cells_by_instance(study_records()).items()
    ):
        for position, cell in enumerate(cells):
            if cell.role is CellRole.EXECUTED:
                asked = [*cells[:position], replace(cell, role=CellRole.TARGET)]
                place = f"{instance_id}, position {position}"
                came = refused(cell.code)
                yield predicted(place, Setting.CODE, asked, None, came)


def told(outcomes: Sequence[CellOutcome]) -> Iterator[str]:
    """Counts by setting, then every alarm that was false and every other class than came."""
    for setting in SETTINGS:
        kinds = Counter(
            outcome.kind for outcome in outcomes if outcome.setting is setting
        )
        if kinds:
            yield f"{setting}: " + ", ".join(
                f"{kind} {n:,}" for kind, n in sorted(kinds.items())
            )
    for outcome in outcomes:
        if outcome.kind in (FALSE_ALARM, OTHER_CLASS):
            came = outcome.came or "nothing"
            yield (
                f"  {outcome.place}, {outcome.setting}: "
                f"{outcome.predicted} "
                f"predicted, {came} came: {outcome.why}"
            )


def main() -> None:
    parser = kernel_command(__doc__)
    parser.add_argument("notebooks", nargs="*", type=Path, metavar="NOTEBOOK")
    chosen = parser.parse_args()
    paths = chosen.notebooks or notebooks(case_ids(), chosen.python)
    os.environ[ASSUMED] = chosen.python
    found = at_once(
        chosen.at_once, lambda path: run_through(path, chosen.python), paths
    )
    ours = [outcome for of_notebook in found for outcome in of_notebook]
    print(
        f"{len(paths)} notebooks, {len(ours) // len(SETTINGS):,} cells; "
        f"{machine()}"
    )
    print("\n".join(told(ours)))
    del os.environ[ASSUMED]  # the study ran other versions
    published = list(on_published())
    n_refused = sum(outcome.came is not None for outcome in published)
    print(
        f"cells that ran before the study's targets, {len(published):,}; "
        f"{n_refused} are not Python as published"
    )
    print("\n".join(told(published)))


if __name__ == "__main__":
    main()
