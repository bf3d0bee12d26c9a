"""The suite in an environment without the optional libraries: every file of it is collected there, and asks by name."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import sysconfig
from importlib.metadata import distribution, packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.optional import LIBRARIES

ROOT = Path(__file__).resolve().parents[1]
IMPORT_NAMES = {"crowd-kit": "crowdkit", "tensorflow-cpu": "tensorflow"}
"""Distributions that are imported by another name."""
TESTS = [
    path
    for kind in ("test_*.py", "conftest.py")
    for path in sorted((ROOT / "tests").rglob(kind))
]


def pinned(name: str) -> set[str]:
    lines = (ROOT / name).read_text("utf-8").splitlines()
    needed = [
        line.partition("#")[0].strip()
        for line in lines
        if not line.startswith("-")
    ]
    return {Requirement(line).name for line in needed if line}


def test_the_optional_libraries_are_those_that_make_ml_adds() -> None:
    added = pinned("requirements-ml.in") - pinned("requirements-dev.in")
    assert {IMPORT_NAMES.get(name, name) for name in added} | {"keras"} == set(
        LIBRARIES
    )


@pytest.fixture(scope="module")
def bare_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment that has everything of this one but the optional libraries."""
    installed = packages_distributions()
    hidden = sorted(
        {name for library in LIBRARIES for name in installed.get(library, [])}
    )
    if not hidden:
        pytest.skip(
            "none of the optional libraries is installed: this run is the test"
        )
    environment = tmp_path_factory.mktemp("bare") / "venv"
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", environment], check=True
    )
    here = Path(sysconfig.get_path("purelib"))
    paths = sysconfig.get_paths(
        vars={"base": str(environment), "platbase": str(environment)}
    )
    tops = {
        str(file).split("/")[0]
        for name in hidden
        for file in distribution(name).files or ()
    }
    for entry in here.iterdir():
        if entry.name not in tops:
            (Path(paths["purelib"]) / entry.name).symlink_to(entry)
    return Path(paths["scripts"]) / "python"


def test_no_file_of_tests_imports_an_optional_library_when_it_is_collected() -> (
    None
):
    """By their text: imports outside functions and `importorskip`, which imports to learn what is there."""
    importing = {
        str(path.relative_to(ROOT))
        for path in TESTS
        if at_its_top(path) & set(LIBRARIES)
    }
    assert importing == set()


def at_its_top(path: Path) -> set[str]:
    """Packages that a file imports when it is loaded, be it to learn whether they are there."""
    waiting: list[ast.AST] = [ast.parse(path.read_text("utf-8"))]
    found: set[str] = set()
    while waiting:
        node = waiting.pop()
        if isinstance(
            node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
        ):
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        if isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.partition(".")[0])
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(
            ("importorskip", "import_module")
        ):
            found |= {
                part.value.partition(".")[0]
                for part in node.args
                if isinstance(part, ast.Constant)
            }
        waiting += ast.iter_child_nodes(node)
    return found


@pytest.mark.slow
def test_collecting_every_test_imports_no_optional_library() -> None:
    """Whatever imports it: another module of ours, a parameter, what pytest asks of each name."""
    program = (
        "import sys, pytest; done = pytest.main(['--collect-only', '-qq', '-p', 'no:cacheprovider', '-p', 'no:xdist']);"
        f"print('LOADED', [name for name in {LIBRARIES} if name in sys.modules]); sys.exit(done)"
    )
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("PYTEST_")
    }
    command = [sys.executable, "-c", program]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4_000:]
    assert "LOADED []" in done.stdout.splitlines()


@pytest.mark.corpus
def test_every_test_is_collected_without_the_optional_libraries(
    bare_python: Path,
) -> None:
    program = f"from importlib.util import find_spec; print([n for n in {LIBRARIES} if find_spec(n)])"
    seen = subprocess.run(
        [bare_python, "-c", program], capture_output=True, text=True, check=True
    )
    assert seen.stdout == "[]\n"
    command = [
        bare_python,
        "-m",
        "pytest",
        "--collect-only",
        "-qq",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
    ]
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("PYTEST_")
    }
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4_000:]
    reasons = set(re.findall(r"Skipped: (.*)", done.stdout))
    assert {
        reason
        for reason in reasons
        if not re.fullmatch(r"\w+ is not installed: make ml", reason)
    } == set()
