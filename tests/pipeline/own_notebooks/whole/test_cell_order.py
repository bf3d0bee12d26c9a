"""Names that a run from top to bottom lacks: told for certain reads only, and never behind code that hides names."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from crane_core.notebooks import CodeCell, CrashOutput, read_code_cells
from crane_core.pipeline.own_notebooks.whole.cell_order import (
    OrderKind,
    order_findings,
)

REAL = Path(__file__).parents[5] / "shared" / "real_notebooks"


def cells(*sources: str, counts: tuple[int, ...] = ()) -> list[CodeCell]:
    return [
        CodeCell(index, source, counts[index] if counts else None, None)
        for index, source in enumerate(sources)
    ]


def told(*sources: str, counts: tuple[int, ...] = ()) -> list[str]:
    return [
        finding.message
        for finding in order_findings(cells(*sources, counts=counts))
    ]


def test_a_name_that_a_later_cell_binds_is_told_with_that_cell() -> None:
    [finding] = order_findings(cells("import os", "x\nfit(model)", "model = 1"))
    assert finding.message == (
        "code cell 1 uses `model`, bound only in code cell 2"
    )
    assert (finding.kind, finding.line) == (OrderKind.BOUND_LATER, 2)
    assert finding.remedy == "Move code cell 2 before code cell 1."


def test_a_name_of_a_deleted_cell_is_told_with_its_missing_counts() -> None:
    assert told("import os", "df.head()", counts=(1, 5)) == [
        "code cell 1 uses `df`, which no cell binds; cells that ran as 2, 3, 4 are not in the file"
    ]


@pytest.mark.parametrize(
    "counts",
    [
        pytest.param((1, 2), id="no count is missing"),
        pytest.param((), id="the notebook never ran"),
    ],
)
def test_without_a_missing_count_no_cell_was_deleted(
    counts: tuple[int, ...],
) -> None:
    assert told("import os", "df.head()", counts=counts) == []


def test_a_cell_that_raised_when_it_was_saved_shows_no_deleted_cell() -> None:
    saved = cells("import os", "df.head()", counts=(1, 5))
    crash = CrashOutput("NameError", "name 'df' is not defined", "", 1)
    saved[1] = replace(saved[1], crash=crash)
    assert order_findings(saved) == ()


@pytest.mark.parametrize(
    "source",
    [
        "use(late)",
        "late += 1",
        "for each in late: pass",
        "[n for n in late]",
        "a = b = late.size",
        "late['a'] = 1",
        "del late",
        "if late: pass",
        "def f(n=late): pass",
        "@late\ndef f(): pass",
        "class A(late): pass",
        "with late: pass",
        "late = late + 1",
        "print(f'{late}')",
        "%time late.fit()",
    ],
)
def test_a_certain_read_is_told(source: str) -> None:
    assert told(source, "late = 1") == [
        "code cell 0 uses `late`, bound only in code cell 1"
    ]


@pytest.mark.parametrize(
    "source",
    [
        "def f(): return late",
        "lambda: late",
        "[late for n in []]",
        "a = None and late",
        "1 if True else late",
        "try:\n    late\nexcept NameError:\n    pass",
        "if a: late",
        "while a: late",
        "class A:\n    b = late",
        "from contextlib import suppress\nwith suppress(NameError):\n    late",
        "late: int",
        "type Lane = late",
        "late = 1; late",
        "(late := 1) + late",
        "import late; late",
        "exit()\nlate",
        "raise SystemExit\nlate",
        "exec('late = 1')\nlate",
        "from helpers import *\nlate",
        "%run setup.py\nlate",
        "%load_ext lanes\nlate",
        "late?",
        "if:",
        "display(In, Out, _, __, _3, _i3, __name__)",
        "spark.table('a')",
    ],
)
def test_what_may_not_be_read_or_may_be_bound_is_not_told(source: str) -> None:
    later = "late = spark = display = 1"
    assert told("a = 0", source, later) == []
    # What may have been bound stays so in the cells behind.
    assert told("a = 0", source, "b = 1", later) == []


def test_a_global_statement_binds_what_a_call_assigns() -> None:
    code = "def load():\n    global late\n    late = 1"
    assert told(code, "load()", "late", "late = 2") == []


def test_left_out_and_raising_cells_are_no_witness() -> None:
    sources = cells("late = 1", "late", "other", "other = late = 2")
    tagged = [
        replace(sources[0], tags=frozenset({"skip-execution"})),
        sources[1],
        replace(sources[2], tags=frozenset({"raises-exception"})),
        sources[3],
    ]
    assert order_findings(tagged) == ()
    other = [replace(sources[0], language="SQL"), *sources[1:2], sources[3]]
    [finding] = order_findings(other)
    assert (finding.cell, finding.bound_in) == (1, (3,))


def test_each_name_is_told_once_in_a_cell_and_lists_are_bounded() -> None:
    binding = ["late = 1"] * 7
    assert told("late\nlate\nlate", *binding) == [
        "code cell 0 uses `late`, bound only in code cells 1, 2, 3, 4, 5, ..."
    ]


@pytest.mark.corpus
@pytest.mark.skipif(not REAL.is_dir(), reason="real notebooks are not here")
def test_no_real_notebook_that_ran_in_order_has_a_finding() -> None:
    paths = sorted(REAL.rglob("*.ipynb"))
    found = {
        path.name: order_findings(read_code_cells(path.read_bytes()))
        for path in paths
    }
    assert len(found) >= 20
    assert {name: told for name, told in found.items() if told} == {}
