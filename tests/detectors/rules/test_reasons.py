"""What rules say is filled in: a field in braces that no f-string fills would be shown as it is written."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from crane_core.detectors.rules import families

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
