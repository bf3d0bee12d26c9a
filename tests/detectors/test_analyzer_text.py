"""The file that a static analyzer reads: the study's layout, line by line, as Python."""

from __future__ import annotations

import ast

import pytest

from crane_core.detectors.analyzer_text import (
    LARGEST_CHARACTERS,
    analyzer_text,
    cells_in_order,
)
from tests.detectors.asked import cells


def test_layout_without_types() -> None:
    text = analyzer_text(["import os", "a = 1"], "print(a)", None)
    assert text.code == (
        "# Executed Cells:\n## Cell 1:\nimport os\n\n## Cell 2:\na = 1\n\n# Target Cell:\nprint(a)\n"
    )
    assert text.target_line == 9
    assert text.code_line(9) == "9: print(a)"


def test_layout_with_types() -> None:
    text = analyzer_text(["a = 1"], "print(a)", ["a: int"])
    assert (
        text.code
        == "# Executed Cells:\n## Cell 1:\na = 1\n\n# Annotated Target Code:\na: int\n\nprint(a)\n"
    )
    assert text.code_line(text.target_line) == "8: print(a)"


def test_nothing_executed_is_a_comment() -> None:
    text = analyzer_text([], "print(a)", None)
    assert (
        text.code
        == "# Executed Cells:\n# No cell has been executed\n# Target Cell:\nprint(a)\n"
    )


@pytest.mark.parametrize(
    ("cell", "python"),
    [
        ("%matplotlib inline", "pass  # %matplotlib inline"),
        ("if a:\n    !ls", "if a:\n    pass  # !ls"),
        ("files = !ls", 'files = eval("None")  # files = !ls'),
        ("df.head?", "pass  # df.head?"),
        ("%time b = a", "b = a  # %time b = a"),
        ("%%bash\nrm -r x", "# %%bash\n# rm -r x"),
        ("c = (a\n % b)", "c = (a\n % b)"),
        ("x = 1 # pylint: disable=all", "x = 1 # pylint; disable=all"),
        ("# pyright : basic", "# pyright ; basic"),
        ("x = 1  # type: ignore", "x = 1  # type; ignore"),
        ("x = []  # type: list[int]", "x = []  # type: list[int]"),
        ("pylint: int = 1", "pylint: int = 1"),
    ],
)
def test_what_is_not_for_an_analyzer_is_taken_out_and_shown_as_it_was(
    cell: str, python: str
) -> None:
    text = analyzer_text([], cell, None)
    ast.parse(text.code)
    assert text.code.split("\n")[3:-1] == python.split("\n")
    assert list(text.shown[3:]) == cell.split("\n")


def test_lines_are_those_that_every_tool_counts() -> None:
    text = analyzer_text(["a = 1\r\nb = 2\rc = 3"], "print('\ud800')", None)
    assert text.code_line(4) == "4: b = 2"
    assert text.code_line(text.target_line) == "8: print('?')"
    assert text.code_line(99) == "99: "


def test_cells_come_in_order_of_execution() -> None:
    assert cells_in_order(list(reversed(cells("a", "b", "c")))) == (
        ("a", "b"),
        "c",
    )


def test_without_a_target_there_is_no_text() -> None:
    with pytest.raises(ValueError, match="one target cell"):
        cells_in_order(cells("a", "b")[:1])


def test_more_than_an_analyzer_should_read_is_refused() -> None:
    with pytest.raises(ValueError, match="characters"):
        analyzer_text(["a" * LARGEST_CHARACTERS], "b", None)
