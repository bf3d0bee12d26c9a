"""The pages about statistics: every example is recomputed, and no statistic lacks a page."""

from __future__ import annotations

import ast
import doctest
import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs" / "researcher" / "statistics"
NAMES = sorted(
    path.name for path in PAGES.glob("*.md") if path.name != "index.md"
)
PARTS = ("Formula", "Source", "Assumes", "Example", "Computed by")


def examples(text: str) -> str:
    """The Python of a page. A fence would read as output, so it becomes an empty line."""
    return re.sub(r"^```.*$", "", text, flags=re.MULTILINE)


def run(name: str, text: str) -> tuple[doctest.TestResults, str]:
    test = doctest.DocTestParser().get_doctest(
        examples(text), {}, name, name, 0
    )
    told: list[str] = []
    result = doctest.DocTestRunner(verbose=False).run(test, out=told.append)
    return result, "".join(told)


def public_names() -> set[str]:
    """Functions of `crane_core.stats` that other files may call, and the coefficients, which are constants."""
    found = set()
    for path in (ROOT / "crane_core" / "stats").glob("*.py"):
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith(
                "_"
            ):
                found.add(f"crane_core.stats.{path.stem}.{node.name}")
            elif isinstance(node, ast.Assign) and isinstance(
                node.value, ast.Call
            ):
                maker = ast.unparse(node.value.func)
                if maker in ("Statistic", "_weighted"):
                    found |= {
                        f"crane_core.stats.{path.stem}.{ast.unparse(target)}"
                        for target in node.targets
                    }
    return found


@pytest.mark.parametrize("name", NAMES)
def test_examples_of_a_page_have_the_results_that_it_shows(name: str) -> None:
    result, told = run(name, (PAGES / name).read_text("utf-8"))
    assert result.attempted > 1
    assert result.failed == 0, told


def test_a_wrong_result_on_a_page_is_found() -> None:
    session = ">>> from crane_core.stats.paired import mcnemar\n>>> mcnemar(0, 1)\n0.5\n"
    result, _ = run("wrong", f"```python\n{session}```\n")
    assert result.failed == 1


@pytest.mark.parametrize("name", NAMES)
def test_a_page_has_all_parts(name: str) -> None:
    text = (PAGES / name).read_text("utf-8")
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == list(PARTS)
    assert text.count("**Question.**") == 1


def test_every_statistic_has_a_page() -> None:
    told = set(
        re.findall(
            r"crane_core\.stats\.\w+\.\w+",
            "".join((PAGES / name).read_text("utf-8") for name in NAMES),
        )
    )
    assert len(public_names()) > 40
    assert public_names() - told == set()


@pytest.mark.parametrize("name", NAMES)
def test_what_a_page_names_exists(name: str) -> None:
    named = re.findall(
        r"`(crane_core\.stats\.\w+)\.(\w+)`", (PAGES / name).read_text("utf-8")
    )
    assert named
    assert [
        name
        for module, name in named
        if not hasattr(importlib.import_module(module), name)
    ] == []


def test_the_list_links_every_page() -> None:
    linked = re.findall(
        r"\]\(([\w-]+\.md)\)", (PAGES / "index.md").read_text("utf-8")
    )
    assert sorted(set(linked)) == NAMES
