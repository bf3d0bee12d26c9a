"""For people: one line for each cell, the facts of each problem below it, and the counts at the end."""

from collections.abc import Iterator, Sequence

from crane_core.pipeline.own_notebooks.value_origins import evidence
from crane_core.pipeline.own_notebooks.whole import cell_results
from crane_core.pipeline.own_notebooks.whole.counts import counts_in_words
from crane_core.runtime.endings import short


def as_text(results: Sequence[cell_results.NotebookResult]) -> str:
    """All notebooks, in their order; texts of cells are on one line each, and bounded."""
    lines = [line for result in results for line in _notebook(result)]
    return "\n".join([*lines, counts_in_words(results)])


def _notebook(result: cell_results.NotebookResult) -> Iterator[str]:
    if result.error is not None:
        yield f"{result.path}: not checked: {result.error}"
        return
    how = "run from top to bottom" if result.is_executed else "not run"
    yield f"{result.path}: {len(result.cells):,} code cells, {how}"
    problems = result.problems
    for cell in result.cells:
        yield _cell(cell, is_executed=result.is_executed)
        of_cell = [one for one in problems if one.cell == cell.cell.index]
        for problem in of_cell:
            yield from _facts(problem, cell)
        if cell.is_false_alarm:
            yield "    note      predicted to crash, and it ran: a false alarm, please report it"
    for problem in problems:
        if problem.kind is cell_results.CellProblemKind.CRASH:
            how = "predicted" if problem.was_predicted else "not predicted"
            yield f"  first crash: code cell {problem.cell}, {how} before it ran"
            return


def _cell(result: cell_results.CellResult, *, is_executed: bool) -> str:
    """Its number, its end, and what the rules predicted."""
    marks = [*sorted(result.cell.tags), *filter(None, [result.cell.language])]
    tags = f" ({short(', '.join(marks))})" if marks else ""
    start = f"  cell {result.cell.index}{tags}:"
    if result.end is cell_results.CellEnd.LEFT_OUT:
        return f"{start} {result.end}"
    if is_executed:
        raised = f" {result.crash.exception}" if result.crash else ""
        start = f"{start} {result.end}{raised},"
    first = result.findings[0]["exception"] if result.findings else None
    said = f"predicted {first}" if first else "predicted nothing certain"
    return (
        f"{start} {said}"
        if result.saw_state
        else f"{start} {said} from the code alone"
    )


def _facts(
    problem: cell_results.Problem, result: cell_results.CellResult
) -> Iterator[str]:
    line = problem.line
    source = result.cell.source.split("\n")
    if line is not None and line <= len(source):
        yield f"    line      {line}: {short(source[line - 1])}"
    # What a run raised may have been predicted too, with evidence.
    is_of_order = problem.kind is cell_results.CellProblemKind.ORDER
    yield f"    {'order' if is_of_order else 'reason':<9} {short(problem.message)}"
    if result.findings and not is_of_order:
        yield f"    evidence  {short(evidence(result.findings[0]))}"
    if problem.remedy:
        yield f"    remedy    {short(problem.remedy)}"
