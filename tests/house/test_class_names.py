"""No two classes have the same name, so that a name in a traceback, a search or a review means one thing."""

from __future__ import annotations

import ast
from collections import defaultdict

import pytest

from tests.house.test_architecture import ROOT


def places_of_classes(folder: str) -> dict[str, list[str]]:
    """Class name to the files and lines of a folder that define it."""
    found = defaultdict(list)
    for path in sorted((ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef):
                found[node.name].append(
                    f"{path.relative_to(ROOT)}:{node.lineno}"
                )
    return found


@pytest.mark.parametrize(
    ("folder", "fewest"),
    [("crane_core", 500), ("benchmarks", 30), ("tests", 80)],
)
def test_no_two_classes_share_a_name(folder: str, fewest: int) -> None:
    found = places_of_classes(folder)
    assert len(found) > fewest
    assert {
        name: places for name, places in found.items() if len(places) > 1
    } == {}
