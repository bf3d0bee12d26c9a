"""How the results of whole notebooks are written: for people, as JSON, for CI services and for code scanning."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from urllib.parse import quote
from xml.etree import ElementTree as Xml

from crane_core import __version__
from crane_core.domain import JsonObject
from crane_core.errors import NotebookError
from crane_core.pipeline.own_notebooks.value_origins import evidence
from crane_core.pipeline.own_notebooks.whole import cell_results
from crane_core.runtime.endings import short


def as_text(results: Sequence[cell_results.NotebookResult]) -> str:
    """All notebooks, in their order; texts of cells are on one line each, and bounded."""
    lines = [line for result in results for line in _notebook(result)]
    return "\n".join([*lines, cell_results.counts_in_words(results)])


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


_DATA = (("%", "%25"), ("\r", "%0D"), ("\n", "%0A"))
_PROPERTY = (*_DATA, (":", "%3A"), (",", "%2C"))
_LEVELS = {cell_results.CellProblemKind.ORDER: "warning"}


def as_github(results: Sequence[cell_results.NotebookResult]) -> str:
    """Workflow commands of GitHub Actions: one line for each problem, and the counts as a notice.

    Source of the form: "Workflow commands for GitHub Actions", docs.github.com. What a command's data and properties
    must escape is written there; without it a message of a notebook could hold a command.
    """
    lines = [
        _command(result, problem)
        for result in results
        for problem in result.problems
    ]
    told = _escaped(cell_results.counts_in_words(results), _DATA)
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


_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_RULES = {
    cell_results.CellProblemKind.CRASH: "A cell crashed when the notebook ran from top to bottom.",
    cell_results.CellProblemKind.PREDICTED: "The rules predict that a cell will certainly crash.",
    cell_results.CellProblemKind.ORDER: "A cell needs a name that a run from top to bottom has not yet given a value.",
    cell_results.CellProblemKind.NOT_CHECKED: "The notebook could not be checked.",
}


def as_sarif(results: Sequence[cell_results.NotebookResult]) -> str:
    """SARIF 2.1.0 (OASIS Standard, 2020): one run with all problems.

    Code scanning of GitHub, GitLab and Azure takes this form. A path below the working folder is written relative to
    it, as the form wants it.
    """
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


_NO_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot hold, even escaped."""


def as_junit(results: Sequence[cell_results.NotebookResult]) -> str:
    """JUnit's XML, as test reports of Jenkins, GitLab and others read it: a suite per notebook, a case per cell.

    A crash is a failure, a notebook that could not be checked is an error, and a cell that did not run is skipped.
    """
    root = Xml.Element("testsuites", name="crane check")
    for result in results:
        _suite(root, result)
    Xml.indent(root)
    return Xml.tostring(root, encoding="unicode", xml_declaration=True)


def _suite(root: Xml.Element, result: cell_results.NotebookResult) -> None:
    problems = result.problems
    suite = Xml.SubElement(
        root, "testsuite", name=_text(result.path.as_posix())
    )
    if result.error is not None:
        case = _case(suite, result, "notebook", None)
        _add(case, "error", problems[0])
    for cell in result.cells:
        case = _case(suite, result, f"code cell {cell.cell.index}", cell)
        for problem in problems:
            if problem.cell == cell.cell.index:
                _add(case, "failure", problem)
        is_run = cell.end in (
            cell_results.CellEnd.RAN,
            cell_results.CellEnd.RAISED,
        )
        # Without a run no cell is skipped: each was judged from its code.
        if result.is_executed and len(case) == 0 and not is_run:
            Xml.SubElement(case, "skipped", message=str(cell.end))
    n_errors = sum(
        one.kind is cell_results.CellProblemKind.NOT_CHECKED for one in problems
    )
    suite.set("tests", str(len(suite)))
    suite.set("failures", str(len(suite.findall("*/failure"))))
    suite.set("errors", str(n_errors))
    suite.set("skipped", str(len(suite.findall("*/skipped"))))


def _case(
    suite: Xml.Element,
    result: cell_results.NotebookResult,
    name: str,
    cell: cell_results.CellResult | None,
) -> Xml.Element:
    seconds = cell.seconds if cell else None
    return Xml.SubElement(
        suite,
        "testcase",
        classname=_text(result.path.as_posix()),
        name=name,
        time=f"{seconds or 0:.3f}",
    )


def _add(case: Xml.Element, what: str, problem: cell_results.Problem) -> None:
    place = f"line {problem.line}: " if problem.line is not None else ""
    entry = Xml.SubElement(
        case,
        what,
        type=_text(problem.rule),
        message=_text(f"{place}{short(problem.message)}"),
    )
    entry.text = _text(f"{problem.kind}. {problem.remedy}")


def _text(words: str) -> str:
    return _NO_XML.sub("\ufffd", words)


def as_json(results: Sequence[cell_results.NotebookResult]) -> str:
    """All that is known of each cell, and the number of notebooks with each kind of problem."""
    document = {
        "notebooks": [result.to_json() for result in results],
        "crashed": cell_results.n_with(
            results, cell_results.CellProblemKind.CRASH
        ),
        "predicted_crashes": cell_results.n_with(
            results, cell_results.CellProblemKind.PREDICTED
        ),
        "order": cell_results.n_with(
            results, cell_results.CellProblemKind.ORDER
        ),
        "failed": cell_results.n_with(
            results, cell_results.CellProblemKind.NOT_CHECKED
        ),
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
