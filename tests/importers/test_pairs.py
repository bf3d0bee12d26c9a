"""Pairs of notebooks become cases, instances and cells; what is missing is told and the rest is read."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from crane_core.domain import (
    Benchmark,
    Case,
    Cell,
    CellRole,
    Instance,
    LoadProblem,
    Record,
    Version,
)
from crane_core.importers.filetree import open_files, open_tree
from crane_core.importers.registry import importer_for

from .conftest import Sheets, TreeOf, of


def cell(
    source: str, count: int | None, *, error: str | None = None
) -> dict[str, Any]:
    traceback = [
        f"Cell In[{count}], line 1\n----> 1 {source}",
        f"\x1b[31m{error}\x1b[0m: no",
    ]
    output = {
        "output_type": "error",
        "ename": error,
        "evalue": "no",
        "traceback": traceback,
    }
    return {
        "cell_type": "code",
        "source": source,
        "execution_count": count,
        "outputs": [output] if error else [],
    }


def notebook(*cells: dict[str, Any]) -> str:
    return json.dumps(
        {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}
    )


CRASHING = notebook(
    cell("b", 2),
    cell("a", 1),
    cell("a / 0", 3, error="ZeroDivisionError"),
    cell("later", 4),
)
FIXED = notebook(
    cell("b", 1), cell("a", 2), cell("a / 1", 3), cell("later", None)
)


def read(
    tree_of: TreeOf, files: dict[str, str | bytes], name: str = "My Pairs"
) -> list[Record]:
    tree = tree_of(files, name)
    importer = importer_for(tree)
    assert importer.KIND == "notebook-pairs"
    return list(importer.read(tree))


def cells_of(
    records: list[Record], instance_id: str
) -> list[tuple[int, CellRole, str]]:
    found = [
        record
        for record in records
        if isinstance(record, Cell) and record.instance_id == instance_id
    ]
    return [(each.position, each.role, each.code) for each in found]


def problems_of(records: list[Record]) -> list[tuple[str, str]]:
    return [(record.path, record.place) for record in of(records, LoadProblem)]


def test_the_fixed_notebook_takes_the_target_of_the_crashing_one(
    tree_of: TreeOf,
) -> None:
    records = read(
        tree_of,
        {
            "x/trip_reproduced.ipynb": CRASHING,
            "x/trip_fixed.ipynb": FIXED,
            "x/trip.ipynb": "{",
        },
    )
    assert problems_of(records) == []
    assert cells_of(records, "trip_reproduced") == [
        (0, CellRole.EXECUTED, "a"),
        (1, CellRole.EXECUTED, "b"),
        (2, CellRole.TARGET, "a / 0"),
        (3, CellRole.NOT_RUN, "later"),
    ]
    assert cells_of(records, "trip_fixed") == [
        (0, CellRole.EXECUTED, "b"),
        (1, CellRole.EXECUTED, "a"),
        (2, CellRole.TARGET, "a / 1"),
        (3, CellRole.NOT_RUN, "later"),
    ]


def test_the_crash_is_read_from_the_error_output(tree_of: TreeOf) -> None:
    records = read(
        tree_of, {"trip_reproduced.ipynb": CRASHING, "trip_fixed.ipynb": FIXED}
    )
    assert of(records, Case) == [
        Case(
            "my-pairs",
            "trip",
            exception="zerodivisionerror",
            message="no",
            traceback="Cell In[3], line 1\n----> 1 a / 0\nZeroDivisionError: no",
        )
    ]
    target = next(
        r
        for r in records
        if isinstance(r, Cell) and r.role is CellRole.TARGET and "0" in r.code
    )
    assert (
        target.crash_line,
        target.execution_count,
        target.notebook_index,
        target.origin,
    ) == (
        1,
        3,
        2,
        "notebook",
    )
    assert of(records, Benchmark) == [Benchmark("my-pairs", "My Pairs")]


def test_a_missing_half_is_one_problem_and_the_other_half_is_read(
    tree_of: TreeOf,
) -> None:
    records = read(
        tree_of, {"a_reproduced.ipynb": CRASHING, "b_fixed.ipynb": FIXED}
    )
    assert problems_of(records) == [
        ("a_reproduced.ipynb", "pair"),
        ("b_fixed.ipynb", "pair"),
        ("b_fixed.ipynb", "cells"),
    ]
    assert len(cells_of(records, "a_reproduced")) == 4
    assert {role for _, role, _ in cells_of(records, "b_fixed")} == {
        CellRole.NOT_RUN
    }


def test_an_unreadable_half_is_one_problem_and_the_other_half_is_read(
    tree_of: TreeOf,
) -> None:
    records = read(
        tree_of, {"a_reproduced.ipynb": CRASHING, "a_fixed.ipynb": b"\xff\xfe"}
    )
    assert problems_of(records) == [("a_fixed.ipynb", "file")]
    assert len(cells_of(records, "a_reproduced")) == 4
    assert [r.version for r in of(records, Instance)] == [Version.REPRODUCED]


def test_a_fixed_notebook_without_the_target_cell_is_a_problem(
    tree_of: TreeOf,
) -> None:
    records = read(
        tree_of,
        {
            "a_reproduced.ipynb": CRASHING,
            "a_fixed.ipynb": notebook(cell("a", 1)),
        },
    )
    assert problems_of(records) == [("a_fixed.ipynb", "code cell 2")]
    assert cells_of(records, "a_fixed") == [(0, CellRole.NOT_RUN, "a")]


def test_a_notebook_without_code_and_a_second_one_of_a_name_are_problems(
    tree_of: TreeOf,
) -> None:
    files = {
        "x/a_reproduced.ipynb": CRASHING,
        "y/a_reproduced.ipynb": CRASHING,
        "x/a_fixed.ipynb": notebook(),
    }
    records = read(tree_of, dict(files))
    assert problems_of(records) == [
        ("y/a_reproduced.ipynb", "file name"),
        ("x/a_fixed.ipynb", "file"),
    ]
    assert len(cells_of(records, "a_reproduced")) == 4


def test_two_files_given_as_a_pair(tmp_path: Path) -> None:
    for name, text in (
        ("trip_reproduced.ipynb", CRASHING),
        ("trip_fixed.ipynb", FIXED),
    ):
        (tmp_path / name).write_text(text, encoding="utf-8")
    tree = open_files(
        [tmp_path / "trip_fixed.ipynb", tmp_path / "trip_reproduced.ipynb"],
        "trip",
    )
    kinds = Counter(
        type(record).__name__ for record in importer_for(tree).read(tree)
    )
    assert kinds == {"Benchmark": 1, "Case": 1, "Instance": 2, "Cell": 8}


def test_junobench_is_known_by_its_cases_and_takes_its_workbooks(
    tree_of: TreeOf, workbook: Callable[[Sheets], bytes]
) -> None:
    header = [
        "nb_name",
        "ename",
        "evalue",
        "traceback",
        "label_root_cause",
        "label_refined_exp_type",
    ]
    described = [
        [*header, "label_ML_pipeline"],
        [
            "numpy_3",
            "valueerror",
            "bad",
            "['a', 'b']",
            "API misuse",
            "value error",
            "training",
        ],
        [
            "torch_9",
            "typeerror",
            "worse",
            "plain text",
            "data confusion",
            "type error",
            "training",
        ],
    ]
    truth = [
        ["library", "instance", "detection", "diagnosis", "runinfo_help"],
        [
            "numpy",
            "numpy_3_reproduced",
            True,
            "it divides by nothing",
            "shapes help",
        ],
        ["numpy", "numpy_3_fixed", False, None, "None"],
    ]
    records = read(
        tree_of,
        {
            "benchmark/numpy_3/numpy_3_reproduced.ipynb": CRASHING,
            "benchmark/numpy_3/numpy_3_fixed.ipynb": FIXED,
            "benchmark/numpy_3/data/table.csv": "a,b",
            "benchmark_desc.xlsx": workbook({"Sheet1": described}),
            "ground_truth_crash_prediction.xlsx": workbook(
                {"Under another name": truth}
            ),
        },
        "JunoBench",
    )
    assert problems_of(records) == []
    [without, case] = of(records, Case)
    assert (without.case_id, without.traceback) == ("torch_9", "plain text")
    assert (case.benchmark, case.library, case.exception) == (
        "junobench",
        "numpy",
        "valueerror",
    )
    assert (case.message, case.diagnosis) == ("bad", "it divides by nothing")
    remarks = {
        record.instance_id: record.remark
        for record in records
        if isinstance(record, Instance)
    }
    assert remarks == {
        "numpy_3_reproduced": "shapes help",
        "numpy_3_fixed": None,
    }


def test_known_ids_alone_make_it_junobench_only_from_ten_pairs_on(
    tree_of: TreeOf,
) -> None:
    for n_pairs, benchmark in ((1, "mine"), (9, "mine"), (10, "junobench")):
        pairs = [
            (f"pandas_{i}_reproduced.ipynb", f"pandas_{i}_fixed.ipynb")
            for i in range(1, n_pairs + 1)
        ]
        files = {
            name: data
            for pair in pairs
            for name, data in zip(pair, (CRASHING, FIXED), strict=True)
        }
        records = read(tree_of, dict(files), "mine")
        assert [record.benchmark for record in of(records, Benchmark)] == [
            benchmark
        ]


def test_one_name_that_junobench_does_not_have_makes_it_a_benchmark_of_its_own(
    tree_of: TreeOf,
) -> None:
    names = [f"pandas_{i}" for i in range(1, 12)] + ["torchvision_2"]
    files = {
        f"{name}_{half}.ipynb": CRASHING
        for name in names
        for half in ("reproduced", "fixed")
    }
    records = read(tree_of, dict(files), "mine")
    assert [record.benchmark for record in of(records, Benchmark)] == ["mine"]


def test_a_table_of_cases_gives_labels_and_bad_rows_are_problems(
    tree_of: TreeOf,
) -> None:
    table = (
        "\ufeffcase_id,library,root_cause,exception,crash_type,stage,diagnosis\r\n"
        'trip,python,API misuse,zerodivisionerror,value error,training,"a, then zero"\r\n'
        ",x,,,,,\r\n"
        "walk,numpy,,,,,\r\n"
    )
    files = {
        "cases.csv": table,
        "trip_reproduced.ipynb": CRASHING,
        "trip_fixed.ipynb": FIXED,
    }
    records = read(tree_of, dict(files))
    cases = {
        record.case_id: record for record in records if isinstance(record, Case)
    }
    assert (cases["trip"].root_cause, cases["trip"].diagnosis) == (
        "API misuse",
        "a, then zero",
    )
    assert cases["walk"] == Case("my-pairs", "walk", library="numpy")
    assert problems_of(records) == [("cases.csv", "line 3")]


@pytest.mark.parametrize(
    ("originals", "varied_from", "problems"),
    [
        (("lab", "lab"), "lab", []),
        ((" lab ", ""), "lab", []),
        (("", ""), None, []),
        (("lab", "other"), None, [("cases.csv", "varied_from")]),
    ],
)
def test_a_table_names_one_benchmark_that_the_cases_are_copies_of(
    tree_of: TreeOf,
    originals: tuple[str, str],
    varied_from: str | None,
    problems: list[tuple[str, str]],
) -> None:
    rows = zip(("trip", "walk"), originals, strict=True)
    table = "".join(f"{case},{original}\n" for case, original in rows)
    files = {
        "cases.csv": f"case_id,varied_from\n{table}",
        "trip_reproduced.ipynb": CRASHING,
        "trip_fixed.ipynb": FIXED,
    }
    records = read(tree_of, dict(files))
    [benchmark] = of(records, Benchmark)
    assert benchmark.varied_from == varied_from
    assert problems_of(records) == problems


def test_a_table_may_say_when_notebooks_were_written(tree_of: TreeOf) -> None:
    table = "trip,2025-03\nwalk,soon\nstay,\n"
    files = {
        "cases.csv": f"case_id,created\n{table}",
        "trip_reproduced.ipynb": CRASHING,
        "trip_fixed.ipynb": FIXED,
    }
    records = read(tree_of, dict(files))
    assert {case.case_id: case.created for case in of(records, Case)} == {
        "trip": "2025-03",
        "walk": None,
        "stay": None,
    }
    assert problems_of(records) == [("cases.csv", "line 3, created")]


def test_our_minibench_comes_in_whole(root: Path) -> None:
    tree = open_tree(root / "data" / "minibench")
    records = list(importer_for(tree).read(tree))
    cases = of(records, Case)
    pairs = list((root / "data" / "minibench").rglob("*_reproduced.ipynb"))
    assert problems_of(records) == []
    assert {
        record.benchmark for record in records if isinstance(record, Benchmark)
    } == {"minibench"}
    assert len(cases) == len(pairs)
    assert all(
        case.root_cause and case.diagnosis and case.traceback for case in cases
    )
    targets = [
        record
        for record in records
        if isinstance(record, Cell) and record.role is CellRole.TARGET
    ]
    assert len(targets) == 2 * len(pairs)
    assert all(
        target.crash_line
        for target in targets
        if target.instance_id.endswith("reproduced")
    )
