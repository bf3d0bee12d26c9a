"""What rules say is filled in: a field in braces that no f-string fills would be shown as it is written."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from crane_core.detectors.rules import families

from .conftest import Predict

FILES = sorted(Path(next(iter(families.__path__))).glob("*.py"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_no_text_holds_a_field_that_nothing_fills(file: Path) -> None:
    nodes = list(ast.walk(ast.parse(file.read_text("utf-8"))))
    filled = {
        id(part)
        for node in nodes
        if isinstance(node, ast.JoinedStr)
        for part in ast.walk(node)
    }
    texts = [
        node.value
        for node in nodes
        if isinstance(node, ast.Constant) and id(node) not in filled
    ]
    assert [
        text
        for text in texts
        if isinstance(text, str) and re.search(r"\{[a-z_]+\.[a-z_]+\}", text)
    ] == []


def test_the_reason_of_a_read_only_array_is_numpys_own_message(
    check: Predict,
) -> None:
    seen = check(
        "import numpy as np\nwide = np.broadcast_to(0.0, 3)", "wide[:] = 1"
    )
    assert seen.findings[0].why == str(seen.error)


def test_of_a_label_that_is_not_there_another_is_advised(
    check: Predict,
) -> None:
    table = "pd.DataFrame({'k': list('abab'), 'v': [1., 2., 3., 4.]})"
    setup = f"import pandas as pd\nmeans = {table}.groupby('k').v.mean()"
    assert "label" in check(setup, "means['v'].round(1)").findings[0].remedy
