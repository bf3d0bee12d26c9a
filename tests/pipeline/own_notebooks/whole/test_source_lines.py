"""Lines of the file in which cells begin: right for files of Jupyter, silent for another layout."""

from __future__ import annotations

import json
from typing import Any

import nbformat
import pytest

from crane_core.notebooks import read_code_cells
from crane_core.pipeline.own_notebooks.whole.check_whole import cell_lines

SOURCES = ["lane = 1\nlane", "", "print('\u00e9 \"lane\"')", "x"]


def written(indent: int | None, **more: Any) -> bytes:
    cells = [nbformat.v4.new_code_cell(source) for source in SOURCES]
    # An output that looks like a cell lies deeper in the file.
    cells[0].outputs = [
        nbformat.v4.new_output(
            "display_data",
            {"application/json": {"cell_type": "code", "source": ["a"]}},
        )
    ]
    cells.insert(1, nbformat.v4.new_markdown_cell("# Lanes\ntext"))
    book = nbformat.v4.new_notebook(cells=cells)
    lines = json.loads(nbformat.writes(book))
    return json.dumps(lines, indent=indent, **more).encode()


def found(data: bytes) -> tuple[range, ...]:
    return cell_lines(data, [cell.source for cell in read_code_cells(data)])


@pytest.mark.parametrize("indent", [1, 2, 4])
@pytest.mark.parametrize(
    "more", [{}, {"sort_keys": True}, {"ensure_ascii": False}]
)
def test_each_source_is_found_whatever_the_order_of_members(
    indent: int, more: dict[str, Any]
) -> None:
    data = written(indent, **more)
    lines = data.decode().split("\n")
    told = found(data)
    assert [len(place) for place in told] == [2, 1, 1, 1]
    assert json.loads(lines[told[0][1] - 1]) == "lane"
    assert json.loads(lines[told[3][0] - 1]) == "x"


def test_another_layout_has_no_lines() -> None:
    assert found(written(None)) == ()
    assert cell_lines(b"{}", SOURCES) == ()


def test_a_source_that_is_one_string_has_one_line() -> None:
    cell = {"cell_type": "code", "source": "a = 1\na"}
    data = json.dumps({"cells": [cell]}, indent=1).encode()
    assert found(data) == (range(5, 6),)
