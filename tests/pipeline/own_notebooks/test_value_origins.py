"""The cell of origin beside the evidence: the last assignment, later changes, cells that were not run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import nbformat
import pytest

from crane_core.pipeline.own_notebooks.check import (
    findings,
    read_notebook,
    verdict,
)
from crane_core.pipeline.own_notebooks.value_origins import with_origins

CHANGED = (
    "beds = {}",
    "beds = {'north': 3}",
    "beds['west'] = 1\ncount = len(beds)",
    "beds.pop('west')",
    "beds['south']",
)


@pytest.mark.parametrize(
    ("cells", "target", "origin"),
    [
        (
            CHANGED,
            4,
            "beds was assigned in code cell 1, changed in code cell 2, code cell 3",
        ),
        (
            ("a = 1", "missing + a", "missing = 2"),
            1,
            "missing is assigned in code cell 2, not run before this cell",
        ),
        (("a = 1", "missing"), 1, ""),
        (
            ("files = !ls\nbeds = {'north': 3}", "beds['south']"),
            1,
            "beds was assigned in code cell 0",
        ),
        (
            ("beds = {'north': 3}", "other['x'] = beds", "beds['south']"),
            2,
            "beds was assigned in code cell 0",
        ),
    ],
)
def test_the_cell_that_a_value_comes_from_is_named(
    cells: Sequence[str], target: int, origin: str, tmp_path: Path
) -> None:
    path = tmp_path / "ward.ipynb"
    nbformat.write(
        nbformat.v4.new_notebook(
            cells=[nbformat.v4.new_code_cell(code) for code in cells]
        ),
        path,
    )
    checked = read_notebook(path, target)
    said = with_origins(findings(verdict(checked)), checked, is_live=False)
    assert [finding["origin"] for finding in said][:1] == (
        [origin] if said else []
    )
    assert said
