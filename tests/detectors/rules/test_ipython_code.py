"""Cells with what IPython adds to Python: what is a magic, and what the lines after it tell."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from crane_core.detectors.rules.cell_code import MAGICS, read_cell
from crane_core.detectors.rules.predict import findings
from crane_core.domain import Cell, CellRole, Setting

ANYTHING, VALUE = "__crane_anything__", "__crane_value__"


def crash(*codes: str) -> str | None:
    """The exception that the code alone predicts of the last cell."""
    roles = [*[CellRole.EXECUTED] * (len(codes) - 1), CellRole.TARGET]
    cells = [
        Cell("own", "own", "own", at, role, code)
        for at, (code, role) in enumerate(zip(codes, roles, strict=True))
    ]
    report = findings(cells, None, Setting.CODE)
    assert report.errors == ()
    return report.findings[0].exception if report.findings else None


@pytest.mark.parametrize(
    "word", ["hist", "history", "time", "run", "load", "save", "store", "reset"]
)
def test_an_assignment_to_a_name_that_a_magic_has_is_python(word: str) -> None:
    assert (
        crash(f"rows = [1, 2]\n{word} = rows", f"{word}\nrows[2]")
        == "IndexError"
    )
    assert (
        crash("rows = [1, 2]", f"{word} = rows", f"{word}[2]") == "IndexError"
    )
    assert crash(f"{word} = 1\nabsent") == "NameError"
    assert crash("rows = 1", f"{word}\nrows") == "NameError"


def test_a_cell_of_one_line_runs_a_magic_unless_a_variable_has_its_name() -> (
    None
):
    assert (
        crash("rows = [1]", "ls -l", "pip install thing", "rows[1]")
        == "IndexError"
    )
    assert crash("hist") is None
    assert crash("rows = [1]", "reset -f", "rows[1]") is None
    assert (
        crash("reset, f = 3, 1", "rows = [1]", "reset -f", "rows[1]")
        == "IndexError"
    )
    assert crash("time row = [1]", "row[1]") == "IndexError"


def test_no_magic_without_a_mark_in_a_cell_of_several_lines() -> None:
    assert crash("pip install thing\nimport math") == "SyntaxError"


def test_lines_that_go_back_to_no_indent_are_no_python() -> None:
    """IPython's own reading of such a cell fails."""
    assert crash("for n in []:\n        n\n    n") == "IndentationError"
    assert crash("for n in []:\n        n\n    %time n") is None


def test_what_a_shell_command_gives_is_all_that_is_not_known() -> None:
    assert (
        crash(
            "rows = [1]\nfiles = !ls\nmore, = %sx ls", "files[7], more\nrows[1]"
        )
        == "IndexError"
    )
    assert crash("rows = [1]\n!ls", "rows[1]") == "IndexError"
    assert crash("files = [1]\nfiles = !ls", "files[5]") is None
    assert crash("rows = [1]\n%run other.py", "rows[1]") is None


def test_an_extension_may_bring_names_and_those_that_are_known_do_not() -> None:
    assert crash("rows = [1]", "%load_ext own_extension\nrows[1]") is None
    assert crash("rows = [1]", "%reload_ext own_extension\nrows[1]") is None
    assert crash("rows = [1]", "%load_ext autoreload\nrows[1]") == "IndexError"
    assert crash("rows = [1]", "%load_ext tensorboard\nrows[1]") == "IndexError"


@pytest.mark.parametrize("package", ["importlib", "imp"])
def test_behind_a_module_that_is_loaded_again_nothing_is_certain(
    package: str,
) -> None:
    cells = f"import {package}, numpy as np\nrows = [1]"
    assert crash(cells, "rows[1]") == "IndexError"
    assert crash(cells, f"{package}.reload(np)\nrows[1]") is None


def test_the_class_of_what_is_no_python_is_named() -> None:
    assert crash("x = = 1") == "SyntaxError"
    assert crash("if True:\nprint(1)") == "IndentationError"
    assert crash("if True:\n        a = 1\n\tb = 2") == "TabError"


def test_a_captured_output_has_the_name_that_was_asked_for() -> None:
    assert (
        crash("%%capture out\nrows = [1]", "out.show()\nrows[1]")
        == "IndexError"
    )


def test_what_is_timed_many_times_has_names_of_its_own() -> None:
    assert (
        crash(
            "rows = [1]\nother = [1]",
            "%%timeit\nrows = []",
            "rows[0]\nother[1]",
        )
        == "IndexError"
    )
    assert crash("rows = [1]", "%timeit rows.append(2)", "rows[5]") is None
    assert crash("rows = [1]", "%%timeit\nrows[1]") == "IndexError"


def test_a_cell_that_is_indented_as_a_whole_or_has_prompts_is_python() -> None:
    assert crash("  rows = [1]\n  rows") is None
    assert crash(">>> rows = [1]\n>>> rows[1]") == "IndexError"


@pytest.mark.parametrize(
    ("cell", "python", "lines"),
    [
        ("!pip install a \\\n  b\nrow = 1", "pass\nrow = 1", [1, 3]),
        ("\n\n%%time\nrow = 1\n\nrow", "row = 1\nrow", [4, 6]),
        ('text = """\n!ls\n"""\n!ls', "text = '\\n!ls\\n'\npass", [1, 4]),
        (
            "if rows:\n    !ls\n    %run b.py\nrow = 3",
            f"if rows:\n    pass\n    {ANYTHING}\nrow = 3",
            [1, 4],
        ),
        ("rows?\n?rows\nrows", "pass\npass\nrows", [1, 2, 3]),
        ("row = %time f()\nrow", "row = f()\nrow", [1, 2]),
        ("%%bash --out row\nls", ANYTHING, [1]),
        ("%%html\n<b>", "pass", [1]),
        (
            "get_ipython().run_line_magic('matplotlib', 'inline')\nrow",
            "pass\nrow",
            [1, 2],
        ),
        ("rows = !ls {row} \\\n  | wc\nrow", f"rows = {VALUE}\nrow", [1, 3]),
    ],
)
def test_the_lines_of_a_cell_stay_where_they_were(
    cell: str, python: str, lines: list[int]
) -> None:
    tree = read_cell(cell).tree
    assert (
        ast.unparse(tree),
        [statement.lineno for statement in tree.body],
    ) == (
        python,
        lines,
    )


def test_the_magics_are_those_of_the_kernel(tmp_path: Path) -> None:
    """Asked in its own process: a shell leaves traces in the one it is made in."""
    ask = "from ipykernel.zmqshell import ZMQInteractiveShell as S; print(*S().magics_manager.magics['line'])"
    environment = {**os.environ, "IPYTHONDIR": str(tmp_path)}
    known = subprocess.run(
        [sys.executable, "-c", ask],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "matplotlib" in known.stdout.split()
    assert {*known.stdout.split()} - MAGICS == set()
