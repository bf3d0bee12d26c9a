"""Whole notebooks in a real kernel: the prediction of each cell before its run, and where the run ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from crane_core.pipeline.own_notebooks.whole.cell_results import (
    CellEnd,
    CellProblemKind,
)
from crane_core.pipeline.own_notebooks.whole.check_whole import (
    WholeOptions,
    check_whole,
)
from tests.written_pairs import write_notebook

CELLS = (
    "lanes = [1, 2]",
    "1 / 0",
    "not python at all",
    "lanes.append(3)",
    "# the third\nlanes[2]",
    "lanes[8]",
    "lanes[0]",
)
TAGS = {1: "raises-exception", 2: "skip-execution"}
FROM_CODE = WholeOptions(runs=False)


@pytest.fixture
def notebook(tmp_path: Path) -> Path:
    return write_notebook(tmp_path / "swim.ipynb", CELLS, tagged=TAGS)


def test_each_cell_is_predicted_before_it_runs_until_one_crashes(
    notebook: Path,
) -> None:
    result = check_whole(notebook, WholeOptions())
    assert [cell.end for cell in result.cells] == [
        CellEnd.RAN,
        CellEnd.RAISED,
        CellEnd.LEFT_OUT,
        CellEnd.RAN,
        CellEnd.RAN,
        CellEnd.RAISED,
        CellEnd.NOT_RUN,
    ]
    predicted = [cell.cell.index for cell in result.cells if cell.findings]
    assert predicted == [1, 5]
    # The state, as the code alone does not tell the length behind a cell that raised.
    assert result.cells[5].saw_state and not result.cells[6].saw_state
    [problem] = result.problems
    assert (problem.kind, problem.rule) == (CellProblemKind.CRASH, "IndexError")
    assert (problem.cell, problem.line) == (5, 1)


@pytest.mark.slow
def test_told_to_continue_it_runs_what_follows(notebook: Path) -> None:
    result = check_whole(notebook, WholeOptions(keep_going=True))
    assert result.cells[6].end is CellEnd.RAN
    assert [problem.cell for problem in result.problems] == [5]


@pytest.mark.slow
def test_a_cell_that_ends_the_kernel_is_a_problem(tmp_path: Path) -> None:
    cells = ("import os", "os._exit(3)", "1")
    path = write_notebook(tmp_path / "ends.ipynb", cells)
    result = check_whole(path, WholeOptions())
    assert [cell.end for cell in result.cells] == [
        CellEnd.RAN,
        CellEnd.STOPPED,
        CellEnd.NOT_RUN,
    ]
    [problem] = result.problems
    assert "ended the kernel (exit code 3)" in problem.message


def test_without_a_run_the_code_alone_is_judged(tmp_path: Path) -> None:
    cells = ("open('ran', 'w')", "fit(model)", "def fit(m): pass\nmodel = 1")
    path = write_notebook(tmp_path / "late.ipynb", cells)
    result = check_whole(path, FROM_CODE)
    assert {cell.end for cell in result.cells} == {CellEnd.NOT_RUN}
    assert not (tmp_path / "ran").exists()
    assert {problem.cell for problem in result.problems} == {1}
    assert all(problem.rule == "NameError" for problem in result.problems)


def test_a_file_that_is_not_a_notebook_is_its_own_result(
    tmp_path: Path,
) -> None:
    path = tmp_path / "empty.ipynb"
    path.write_bytes(b"")
    [problem] = check_whole(path, FROM_CODE).problems
    assert problem.kind is CellProblemKind.NOT_CHECKED
    assert "it is empty" in problem.message


def test_the_line_of_the_file_is_known_where_jupyter_wrote_it(
    tmp_path: Path,
) -> None:
    cell = {
        "cell_type": "code",
        "source": ["# lane\n", "late"],
        "metadata": {},
        "outputs": [],
        "execution_count": None,
    }
    other = cell | {"source": ["late = 1"]}
    path = tmp_path / "late.ipynb"
    document = {"cells": [cell, other], "nbformat": 4, "nbformat_minor": 4}
    path.write_text(json.dumps(document, indent=1))
    [problem] = check_whole(path, FROM_CODE).problems
    line = path.read_text().split("\n")[(problem.file_line or 0) - 1]
    assert json.loads(line) == "late"
