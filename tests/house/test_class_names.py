"""No two classes have the same name, so that a name in a traceback, a search or a review means one thing."""

from __future__ import annotations

import ast
from collections import defaultdict

from tests.house.test_architecture import ROOT


def places_of_classes() -> dict[str, list[str]]:
    """Class name to the files and lines of `crane_core` that define it."""
    found = defaultdict(list)
    for path in sorted((ROOT / "crane_core").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef):
                found[node.name].append(f"{path.relative_to(ROOT)}:{node.lineno}")
    return found


def test_no_two_classes_share_a_name() -> None:
    found = places_of_classes()
    assert len(found) > 500
    assert {name: places for name, places in found.items() if len(places) > 1} == {}
