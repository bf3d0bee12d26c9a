"""JUnit's XML, as test reports of Jenkins, GitLab and others read it: a suite per notebook, a case per cell.

A crash is a failure, a notebook that could not be checked is an error, and a cell that did not run is skipped.
"""

import re
from collections.abc import Sequence
from xml.etree import ElementTree as Xml

from crane_core.pipeline.own_notebooks.whole import cell_results
from crane_core.runtime.endings import short

_NO_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot hold, even escaped."""


def as_junit(results: Sequence[cell_results.NotebookResult]) -> str:
    """One document with all notebooks."""
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
