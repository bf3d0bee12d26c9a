"""A notebook before its target: read, run up, shown; a state from elsewhere fits its notebook or is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import nbformat
import pytest

from crane_core.domain import CellRole, Setting
from crane_core.errors import NotebookError, PromptError
from crane_core.pipeline.own_notebooks.check import (
    execution_allowed,
    execution_forbidden,
    read_notebook,
    run_up,
    to_send,
    verdict,
    with_state,
)

SETUP = "trips = {'monday': 3, 'tuesday': 5}"
TARGET = "total = trips['monday'] + trips['sunday']"


@pytest.fixture
def notebook(tmp_path: Path) -> Path:
    path = tmp_path / "trip.ipynb"
    cells = [
        nbformat.v4.new_code_cell(code)
        for code in (SETUP, "days = len(trips)", TARGET)
    ]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    return path


def test_reading_runs_nothing(notebook: Path) -> None:
    checked = read_notebook(notebook)
    assert [cell.role for cell in checked.cells] == [
        CellRole.EXECUTED,
        CellRole.EXECUTED,
        CellRole.TARGET,
    ]
    assert (checked.state, checked.seconds_before, checked.settings) == (
        None,
        None,
        (Setting.CODE,),
    )
    with pytest.raises(PromptError):
        to_send(checked, Setting.RUNTIME)


def test_a_target_marked_as_reexecuted_is_judged_after_its_first_run(
    tmp_path: Path,
) -> None:
    """The mark and its meaning are JunoBench's: the study's runner has such a target among the executed cells, too."""
    path = tmp_path / "again.ipynb"
    cells = [
        nbformat.v4.new_code_cell(code)
        for code in (SETUP, "# [reexecute]\ntrips.pop('monday')")
    ]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    checked = read_notebook(path)
    for judged in (checked, run_up(checked)):
        said = verdict(judged)
        assert said.crashes and "KeyError" in str(said.reasoning)


@pytest.mark.parametrize(
    "metadata",
    [
        {"language_info": {"name": "R"}},
        {"kernelspec": {"name": "ir", "display_name": "R", "language": "R"}},
    ],
)
def test_a_notebook_in_another_language_is_refused(
    notebook: Path, metadata: dict[str, Any]
) -> None:
    book = nbformat.read(notebook, 4)
    book.metadata.update(metadata)
    nbformat.write(book, notebook)
    with pytest.raises(
        NotebookError,
        match=r"trip\.ipynb is a notebook in R, but only Python notebooks are supported",
    ):
        read_notebook(notebook)


def test_run_up_to_the_target_the_key_that_is_missing_is_told(
    notebook: Path,
) -> None:
    checked = run_up(read_notebook(notebook))
    assert (
        checked.state is not None
        and checked.seconds_before is not None
        and checked.seconds_before > 0
    )
    said = verdict(checked)
    assert said.crashes
    [finding, *_] = json.loads(said.diagnostics or "[]")
    assert finding["exception"] == "KeyError"
    assert "sunday" in finding["message"] + finding["fact"]
    assert finding["code_line"].startswith("1:")


def test_a_target_that_is_well_is_not_predicted_to_crash(
    notebook: Path,
) -> None:
    assert not verdict(run_up(read_notebook(notebook, 1))).crashes


def test_what_would_be_sent_is_exactly_the_prompt(notebook: Path) -> None:
    sent = to_send(run_up(read_notebook(notebook)), Setting.RUNTIME_PLUS)
    assert SETUP in sent.prompt.text and TARGET in sent.prompt.text
    assert sent.tokens.n > 100
    assert sent.template.startswith("predict-from-runtime-")


def captured(notebook: Path) -> dict[str, Any]:
    state = run_up(read_notebook(notebook)).state
    assert state is not None
    return {**state.to_json(), "target": 2}


def test_a_state_captured_elsewhere_stands_for_a_run(notebook: Path) -> None:
    document = json.loads(json.dumps(captured(notebook)))
    checked = with_state(read_notebook(notebook), document)
    assert verdict(checked).crashes
    assert checked.seconds_before == pytest.approx(
        sum(cell["seconds"] for cell in document["captured"]["cells"])
    )


def test_a_state_of_another_target_is_refused(notebook: Path) -> None:
    document = captured(notebook)
    with pytest.raises(NotebookError, match="another target"):
        with_state(read_notebook(notebook, 1), document)
    with pytest.raises(NotebookError, match="not a state"):
        with_state(read_notebook(notebook), {"target": 2})


@pytest.mark.parametrize(
    ("value", "allowed", "forbidden"),
    [
        ("1", True, False),
        ("Yes", True, False),
        ("0", False, True),
        ("off", False, True),
        ("", False, False),
    ],
)
def test_who_may_run_notebooks(
    value: str,
    allowed: bool,  # noqa: FBT001
    forbidden: bool,  # noqa: FBT001
) -> None:
    environment = {"CRANE_ALLOW_EXECUTION": value}
    assert (
        execution_allowed(environment),
        execution_forbidden(environment),
    ) == (
        allowed,
        forbidden,
    )
    assert not execution_allowed({}) and not execution_forbidden({})
