"""Many targets of one notebook: what is kept of the cells before them changes no answer, in whatever order."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crane_core.detectors.rules import prefix
from crane_core.detectors.rules.predict import Report, findings
from crane_core.domain import Cell, CellRole, Setting
from crane_core.notebooks import read_code_cells
from tests.examples import examples

MINIBENCH = Path(__file__).resolve().parents[3] / "data" / "minibench"

CELLS = [
    "rows = [1, 2, 3]\nalias = rows",
    "alias.append(4)\nrows[3]",
    "rows.pop()\nrows[2]",
    "held = {'rows': rows, 'more': (rows, alias)}\nheld['rows'][0] = 'text'",
    "del rows",
    "def make():\n    count = [0]\n    def add():\n        count.append(1)\n        return count\n    return add\n"
    "add = make()",
    "counted = add()\ncounted[3]",
    "class Box:\n    size = 2\n    def __init__(self, rows):\n        self.rows = rows\n    def grow(self):\n"
    "        self.rows.append(0)\n        return self.absent\nbox = Box([1])",
    "box.rows.append(2)\nother = box\nother.size = 5",
    "box.grow()",
    "import numpy as np\ngrid = np.zeros((2, 3))\nview = grid.T",
    "grid = grid.reshape(3, 2)\ngrid @ view",
    "import pandas as pd\nframe = pd.DataFrame({'a': [1, 2], 'b': [3, 4]})\nsame = frame",
    "same['c'] = [5, 6]\nframe['c']",
    "frame = frame.drop(columns='a')\nframe['a']",
    "list = [1]",
    "list('ab')\nlen(3)",
    "from numpy import *",
    "exec('rows = 1')",
    "%matplotlib inline\nfiles = !ls",
    "%run other.py",
    "rows = = 1",
    "for at in range(3):\n    last = at\n    if last > 1:\n        rows = [last]",
    "maker = lambda given: [given, alias]\nmade = maker(1)\nmade[1].append(7)",
    "def swap():\n    global rows\n    rows = 'text'\nswap()",
    "rows + 1",
    "alias[9]",
    "grid[5]",
    "sum([1, 2]) + max(rows)",
    "absent",
]


def report(codes: Sequence[str], target: int) -> Report:
    roles = [*[CellRole.EXECUTED] * target, CellRole.TARGET]
    cells = [
        Cell("b", "x", "notebook", at, role, code)
        for at, (code, role) in enumerate(zip(codes, roles, strict=False))
    ]
    return findings(cells, None, Setting.CODE)


def assert_kept_is_anew(codes: Sequence[str], order: Sequence[int]) -> None:
    again = {}
    for target in order:
        prefix._kept_prefix.cache_clear()
        again[target] = report(codes, target)
    prefix._kept_prefix.cache_clear()
    assert {target: report(codes, target) for target in order} == again
    assert {
        target: report(codes, target) for target in reversed(order)
    } == again


@examples(60)
@given(
    st.lists(st.sampled_from(CELLS), min_size=2, max_size=8),
    st.randoms(use_true_random=False),
)
def test_any_order_of_targets_gives_what_each_alone_gives(
    codes: list[str], chance: random.Random
) -> None:
    order = list(range(len(codes)))
    chance.shuffle(order)
    assert_kept_is_anew(codes, order)


@pytest.mark.parametrize(
    "name", ["pandas", "numpy", "torch", "sklearn", "tensorflow", "matplotlib"]
)
def test_the_targets_of_a_notebook_give_what_each_alone_gives(
    name: str,
) -> None:
    path = sorted(MINIBENCH.glob(f"**/{name}_1*_reproduced.ipynb"))[0]
    codes = [cell.source for cell in read_code_cells(path.read_bytes())]
    assert_kept_is_anew(codes, range(len(codes)))


def test_one_target_changes_nothing_for_the_next() -> None:
    setup = [
        "rows = [1, 2]\nheld = [rows]\nimport pandas as pd\nframe = pd.DataFrame({'a': [1]})"
    ]
    change = report(
        [
            *setup,
            "rows.clear()\nheld[0].append('x')\nframe['b'] = 1\nframe.drop(columns='a', inplace=True)",
        ],
        1,
    )
    assert change.findings == ()
    assert (
        report([*setup, "rows[1]\nframe['a']\nrows[2]"], 1)
        .findings[0]
        .expression
        == "rows[2]"
    )
