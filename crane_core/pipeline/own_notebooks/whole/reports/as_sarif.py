"""SARIF 2.1.0, the form in which code scanning of GitHub, GitLab and Azure takes results.

Source of the form: "Static Analysis Results Interchange Format (SARIF) Version 2.1.0", OASIS Standard, 2020.
"""

import json
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from urllib.parse import quote

from crane_core import __version__
from crane_core.domain import JsonObject
from crane_core.pipeline.own_notebooks.whole import cell_results
from crane_core.runtime.endings import short

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_RULES = {
    cell_results.CellProblemKind.CRASH: "A cell crashed when the notebook ran from top to bottom.",
    cell_results.CellProblemKind.PREDICTED: "The rules predict that a cell will certainly crash.",
    cell_results.CellProblemKind.ORDER: "A cell needs a name that a run from top to bottom has not yet given a value.",
    cell_results.CellProblemKind.NOT_CHECKED: "The notebook could not be checked.",
}
_LEVELS = {cell_results.CellProblemKind.ORDER: "warning"}


def as_sarif(results: Sequence[cell_results.NotebookResult]) -> str:
    """One run with all problems. A path below the working folder is written relative to it, as the form wants it."""
    found = [
        _result(result, problem)
        for result in results
        for problem in result.problems
    ]
    rules = [
        {"id": str(kind), "shortDescription": {"text": text}}
        for kind, text in _RULES.items()
    ]
    driver = {"name": "crane", "version": __version__, "rules": rules}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": found,
    }
    document = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(document, indent=1)


def _result(
    result: cell_results.NotebookResult, problem: cell_results.Problem
) -> JsonObject:
    words = f"{short(problem.message).rstrip('.')}. {problem.remedy}".strip()
    uri = _uri(result.path)
    physical: JsonObject = {"artifactLocation": {"uri": uri}}
    # Code scanning shows no result without a line.
    physical["region"] = {"startLine": problem.file_line or 1}
    location: JsonObject = {"physicalLocation": physical}
    if problem.cell is not None:
        line = "" if problem.line is None else f", line {problem.line}"
        name = f"code cell {problem.cell}{line}"
        location["logicalLocations"] = [{"fullyQualifiedName": name}]
        words = f"{name}: {words}"
    # By cell and reason, not by line: an edit above leaves an alert what it was.
    key = f"{uri}|{problem.kind}|{problem.rule}|{problem.cell}"
    return {
        "ruleId": str(problem.kind),
        "ruleIndex": list(_RULES).index(problem.kind),
        "level": _LEVELS.get(problem.kind, "error"),
        "message": {"text": words},
        "locations": [location],
        "partialFingerprints": {"crane/v1": sha256(key.encode()).hexdigest()},
    }


def _uri(path: Path) -> str:
    full, here = path.resolve(), Path.cwd()
    if full.is_relative_to(here):
        return quote(full.relative_to(here).as_posix())
    return full.as_uri()
