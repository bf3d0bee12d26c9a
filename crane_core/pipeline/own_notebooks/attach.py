"""Will the next cell of an open notebook crash? Its kernel runs already, and is looked at instead of run up.

Knows which cell is next. Runs no cell, except in a copy
of the kernel on request.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from crane_core.errors import NotebookError
from crane_core.notebooks import CodeCell
from crane_core.pipeline.own_notebooks.check import CheckedNotebook
from crane_core.pipeline.own_notebooks.prompt_of_notebook import (
    captured_state,
    planned_cells,
)
from crane_core.pipeline.own_notebooks.value_origins import not_run
from crane_core.runtime.attached import Attached
from crane_core.runtime.live_history import Ran
from crane_core.runtime.plan import NotebookPlan, read_plan
from crane_core.runtime.running import RunningKernel


def attached(
    kernel: RunningKernel,
    notebook: Path | None = None,
    target: int | None = None,
    *,
    rehearse_s: float | None = None,
) -> CheckedNotebook:
    """The notebook as its kernel holds it now, before code cell `target` of the saved file.

    `notebook` is needed where Jupyter does not say which file the kernel belongs to. Without `target` it is the cell
    after the last one that ran. With `rehearse_s` the target runs in a copy of the kernel, so many seconds at most.
    Raises NotebookError or KernelError.
    """
    path = notebook or kernel.notebook
    if path is None:
        raise NotebookError(
            f"Jupyter does not say which notebook the kernel {kernel.name} belongs to.",
            remedy="Name the notebook's file too: check NOTEBOOK --attach ID.",
        )
    with Attached(kernel) as live:
        ran = live.ran()
        plan = read_plan(path, target)
        # Read twice, because which cell is next depends on what the kernel ran.
        if target is None:
            plan = read_plan(path, next_cell(plan.cells, ran))
        result = live.look(ran, plan.target.source)
        rehearsal = (
            None
            if rehearse_s is None
            else live.rehearse(plan.target.source, rehearse_s)
        )
    executed = [
        CodeCell(place, cell.source, cell.number, None)
        # What the kernel ran, not what the file says: cells may have been edited or deleted since.
        for place, cell in enumerate(ran)
    ]
    seen = NotebookPlan(
        plan.name, [*executed, plan.target], executed, plan.target
    )
    state = captured_state(result.state, path.stem)
    cells = tuple(planned_cells(seen, path.stem))
    others = not_run(
        plan.cells, [cell.source for cell in ran], plan.target.source
    )
    return CheckedNotebook(
        path,
        seen,
        cells,
        state,
        is_attached=True,
        rehearsal=rehearsal,
        not_run=others,
    )


def next_cell(cells: Sequence[CodeCell], ran: Sequence[Ran]) -> int:
    """The cell after the last one that ran, as far as it is in the file; the last cell where none is left."""
    places = {cell.source.strip(): cell.index for cell in cells}
    last = next(
        (
            places[one.source.strip()]
            for one in reversed(ran)
            if one.source.strip() in places
        ),
        -1,
    )
    return min(last + 1, len(cells) - 1)
