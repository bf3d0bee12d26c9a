"""Cells that another program wrote in another language are told apart from Python, and never run as such."""

from __future__ import annotations

import json
from typing import Any

import pytest

from crane_core.notebooks import (
    CodeCell,
    executed_before,
    read_code_cells,
    target_index,
)

DATABRICKS = {"application/vnd.databricks.v1+notebook": {"language": "python"}}


def cells(
    *sources: str, of_cell: Any = None, of_notebook: Any = None
) -> list[CodeCell]:
    document = {
        "nbformat": 4,
        "metadata": of_notebook or {},
        "cells": [
            {"cell_type": "code", "source": source, "metadata": of_cell or {}}
            for source in sources
        ],
    }
    return read_code_cells(json.dumps(document).encode())


@pytest.mark.parametrize(
    ("of_cell", "language"),
    [
        ({"vscode": {"languageId": "sql"}}, "SQL"),
        ({"vscode": {"languageId": "shellscript"}}, "shell"),
        ({"vscode": {"languageId": "python"}}, None),
        ({"polyglot_notebook": {"kernelName": "fsharp"}}, "fsharp"),
        ({"polyglot_notebook": {"kernelName": "pythonkernel"}}, None),
        ({"deepnote_cell_type": "sql"}, "SQL"),
        ({"vscode": "sql"}, None),
        ({"vscode": {"languageId": 3}}, None),
        (None, None),
    ],
)
def test_the_front_end_names_the_language(
    of_cell: Any, language: str | None
) -> None:
    [cell] = cells("SELECT lane FROM swims", of_cell=of_cell)
    assert (cell.language, cell.is_skipped) == (language, language is not None)


def test_a_call_that_deepnote_wrote_for_sql_is_python() -> None:
    [cell] = cells(
        "_run_sql('SELECT 1')", of_cell={"deepnote_cell_type": "sql"}
    )
    assert cell.language is None


def test_databricks_hands_whole_cells_to_other_languages() -> None:
    told = cells(
        "%sql\nSELECT 1",
        "%md-sandbox <b>lane</b>",
        "\n%scala\nval a = 1",
        "%pip install swims",
        "a = 1",
        of_notebook=DATABRICKS,
    )
    assert [cell.language for cell in told] == [
        "SQL",
        "Markdown",
        "Scala",
        None,
        None,
    ]
    # In Jupyter an extension may have loaded a magic of this name.
    assert cells("%sql SELECT 1")[0].language is None


def test_databricks_python_magic_leaves_the_code_on_its_lines() -> None:
    [below, beside, plain] = cells(
        "\n%python\na = 1", "%python b = 2", "%timeit a", of_notebook=DATABRICKS
    )
    assert (below.source, beside.source) == ("\n\na = 1", "b = 2")
    assert plain.source == "%timeit a"


def test_cells_of_another_language_take_no_part() -> None:
    document = {
        "cells": [
            {"cell_type": "code", "source": "a = 1"},
            {
                "cell_type": "code",
                "source": "SELECT",
                "metadata": {"vscode": {"languageId": "sql"}},
            },
            {"cell_type": "code", "source": "a"},
        ]
    }
    told = read_code_cells(json.dumps(document).encode())
    assert [cell.index for cell in executed_before(told, 2)] == [0]
    assert target_index(told) is None
