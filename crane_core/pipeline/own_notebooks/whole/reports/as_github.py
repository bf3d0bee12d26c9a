"""Workflow commands of GitHub Actions: an annotation at the line of the file for each problem.

Source of the form: "Workflow commands for GitHub Actions", docs.github.com. What a command's data and properties must
escape is written there; without it a message of a notebook could hold a command.
"""

from collections.abc import Sequence

from crane_core.pipeline.own_notebooks.whole import cell_results
from crane_core.pipeline.own_notebooks.whole.counts import counts_in_words
from crane_core.runtime.endings import short

_DATA = (("%", "%25"), ("\r", "%0D"), ("\n", "%0A"))
_PROPERTY = (*_DATA, (":", "%3A"), (",", "%2C"))
_LEVELS = {cell_results.CellProblemKind.ORDER: "warning"}


def as_github(results: Sequence[cell_results.NotebookResult]) -> str:
    """One line for each problem, and the counts as a notice."""
    lines = [
        _command(result, problem)
        for result in results
        for problem in result.problems
    ]
    told = _escaped(counts_in_words(results), _DATA)
    return "\n".join([*lines, f"::notice title=crane check::{told}"])


def _command(
    result: cell_results.NotebookResult, problem: cell_results.Problem
) -> str:
    level = _LEVELS.get(problem.kind, "error")
    where = "" if problem.cell is None else f", code cell {problem.cell}"
    properties = {
        "file": result.path.as_posix(),
        "line": problem.file_line,
        "title": f"{short(problem.rule)} ({problem.kind}){where}",
    }
    told = ",".join(
        f"{name}={_escaped(str(value), _PROPERTY)}"
        for name, value in properties.items()
        if value is not None
    )
    words = f"{short(problem.message).rstrip('.')}. {problem.remedy}".strip()
    return f"::{level} {told}::{_escaped(words, _DATA)}"


def _escaped(text: str, signs: Sequence[tuple[str, str]]) -> str:
    for sign, instead in signs:
        text = text.replace(sign, instead)
    return text
