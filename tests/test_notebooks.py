"""Notebook files: tolerant reading, the target cell, and the order in which cells ran."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import nbformat
import pytest
from nbformat.v4 import (
    new_code_cell,
    new_markdown_cell,
    new_notebook,
    new_output,
)

from crane_core.domain import CellRole
from crane_core.notebooks import (
    MAX_JSON_CONTAINERS,
    CodeCell,
    crash_index,
    crash_line,
    executed_before,
    plan,
    read_code_cells,
    target_index,
)

TRACEBACK = [
    "\x1b[0;31m---------------------------------------------------------------------------\x1b[0m",
    "\x1b[0;31mKeyError\x1b[0m                                  Traceback (most recent call last)",
    "Cell \x1b[0;32mIn[7], line 2\x1b[0m\n\x1b[1;32m      1\x1b[0m x = 1\n\x1b[0;32m----> 2\x1b[0m table['age']\n",
    "\x1b[0;31mKeyError\x1b[0m: 'age'",
]


def error() -> Any:
    return new_output(
        "error", ename="KeyError", evalue="'age'", traceback=TRACEBACK
    )


def code(source: str, count: int | None = None, *, fails: bool = False) -> Any:
    return new_code_cell(
        source, execution_count=count, outputs=[error()] if fails else []
    )


def notebook(*cells: Any) -> bytes:
    return nbformat.writes(new_notebook(cells=list(cells))).encode()


def ran(*counts: int | None) -> list[CodeCell]:
    return [
        CodeCell(index, f"cell {index}", count, None)
        for index, count in enumerate(counts)
    ]


def test_code_cells_are_counted_without_text_cells() -> None:
    cells = read_code_cells(
        notebook(code("a", 1), new_markdown_cell("b"), code("c", 7, fails=True))
    )
    assert [
        (cell.index, cell.source, cell.execution_count) for cell in cells
    ] == [
        (0, "a", 1),
        (1, "c", 7),
    ]
    assert cells[0].crash is None
    crash = cells[1].crash
    assert crash is not None
    assert (crash.exception, crash.message, crash.line) == (
        "KeyError",
        "'age'",
        2,
    )
    assert "\x1b" not in crash.traceback
    assert crash.traceback.endswith("KeyError: 'age'")


def test_a_byte_order_mark_and_missing_metadata_are_tolerated() -> None:
    bare = {
        "cells": [
            {"cell_type": "code", "source": ["a\n", "b"]},
            {"cell_type": "raw"},
        ]
    }
    [cell] = read_code_cells(b"\xef\xbb\xbf" + json.dumps(bare).encode())
    assert (cell.source, cell.execution_count, cell.crash) == (
        "a\nb",
        None,
        None,
    )


def test_a_notebook_of_format_3_is_upgraded() -> None:
    old = {
        "nbformat": 3,
        "metadata": {"name": ""},
        "worksheets": [
            {
                "cells": [
                    {"cell_type": "markdown", "source": ["x"]},
                    {
                        "cell_type": "code",
                        "input": ["1 / 0"],
                        "prompt_number": 4,
                        "language": "python",
                        "outputs": [
                            {
                                "output_type": "pyerr",
                                "ename": "ZeroDivisionError",
                                "evalue": "no",
                                "traceback": ["t"],
                            }
                        ],
                    },
                ]
            }
        ],
    }
    [cell] = read_code_cells(json.dumps(old).encode())
    assert (cell.source, cell.execution_count) == ("1 / 0", 4)
    assert cell.crash is not None
    assert cell.crash.exception == "ZeroDivisionError"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "it is empty"),
        (b"\xff", "not JSON in UTF-8"),
        (b"[]", "not a notebook"),
        (b"{}", "no list of cells"),
        (b'{"cells": 3}', "no list of cells"),
        (b'{"nbformat": 3}', "no list of cells"),
        (b'{"nbformat": 3, "worksheets": [5]}', "format 3 cannot be read"),
        (b'{"nbformat": "x", "cells": []}', "format 'x' cannot be read"),
        (b'{"nbformat": 99, "cells": []}', "format 99 is newer than 4"),
        (
            b'{"cells": [{"cell_type": "code", "source": 5}]}',
            "source of code cell 0 is not text",
        ),
        (
            b'{"cells": [{"cell_type": "code", "outputs": [{"output_type": "error", "traceback": [1]}]}]}',
            "traceback of code cell 0 is not text",
        ),
    ],
)
def test_what_is_no_notebook_is_refused_in_words(
    data: bytes, reason: str
) -> None:
    with pytest.raises(ValueError, match=reason):
        read_code_cells(data)


def test_a_document_of_too_many_objects_is_refused_before_they_are_made() -> (
    None
):
    with pytest.raises(
        ValueError, match="more than 4,000,000 objects and lists"
    ):
        read_code_cells(b"[" + b"{}," * MAX_JSON_CONTAINERS + b"{}]")


def test_the_target_is_the_first_cell_with_an_error() -> None:
    cells = read_code_cells(
        notebook(
            code("a", 1), code("b", 3, fails=True), code("c", 2, fails=True)
        )
    )
    assert target_index(cells) == 1
    assert target_index(ran(1, 2)) is None


def test_executed_cells_are_those_with_a_smaller_count_in_its_order() -> None:
    cells = ran(5, 2, None, 4, 1, 9)
    assert [cell.index for cell in executed_before(cells, 3)] == [4, 1]


def test_a_cell_marked_for_execution_again_ran_although_its_count_is_larger() -> (
    None
):
    cells = [
        *ran(1, 3),
        CodeCell(2, "# [reexecute] once more\ny = 2", 5, None),
        CodeCell(3, "y\n[reexecute]", 6, None),
    ]
    assert [cell.index for cell in executed_before(cells, 1)] == [0, 2]


@pytest.mark.parametrize(
    ("counts", "executed"),
    [((1, 4, 3), [0, 2, 1]), ((None, None, None), [0, 1])],
)
def test_a_target_marked_for_execution_again_ran_once_before(
    counts: tuple[int | None, ...], executed: list[int]
) -> None:
    cells = ran(*counts)
    cells[1] = replace(cells[1], source="# [reexecute]\ndel n")
    assert [cell.index for cell in executed_before(cells, 1)] == executed
    roles = [step.role for step in plan(cells, 1) if step.cell.index == 1]
    assert roles == [CellRole.EXECUTED, CellRole.TARGET]


def test_a_notebook_without_counts_ran_from_top_to_bottom() -> None:
    assert [
        cell.index for cell in executed_before(ran(None, None, None, None), 2)
    ] == [
        0,
        1,
    ]


def test_before_a_target_without_a_count_ran_the_counted_cells_above_it() -> (
    None
):
    assert [
        cell.index for cell in executed_before(ran(2, 1, None, None, 3), 3)
    ] == [
        1,
        0,
    ]


def test_tags_say_which_cells_may_raise_and_which_are_left_out() -> None:
    expected, crash, skipped = (
        code("a", 1, fails=True),
        code("b", 3, fails=True),
        code("c", 2),
    )
    expected.metadata["tags"] = ["raises-exception"]
    skipped.metadata["tags"] = ["skip-execution"]
    cells = read_code_cells(notebook(expected, skipped, crash))
    assert (target_index(cells), crash_index(cells)) == (2, 2)
    assert [cell.index for cell in executed_before(cells, 2)] == [0]
    assert [step.role for step in plan(cells, 2)] == [
        CellRole.EXECUTED,
        CellRole.TARGET,
        CellRole.NOT_RUN,
    ]
    assert (target_index(cells[:1]), crash_index(cells[:1])) == (None, 0)


@pytest.mark.parametrize(
    "tags", ["raises-exception", None, [["raises-exception"]], 3]
)
def test_tags_that_are_no_list_of_strings_say_nothing(tags: Any) -> None:
    document = {
        "cells": [
            {"cell_type": "code", "source": "a", "metadata": {"tags": tags}}
        ]
    }
    [cell] = read_code_cells(json.dumps(document).encode())
    assert cell.tags == frozenset()


@pytest.mark.parametrize("target", [-1, 2])
def test_an_index_that_is_no_cell_is_refused(target: int) -> None:
    with pytest.raises(ValueError, match=f"no code cell {target}"):
        executed_before(ran(1, 2), target)


def test_the_plan_numbers_all_cells_executed_then_target_then_the_rest() -> (
    None
):
    planned = plan(ran(3, 1, None, 4, 2), 0)
    assert [
        (step.position, step.role, step.cell.index) for step in planned
    ] == [
        (0, CellRole.EXECUTED, 1),
        (1, CellRole.EXECUTED, 4),
        (2, CellRole.TARGET, 0),
        (3, CellRole.NOT_RUN, 2),
        (4, CellRole.NOT_RUN, 3),
    ]


@pytest.mark.parametrize(
    ("traceback", "line"),
    [
        ("Cell In[5], line 12\n      1 x\n---> 12 y", 12),
        (
            "  Cell In[5], line 3\n    x =\n        ^\nSyntaxError: invalid syntax",
            3,
        ),
        ("Input In [5], in <cell line: 4>()\n      3 x\n----> 4 y", 4),
        (
            "/" + "tmp/ipykernel_19/127.py in <module>\n      1 x\n----> 2 y\n",
            2,
        ),
        ("<ipython-input-5-1c4> in <module>\n----> 1 y\n", 1),
        (
            '  File "<ipython-input-5-1c4>", line 9\n    x =\nSyntaxError: invalid syntax',
            9,
        ),
        ("File ~/lib/frame.py:4, in f(x)\n----> 4 boom\n", None),
        ("", None),
    ],
)
def test_the_crashing_line_is_read_from_every_generation_of_tracebacks(
    traceback: str, line: int | None
) -> None:
    assert crash_line(traceback, 5) == line


def test_the_frame_of_the_cell_itself_goes_before_that_of_an_earlier_one() -> (
    None
):
    traceback = "Cell In[2], line 9, in helper()\n----> 9 a\nCell In[5], line 3\n----> 3 helper()"
    assert crash_line(traceback, 5) == 3
    assert crash_line(traceback) == 9
