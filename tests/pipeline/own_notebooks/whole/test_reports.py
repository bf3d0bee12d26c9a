"""Forms of a report: each holds every problem once, and no text of a notebook can leave its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import jsonschema
import pytest

from crane_core.errors import NotebookError
from crane_core.notebooks import CodeCell, CrashOutput
from crane_core.pipeline.own_notebooks.whole.cell_order import (
    OrderFinding,
    OrderKind,
)
from crane_core.pipeline.own_notebooks.whole.cell_results import (
    CellEnd,
    CellProblemKind,
    CellResult,
    NotebookResult,
    counts_in_words,
    n_with_crash,
)
from crane_core.pipeline.own_notebooks.whole.report_forms import (
    REPORTS,
    form_of,
)

EVIL = "no\x07]]>\n::error::<b> \x1b[31m%0A\ud800"
FINDING = {
    "exception": "KeyError",
    "message": "'lane'",
    "fact": "the keys are 'a'",
    "remedy": "Use an existing key.",
    "code_line": "2: d['lane']",
}
SARIF_FACTS = {
    "type": "object",
    "required": ["version", "runs"],
    "properties": {
        "version": {"const": "2.1.0"},
        "runs": {
            "type": "array",
            "items": {
                "required": ["tool", "results"],
                "additionalProperties": False,
                "properties": {
                    "columnKind": {
                        "enum": ["utf16CodeUnits", "unicodeCodePoints"]
                    },
                    "tool": {"required": ["driver"]},
                    "results": {
                        "items": {
                            "required": ["message"],
                            "properties": {
                                "level": {
                                    "enum": ["none", "note", "warning", "error"]
                                },
                                "ruleIndex": {"minimum": 0},
                                "message": {"required": ["text"]},
                                "locations": {"type": "array"},
                            },
                        }
                    },
                },
            },
        },
    },
}
"""Of the schema of the OASIS standard, what a report of ours could break."""


def cell(index: int, **more: Any) -> CodeCell:
    return CodeCell(index, "d = {}\nd['lane']", None, None, **more)


@pytest.fixture
def results() -> list[NotebookResult]:
    """A crash that was predicted, a predicted one, one of order, a false alarm, and a file that is not a notebook."""
    crash = CrashOutput("KeyError", EVIL, "", 2)
    tagged = cell(0, tags=frozenset({"raises-exception"}))
    crashed = (
        CellResult(tagged, (FINDING,), end=CellEnd.RAISED, crash=crash),
        CellResult(cell(1), (FINDING,), end=CellEnd.RAN, saw_state=True),
        CellResult(
            cell(2),
            (FINDING,),
            end=CellEnd.RAISED,
            crash=crash,
            seconds=0.5,
            saw_state=True,
        ),
        CellResult(cell(3, language="SQL"), end=CellEnd.LEFT_OUT),
    )
    order = OrderFinding(OrderKind.BOUND_LATER, 1, 1, "model", (2,))
    not_run = (CellResult(cell(0), (FINDING,)), CellResult(cell(1)))
    refused = NotebookError("It is empty.", remedy="Save it again.")
    return [
        NotebookResult(
            Path("a,b:c.ipynb"),
            crashed,
            is_executed=True,
            cell_lines=tuple(range(at, at + 2) for at in (10, 20, 30, 40)),
        ),
        NotebookResult(Path("late.ipynb"), not_run, (order,)),
        NotebookResult(Path("empty.ipynb"), error=refused),
    ]


def test_the_run_is_a_better_witness_than_the_rules(
    results: list[NotebookResult],
) -> None:
    kinds = [[one.kind for one in result.problems] for result in results]
    assert kinds == [
        [CellProblemKind.CRASH],
        [CellProblemKind.PREDICTED, CellProblemKind.ORDER],
        [CellProblemKind.NOT_CHECKED],
    ]
    [crash] = results[0].problems
    assert (crash.cell, crash.line, crash.file_line) == (2, 2, 31)
    assert crash.remedy == FINDING["remedy"]


def test_a_missing_name_is_explained_by_the_cell_that_has_it() -> None:
    crash = CrashOutput("NameError", "name 'model' is not defined", "", 1)
    order = OrderFinding(OrderKind.BOUND_LATER, 0, 1, "model", (1,))
    raised = CellResult(cell(0), end=CellEnd.RAISED, crash=crash)
    [problem] = NotebookResult(Path("a"), (raised,), (order,)).problems
    assert problem.message.endswith("uses `model`, bound only in code cell 1")
    assert problem.remedy == "Move code cell 1 before code cell 0."


def test_the_counts_are_of_notebooks(results: list[NotebookResult]) -> None:
    assert counts_in_words(results) == (
        "3 notebooks: 1 crashed, 1 with a predicted crash, 1 in need of another order, 1 not checked"
    )
    assert counts_in_words([]) == "0 notebooks: 0 crashed"
    assert n_with_crash(results) == 2


def test_text_has_a_line_for_each_cell_and_tells_a_false_alarm(
    results: list[NotebookResult],
) -> None:
    told = REPORTS["text"](results).split("\n")
    assert (
        "  cell 0 (raises-exception): raised KeyError, predicted KeyError from the code alone"
        in told
    )
    assert "  cell 1: ran, predicted KeyError" in told
    assert sum("a false alarm" in line for line in told) == 1
    assert "  cell 3 (SQL): left out" in told
    assert "  first crash: code cell 2, predicted before it ran" in told
    assert "    evidence  the keys are 'a'" in told
    assert not any(line.startswith("::") for line in told)


def test_json_has_every_cell(results: list[NotebookResult]) -> None:
    told = json.loads(REPORTS["json"](results))
    first, late, empty = told["notebooks"]
    assert (first["first_crash"], first["first_predicted"]) == (2, 0)
    assert [one["end"] for one in first["cells"]] == [
        "raised",
        "ran",
        "raised",
        "left out",
    ]
    assert late["order"][0]["bound_in"] == [2]
    assert empty["error"] == "It is empty. Save it again."
    assert (told["crashed"], told["predicted_crashes"], told["failed"]) == (
        1,
        1,
        1,
    )


def test_sarif_keeps_to_the_standard(results: list[NotebookResult]) -> None:
    told = json.loads(REPORTS["sarif"](results))
    jsonschema.validate(told, SARIF_FACTS)
    [run] = told["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert [
        rules[result["ruleIndex"]] == result["ruleId"]
        for result in run["results"]
    ] == [True] * 4
    place = run["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "a%2Cb%3Ac.ipynb"
    assert place["region"] == {"startLine": 31}


def test_junit_is_xml_whatever_a_notebook_raises(
    results: list[NotebookResult],
) -> None:
    root = Xml.fromstring(REPORTS["junit"](results))
    suites = [dict(suite.attrib) for suite in root]
    assert [
        (suite["tests"], suite["failures"], suite["errors"], suite["skipped"])
        for suite in suites
    ] == [("4", "1", "0", "1"), ("2", "2", "0", "0"), ("1", "0", "1", "0")]
    [failure] = root[0].findall("*/failure")
    assert failure.get("type") == "KeyError"
    assert "<b>" in str(failure.get("message"))


def test_no_message_becomes_a_workflow_command(
    results: list[NotebookResult],
) -> None:
    lines = REPORTS["github"](results).split("\n")
    assert len(lines) == 5
    assert lines[0].startswith(
        "::error file=a%2Cb%3Ac.ipynb,line=31,title=KeyError (crash)%2C code cell 2::"
    )
    assert "%250A" in lines[0]
    assert lines[2].startswith("::warning file=late.ipynb,title=")


@pytest.mark.parametrize("form", list(REPORTS))
def test_no_notebooks_make_a_report_too(form: str) -> None:
    assert REPORTS[form]([])


def test_the_ending_of_a_file_names_its_form() -> None:
    assert form_of(Path("out.sarif")) is REPORTS["sarif"]
    with pytest.raises(NotebookError, match=r"Use one of \.txt, \.json"):
        form_of(Path("out.html"))
