"""A notebook becomes a prompt: its cells run in a real kernel, and what they leave is shown as the setting says."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from crane_core.domain import Setting
from crane_core.errors import KernelError, NotebookError
from crane_core.pipeline.own_notebooks.prompt_of_notebook import prompt_of_notebook
from crane_core.prompts.published import split_input
from crane_core.prompts.template import PLACEHOLDER, Template

WriteNotebook = Callable[..., Path]
BARE = Template("bare", PLACEHOLDER)
CELLS = ("import pandas as pd", "df = pd.DataFrame({'a': [1, 2], 'b': ['x', None]})", "df['c'].sum() + missing")


def block(body: str) -> dict[str, Any]:
    shown: dict[str, Any] = json.loads(str(split_input(body).block))
    return shown


def test_a_notebook_is_run_up_to_its_target_and_shown_in_two_settings(notebook: WriteNotebook) -> None:
    path = notebook("trip", *CELLS, crash=2)
    plain = prompt_of_notebook(path, Setting.RUNTIME, BARE)
    parts = split_input(plain.body)
    assert (parts.executed, parts.target) == (CELLS[:2], CELLS[2])
    assert plain.prompt.text == plain.body
    frame = block(plain.body)["variables"]["df"]
    assert frame["assigned"] == "cell 2, line 1"
    assert frame["structure"]["shape"] == [2, 2]
    assert "absent" not in block(plain.body)
    plus = block(prompt_of_notebook(path, Setting.RUNTIME_PLUS, BARE).body)
    assert [fact["column"] for fact in plus["absent"]["columns"]] == ["c"]
    assert [fact["name"] for fact in plus["absent"]["names"]] == ["missing"]


def test_leaving_a_category_out_keeps_the_rest_to_the_byte(notebook: WriteNotebook) -> None:
    path = notebook("trip", *CELLS, crash=2)
    whole = prompt_of_notebook(path, Setting.RUNTIME, BARE).body.splitlines()
    without = prompt_of_notebook(path, Setting.RUNTIME_WITHOUT_S, BARE).body.splitlines()
    assert [line for line in whole if not line.startswith(' "structure"')] == without
    assert len(without) < len(whole)


def test_the_prompt_of_a_notebook_is_the_same_again(notebook: WriteNotebook) -> None:
    path = notebook("trip", *CELLS, crash=2)
    first, second = (prompt_of_notebook(path, Setting.RUNTIME_PLUS).prompt for _ in range(2))
    assert first == second


def test_code_alone_starts_no_kernel(notebook: WriteNotebook) -> None:
    path = notebook("trip", "raise SystemExit", "while True: pass", "x")
    written = prompt_of_notebook(path, Setting.CODE, BARE, python="/there/is/no/python")
    assert split_input(written.body).executed == ("raise SystemExit", "while True: pass")


def test_another_target_may_be_named(notebook: WriteNotebook) -> None:
    path = notebook("trip", *CELLS, crash=2)
    assert split_input(prompt_of_notebook(path, Setting.RUNTIME, BARE, target=1).body).target == CELLS[1]
    with pytest.raises(NotebookError, match="no code cell 9"):
        prompt_of_notebook(path, Setting.CODE, target=9)


def test_a_cell_that_raises_before_the_target_is_told(notebook: WriteNotebook) -> None:
    with pytest.raises(KernelError, match="ZeroDivisionError"):
        prompt_of_notebook(notebook("trip", "1 / 0", "x"), Setting.RUNTIME)


def test_what_only_functions_need_is_shown_in_runtime_plus_alone(notebook: WriteNotebook) -> None:
    setup = "import numpy as np\nrows = np.zeros((2, 3))\nlimit = 3\nslow = [[1]]\n"
    check = "def check(part):\n    return part.size < limit, rows.shape, rows.dtype, slow.nothing\n"
    path = notebook("inner", setup + check, "check(rows); rows.shape", crash=1)
    plain = (Setting.RUNTIME, Setting.RUNTIME_WITHOUT_S, Setting.RUNTIME_WITHOUT_R, Setting.RUNTIME_WITHOUT_V)
    for setting in (*plain, Setting.RUNTIME_DOCS):
        seen = block(prompt_of_notebook(path, setting, BARE).body)
        assert (list(seen["variables"]), list(seen["accesses"])) == (["check", "rows"], ["rows.shape"])
    plus = block(prompt_of_notebook(path, Setting.RUNTIME_PLUS, BARE).body)
    assert list(plus["variables"]) == ["check", "limit", "rows", "slow"]
    assert plus["variables"]["limit"]["used by"] == "check"
    assert plus["variables"]["limit"]["values"] == {"value": 3}
    assert "used by" not in plus["variables"]["rows"]
    assert plus["accesses"]["rows.dtype"]["used by"] == "check"
    assert "used by" not in plus["accesses"]["rows.shape"]
