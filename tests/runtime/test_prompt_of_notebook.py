"""A notebook becomes a prompt: its cells run in a real kernel, and what they leave is shown as the setting says."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from crane_core.domain import Setting
from crane_core.errors import KernelError, NotebookError
from crane_core.pipeline.own_notebooks.prompt_of_notebook import (
    WrittenPrompt,
    captured_state,
    planned_cells,
    prompt_of_notebook,
    written,
)
from crane_core.prompts.published import split_input
from crane_core.prompts.template import PLACEHOLDER, Template
from crane_core.runtime.capture import capture
from crane_core.runtime.plan import read_plan

from .conftest import WriteNotebook, write_notebook

BARE = Template("bare", PLACEHOLDER)
CELLS = (
    "import pandas as pd",
    "df = pd.DataFrame({'a': [1, 2], 'b': ['x', None]})",
    "df['c'].sum() + missing",
)


INNER = (
    "import numpy as np\nrows = np.zeros((2, 3))\nlimit = 3\nslow = [[1]]\n"
    "def check(part):\n    return part.size < limit, rows.shape, rows.dtype, slow.nothing\n",
    "check(rows); rows.shape",
)
Write = Callable[..., WrittenPrompt]


def writer(path: Path) -> Write:
    """Prompts of one notebook, whose cells run once for all settings."""
    plan = read_plan(path, None)
    state = captured_state(capture(path).to_json(), path.stem)
    return lambda setting, template=BARE: written(
        planned_cells(plan, path.stem), state, setting, template
    )


@pytest.fixture(scope="module")
def trip(tmp_path_factory: pytest.TempPathFactory) -> Write:
    return writer(
        write_notebook(tmp_path_factory.mktemp("trip"), "trip", *CELLS, crash=2)
    )


def block(body: str) -> dict[str, Any]:
    shown: dict[str, Any] = json.loads(str(split_input(body).block))
    return shown


def test_a_notebook_is_run_up_to_its_target_and_shown_in_two_settings(
    notebook: WriteNotebook, trip: Write
) -> None:
    plain = prompt_of_notebook(
        notebook("trip", *CELLS, crash=2), Setting.RUNTIME, BARE
    )
    parts = split_input(plain.body)
    assert (parts.executed, parts.target) == (CELLS[:2], CELLS[2])
    assert plain.prompt.text == plain.body
    frame = block(plain.body)["variables"]["df"]
    assert frame["assigned"] == "cell 2, line 1"
    assert frame["structure"]["shape"] == [2, 2]
    assert "absent" not in block(plain.body)
    plus = block(trip(Setting.RUNTIME_PLUS).body)
    assert [fact["column"] for fact in plus["absent"]["columns"]] == ["c"]
    assert [fact["name"] for fact in plus["absent"]["names"]] == ["missing"]


def test_leaving_a_category_out_keeps_the_rest_to_the_byte(trip: Write) -> None:
    whole = trip(Setting.RUNTIME).body.splitlines()
    without = trip(Setting.RUNTIME_WITHOUT_S).body.splitlines()
    assert [
        line for line in whole if not line.startswith(' "structure"')
    ] == without
    assert len(without) < len(whole)


@pytest.mark.slow
def test_the_prompt_of_a_notebook_is_the_same_again(
    notebook: WriteNotebook, trip: Write
) -> None:
    again = prompt_of_notebook(
        notebook("trip", *CELLS, crash=2), Setting.RUNTIME_PLUS
    )
    assert again.prompt == trip(Setting.RUNTIME_PLUS, None).prompt


def test_code_alone_starts_no_kernel(notebook: WriteNotebook) -> None:
    path = notebook("trip", "raise SystemExit", "while True: pass", "x")
    written = prompt_of_notebook(
        path, Setting.CODE, BARE, python="/there/is/no/python"
    )
    assert split_input(written.body).executed == (
        "raise SystemExit",
        "while True: pass",
    )


@pytest.mark.slow
def test_another_target_may_be_named(notebook: WriteNotebook) -> None:
    path = notebook("trip", *CELLS, crash=2)
    assert (
        split_input(
            prompt_of_notebook(path, Setting.RUNTIME, BARE, target=1).body
        ).target
        == CELLS[1]
    )
    with pytest.raises(NotebookError, match="no code cell 9"):
        prompt_of_notebook(path, Setting.CODE, target=9)


@pytest.mark.slow
def test_a_cell_that_raises_before_the_target_is_told(
    notebook: WriteNotebook,
) -> None:
    with pytest.raises(KernelError, match="ZeroDivisionError"):
        prompt_of_notebook(notebook("trip", "1 / 0", "x"), Setting.RUNTIME)


def test_what_only_functions_need_is_shown_in_runtime_plus_alone(
    notebook: WriteNotebook,
) -> None:
    write = writer(notebook("inner", *INNER, crash=1))
    plain = (
        Setting.RUNTIME,
        Setting.RUNTIME_WITHOUT_S,
        Setting.RUNTIME_WITHOUT_R,
        Setting.RUNTIME_WITHOUT_V,
    )
    for setting in (*plain, Setting.RUNTIME_DOCS):
        seen = block(write(setting).body)
        assert (list(seen["variables"]), list(seen["accesses"])) == (
            ["check", "rows"],
            ["rows.shape"],
        )
    plus = block(write(Setting.RUNTIME_PLUS).body)
    assert list(plus["variables"]) == ["check", "limit", "rows", "slow"]
    assert plus["variables"]["limit"]["used by"] == "check"
    assert plus["variables"]["limit"]["values"] == {"value": 3}
    assert "used by" not in plus["variables"]["rows"]
    assert plus["accesses"]["rows.dtype"]["used by"] == "check"
    assert "used by" not in plus["accesses"]["rows.shape"]
