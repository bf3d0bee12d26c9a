"""What each library's file says of operations, beside the other files and what reads them."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from crane_core.runtime.kernel_side.crane_surrogates import asked, operations

FOLDER = Path(asked.__file__).parent
CORE = next(parent for parent in FOLDER.parents if parent.name == "crane_core")
FILES = {
    path.stem.removeprefix("of_"): path
    for path in sorted(FOLDER.glob("of_*.py"))
}
READ = set(
    re.findall(
        r'\basked\.\w+\("(\w+)"\)', Path(operations.__file__).read_text("utf-8")
    )
)
"""Names that operations.py looks for in every file."""
SIDE = FOLDER.parents[1]
STARTED = """
import sys, types
sys.modules["side"] = types.ModuleType("side")
sys.modules["side"].__path__ = [sys.argv[1]]
from side.crane_surrogates import operations
print(operations.CALLS["example"], "example" in operations.BOUND, operations.METHODS["example.Thing"])
print(operations.UNLESS_MENTIONED["example"], "example" in operations.LAZY)
"""
EXAMPLE = """
from .places import FIRST, NONE, listed

CALLS = listed((FIRST, "doubled"))
METHODS = {"example.Thing": listed((NONE, "size"))}
UNLESS_MENTIONED = ("patched",)
IS_LAZY = False
"""


def constants(path: Path) -> set[str]:
    """Public names that a file assigns."""
    body = ast.parse(path.read_text("utf-8")).body
    targets = [
        target
        for node in body
        if isinstance(node, ast.Assign)
        for target in node.targets
    ]
    return {
        each.id
        for each in targets
        if isinstance(each, ast.Name) and not each.id.startswith("_")
    }


def test_every_file_is_found() -> None:
    assert set(FILES) <= asked.PACKAGES


def test_a_new_library_is_one_file(tmp_path: Path) -> None:
    side = shutil.copytree(
        SIDE, tmp_path / "side", ignore=shutil.ignore_patterns("__pycache__")
    )
    (side / "crane_surrogates" / "asked" / "of_example.py").write_text(EXAMPLE)
    command = [sys.executable, "-I", "-c", STARTED, str(side)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "{'doubled': range(0, 1)} True {'size': ()}",
        "('patched',) False",
    ]


def test_the_names_that_a_file_may_hold_are_documented() -> None:
    assert (
        set(re.findall(r"^    ([A-Z_]+)  ", asked.__doc__ or "", re.MULTILINE))
        == READ
    )


@pytest.mark.parametrize("package", FILES)
def test_every_name_of_a_file_is_read(package: str) -> None:
    """A misspelt table would be left out without a word."""
    read_alone = {name for of, name in names_read() if of == package}
    assert constants(FILES[package]) - READ - read_alone == set()


@cache
def names_read() -> frozenset[tuple[str, str]]:
    """Each library's file and a name of it, wherever the program reads one."""
    texts = [path.read_text("utf-8") for path in CORE.rglob("*.py")]
    return frozenset(
        found
        for text in texts
        for found in re.findall(r"\bof_(\w+)\.([A-Z_]+)\b", text)
    )


@pytest.mark.parametrize("table", ["METHODS", "BY_VALUES"])
def test_a_file_speaks_of_its_own_package(table: str) -> None:
    for package, held in asked.by_package(table).items():
        assert {name.partition(".")[0] for name in held} == {package}


@pytest.mark.parametrize(
    "table", sorted(READ - {"CALLS", "METHODS", "BY_VALUES", "OF_VERSION"})
)
def test_no_list_is_a_single_string(table: str) -> None:
    """Its letters would be taken for names, and found everywhere."""
    assert [
        package
        for package, held in asked.by_package(table).items()
        if isinstance(held, str)
    ] == []


def test_what_is_never_asked_is_not_listed() -> None:
    listed = {
        name
        for names in (*operations.CALLS.values(), *operations.METHODS.values())
        for name in names
    }
    assert {
        name for name in listed if name.rpartition(".")[2] in operations.NEVER
    } == set()


@pytest.mark.parametrize("package", sorted(asked.by_package("BY_VALUES")))
def test_what_depends_on_values_is_listed_too(package: str) -> None:
    """But "", which is any step on an object."""
    methods = [
        held
        for kind, held in operations.METHODS.items()
        if kind.partition(".")[0] == package
    ]
    listed = {
        name
        for names in (operations.CALLS[package], *methods)
        for name in names
    }
    depending = {
        name
        for names in asked.by_package("BY_VALUES")[package].values()
        for name in names
    }
    assert depending - listed == {""} & depending
