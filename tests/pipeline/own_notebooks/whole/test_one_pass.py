"""A notebook checked from its code: each cell is interpreted once, and the answers are those of cell by cell."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import pytest

from crane_core.detectors.rules.executed_cells import ExecutedCells
from crane_core.pipeline.own_notebooks.whole import check_whole as module
from crane_core.pipeline.own_notebooks.whole.check_whole import (
    WholeOptions,
    check_whole,
)
from tests.written_pairs import write_notebook

ROOT = Path(__file__).resolve().parents[4]
MINIBENCH = sorted(ROOT.glob("data/minibench/benchmark/*/*.ipynb"))
CODE_ALONE = WholeOptions(runs=False)
# What targets and later cells change or share: aliases, closures, classes, loops, `del`, unreadable cells.
FORMS = (
    "rows{n} = [{n}, {n} + 1]\nalias{n} = rows{n}",
    "alias{n}.append([rows{n}])\nrows{n}[2][0].append(3)",
    "def made{n}(start=rows{n}):\n    kept = {{'first': start}}\n    return lambda: kept",
    "read{n} = made{n}()\nread{n}()['first'].clear()",
    "class Bed{n}:\n    size = {n}\n    def __init__(self):\n        self.rows = rows{n}\nbed{n} = Bed{n}()",
    "for row in range(3):\n    bed{n}.rows.append(row)\nbed{n}.rows[40]",
    "if rows{n}:\n    late{n} = 1\nelse:\n    del alias{n}",
    "late{n} + missing{n}",
    "rows{n} = rows{n} + 'text'",
    "%time total{n} = sum(rows{n})",
    "import numpy as np\ngrid{n} = np.zeros((2, {n} + 1))",
    "grid{n}[5]\ngrid{n} @ np.ones((9, 9))",
)


def apart_and_together(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[object, object]:
    together = check_whole(path, CODE_ALONE).to_json()
    with monkeypatch.context() as patch:
        patch.setattr(module, "one_notebook", nullcontext)
        return check_whole(path, CODE_ALONE).to_json(), together


def generated(folder: Path, n_rounds: int) -> Path:
    cells = [form.format(n=n) for n in range(n_rounds) for form in FORMS]
    return write_notebook(folder / "long.ipynb", cells)


def test_a_long_notebook_has_the_answers_of_its_cells_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = generated(tmp_path, 2)
    apart, together = apart_and_together(path, monkeypatch)
    assert together == apart
    # Where nothing is found, nothing is compared.
    assert len(check_whole(path, CODE_ALONE).problems) > 3


@pytest.mark.slow
@pytest.mark.parametrize("path", MINIBENCH, ids=lambda path: path.stem)
def test_minibench_has_the_answers_of_its_cells_one_by_one(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    apart, together = apart_and_together(path, monkeypatch)
    assert together == apart


def test_each_cell_is_interpreted_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run: list[int] = []
    really = ExecutedCells._run_cell

    def counted(self: ExecutedCells, prefix: object, position: int) -> None:
        run.append(position)
        really(self, prefix, position)  # type: ignore[arg-type]

    monkeypatch.setattr(ExecutedCells, "_run_cell", counted)
    cells = [f"a{n} = {n}" for n in range(20)]
    path = write_notebook(tmp_path / "twenty.ipynb", cells)
    check_whole(path, CODE_ALONE)
    assert run == list(range(19))
    run.clear()
    monkeypatch.setattr(module, "one_notebook", nullcontext)
    check_whole(path, CODE_ALONE)
    assert len(run) == 190
