"""A whole notebook checked: each cell predicted from what its kernel holds, then executed in that kernel.

Knows when the run of a notebook ends. Refuses to know which notebooks are checked and how a report looks.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from crane_core.detectors.registry import Prediction
from crane_core.detectors.rules.executed_cells import one_notebook
from crane_core.errors import CraneError, KernelError, LookError, NotebookError
from crane_core.given_path import read_given
from crane_core.notebooks import CodeCell
from crane_core.pipeline.own_notebooks import check, prompt_of_notebook
from crane_core.pipeline.own_notebooks.value_origins import with_origins
from crane_core.pipeline.own_notebooks.whole import cell_order, cell_results
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
        cell_order.order_findings(cells),
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


_MEMBER = re.compile(
    r'(?P<indent>[ \t]+)"(?P<name>cell_type|source)": ?(?P<value>.*)'
)


class _SourcePlace(NamedTuple):
    """The line in which a source begins, and whether it is a list with a string for each of its lines."""

    line: int
    is_list: bool


def cell_lines(data: bytes, sources: Sequence[str]) -> tuple[range, ...]:
    """The lines, from 1, of the source of each code cell; () where the file has another layout.

    `sources` are those of the code cells, by which each place that was found is checked. A source that is written as
    one string has one line of the file.
    """
    lines = data.decode("utf-8", "replace").split("\n")
    found = list(_code_sources(lines))
    if len(found) != len(sources):
        return ()
    is_right = all(
        _holds(lines[place.line - 1], source)
        for place, source in zip(found, sources, strict=True)
    )
    if not is_right:
        return ()
    return tuple(
        range(place.line, place.line + 1 + place.is_list * source.count("\n"))
        for place, source in zip(found, sources, strict=True)
    )


def _code_sources(lines: Sequence[str]) -> Iterator[_SourcePlace]:
    """Where the source of each cell begins whose type is code, in whichever order the two members are written."""
    indent, kind, source = None, None, None
    for number, line in enumerate(lines, 1):
        member = _MEMBER.match(line)
        if member is None:
            continue
        # Outputs hold JSON of others, deeper in the file, which may have these members too.
        indent = indent or member["indent"]
        if member["indent"] != indent:
            continue
        if member["name"] == "cell_type":
            kind = member["value"].strip(' ",')
        else:
            is_list = member["value"].rstrip() == "["
            source = _SourcePlace(number + is_list, is_list)
        if kind is not None and source is not None:
            if kind == "code":
                yield source
            kind, source = None, None


def _holds(line: str, source: str) -> bool:
    """Whether this line of the file has the first line of the source, or all of it; an empty source is anywhere."""
    first = source.split("\n", 1)[0]
    texts = (json.dumps(first), json.dumps(first, ensure_ascii=False))
    return not source or any(text[:-1] in line for text in texts)
