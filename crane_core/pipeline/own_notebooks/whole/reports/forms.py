"""The forms of a report by name, and the smallest of them: JSON with every cell of every notebook."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from crane_core.errors import NotebookError
from crane_core.pipeline.own_notebooks.whole import cell_results
from crane_core.pipeline.own_notebooks.whole.counts import n_with
from crane_core.pipeline.own_notebooks.whole.reports.as_github import as_github
from crane_core.pipeline.own_notebooks.whole.reports.as_junit import as_junit
from crane_core.pipeline.own_notebooks.whole.reports.as_sarif import as_sarif
from crane_core.pipeline.own_notebooks.whole.reports.as_text import as_text


def as_json(results: Sequence[cell_results.NotebookResult]) -> str:
    """All that is known of each cell, and the number of notebooks with each kind of problem."""
    document = {
        "notebooks": [result.to_json() for result in results],
        "crashed": n_with(results, cell_results.CellProblemKind.CRASH),
        "predicted_crashes": n_with(
            results, cell_results.CellProblemKind.PREDICTED
        ),
        "order": n_with(results, cell_results.CellProblemKind.ORDER),
        "failed": n_with(results, cell_results.CellProblemKind.NOT_CHECKED),
    }
    return json.dumps(document)


REPORTS: dict[str, Callable[[Sequence[cell_results.NotebookResult]], str]] = {
    "text": as_text,
    "json": as_json,
    "sarif": as_sarif,
    "junit": as_junit,
    "github": as_github,
}
"""In the order in which help lists them."""

ENDINGS = {
    ".txt": as_text,
    ".json": as_json,
    ".sarif": as_sarif,
    ".xml": as_junit,
}
"""Forms of files, by the ending that tools expect."""


def form_of(
    file: Path,
) -> Callable[[Sequence[cell_results.NotebookResult]], str]:
    """The form of a file by its ending. Raises NotebookError for an unknown one."""
    if file.suffix not in ENDINGS:
        raise NotebookError(
            f"The ending of {file} names no form of a report.",
            remedy=f"Use one of {', '.join(ENDINGS)}.",
        )
    return ENDINGS[file.suffix]
