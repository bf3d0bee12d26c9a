"""A whole notebook checked: each cell predicted from what its kernel holds, then executed in that kernel.

Knows when the run of a notebook ends. Refuses to know which notebooks are checked and how a report looks.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from crane_core.detectors.registry import Prediction
from crane_core.detectors.rules.executed_cells import one_notebook
from crane_core.errors import CraneError, KernelError, LookError, NotebookError
from crane_core.given_path import read_given
from crane_core.notebooks import CodeCell
from crane_core.pipeline.own_notebooks import check, prompt_of_notebook
from crane_core.pipeline.own_notebooks.value_origins import with_origins
from crane_core.pipeline.own_notebooks.whole import cell_results
from crane_core.pipeline.own_notebooks.whole.cell_order import order_findings
from crane_core.pipeline.own_notebooks.whole.source_lines import cell_lines
from crane_core.runtime.capture import Captured
from crane_core.runtime.limits import KernelLimits
from crane_core.runtime.plan import MOST_BYTES, NotebookPlan, read_plan
from crane_core.runtime.walk import NotebookWalk, walk


@dataclass(frozen=True, slots=True)
class WholeOptions:
    """How cells are run; with `runs` False nothing is, and the rules have the code alone."""

    runs: bool = True
    keep_going: bool = False
    python: Path | str | None = None
    kernel: str | None = None
    limits: KernelLimits = field(default_factory=KernelLimits)


def check_whole(
    path: Path, options: WholeOptions
) -> cell_results.NotebookResult:
    """Check every code cell, from the top. What keeps the notebook from it is part of the result."""
    try:
        cells = read_plan(path, None).cells
        with one_notebook():
            results = (
                _executed(path, cells, options)
                if options.runs
                else [_from_code(path, cells, cell) for cell in cells]
            )
    except CraneError as error:
        return cell_results.NotebookResult(path, error=error)
    return cell_results.NotebookResult(
        path,
        tuple(results),
        order_findings(cells),
        is_executed=options.runs,
        cell_lines=_lines(path, cells),
    )


def _lines(path: Path, cells: Sequence[CodeCell]) -> tuple[range, ...]:
    if path.suffix != ".ipynb":
        return ()
    try:
        data = read_given(path, MOST_BYTES)
    except (OSError, ValueError) as error:
        raise NotebookError(
            f"{path} changed while it was checked.", remedy="Check it again."
        ) from error
    return cell_lines(data, [cell.source for cell in cells])


def _executed(
    path: Path, cells: Sequence[CodeCell], options: WholeOptions
) -> list[cell_results.CellResult]:
    """Until a cell raises that may not, unless it must continue; until the kernel ends."""
    with walk(
        path,
        cells,
        python=options.python,
        kernel=options.kernel,
        limits=options.limits,
    ) as kernel:
        results: list[cell_results.CellResult] = []
        is_over = False
        for cell in cells:
            # Behind a crash the kernel lacks what other cells would have made: the code alone is judged.
            if is_over or cell.is_skipped:
                results.append(_from_code(path, cells, cell))
                continue
            result = _one(path, kernel, cell)
            results.append(result)
            has_raised = result.crash is not None and not cell.may_raise
            goes_on = options.keep_going or not has_raised
            is_over = result.stopped is not None or not goes_on
    return results


def _one(
    path: Path, kernel: NotebookWalk, cell: CodeCell
) -> cell_results.CellResult:
    """The prediction first, from the state that the cell will meet, then its run."""
    plan = kernel.plan(cell)
    try:
        predicted = _predicted(path, plan, kernel.look(cell))
    # A state that cannot be read, as of a kernel that is not Python's, keeps no cell from its run.
    except LookError as error:
        predicted = cell_results.CellResult(cell, unsure=(str(error.args[0]),))
    except KernelError as error:
        # It ended before the cell could run in it.
        return cell_results.CellResult(
            cell, end=cell_results.CellEnd.STOPPED, stopped=str(error)
        )
    try:
        crash, seconds = kernel.run(cell)
    except KernelError as error:
        return replace(
            predicted, end=cell_results.CellEnd.STOPPED, stopped=str(error)
        )
    end = (
        cell_results.CellEnd.RAN
        if crash is None
        else cell_results.CellEnd.RAISED
    )
    return replace(predicted, end=end, crash=crash, seconds=round(seconds, 6))


def _from_code(
    path: Path, cells: Sequence[CodeCell], target: CodeCell
) -> cell_results.CellResult:
    """What the rules say of a cell when those above it have run; nothing is run."""
    if target.is_skipped:
        return cell_results.CellResult(
            target, end=cell_results.CellEnd.LEFT_OUT
        )
    before = [
        cell
        for cell in cells
        if cell.index < target.index and not cell.is_skipped
    ]
    plan = NotebookPlan(path.name, list(cells), before, target)
    return _predicted(path, plan, None)


def _predicted(
    path: Path, plan: NotebookPlan, captured: Captured | None
) -> cell_results.CellResult:
    """Raises DetectorError if the rules cannot answer."""
    state = (
        None
        if captured is None
        else prompt_of_notebook.captured_state(captured.to_json(), path.stem)
    )
    cells = tuple(prompt_of_notebook.planned_cells(plan, path.stem))
    checked = check.CheckedNotebook(path, plan, cells, state)
    said: Prediction = check.verdict(checked)
    found = with_origins(check.findings(said), checked, is_live=False)
    return cell_results.CellResult(
        plan.target,
        tuple(found),
        tuple(check.unsure(said)),
        saw_state=state is not None,
    )
