"""Predictions in JSON lines: every good line is a run, every bad one a problem with its number."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from crane_core.domain import (
    Benchmark,
    Detector,
    DetectorKind,
    LoadProblem,
    ProblemKind,
    Record,
    Run,
    Setting,
)
from crane_core.importers.filetree import open_tree
from crane_core.importers.registry import importer_for

from .conftest import TreeOf, of

LINE: dict[str, Any] = {
    "instance": "pandas_1_fixed",
    "detector": "My Model 2",
    "setting": "runtime",
    "index": 1,
    "crashes": False,
    "reasoning": "the column exists",
}


def line(**changes: Any) -> str:
    return json.dumps(
        {
            name: value
            for name, value in (LINE | changes).items()
            if value is not ...
        }
    )


def read(
    tree_of: TreeOf, content: str | bytes, name: str = "First Try.jsonl"
) -> list[Record]:
    tree = tree_of({name: content})
    importer = importer_for(tree)
    assert importer.KIND == "predictions"
    return list(importer.read(tree))


def test_a_line_becomes_a_run_with_its_benchmark_and_detector(
    tree_of: TreeOf,
) -> None:
    records = read(
        tree_of, line() + "\n" + line(index=2, crashes=None, reasoning=None)
    )
    assert [type(record) for record in records] == [
        Benchmark,
        Detector,
        Run,
        Run,
    ]
    assert records[1] == Detector("my-model-2", "My Model 2", DetectorKind.LLM)
    assert records[2] == Run(
        "junobench",
        "pandas_1_fixed",
        "my-model-2",
        Setting.RUNTIME,
        "first-try",
        1,
        False,
        reasoning="the column exists",
    )
    assert (records[3].crashes, records[3].unanswered) == (
        None,
        "no answer was given",
    )  # type: ignore[union-attr]


def test_kind_title_and_diagnostics_of_a_detector_may_be_given(
    tree_of: TreeOf,
) -> None:
    told = json.dumps([{"code_line": "3: x", "message": "x is not defined"}])
    records = read(
        tree_of,
        line(
            detector="rules",
            kind="rules",
            title="Certain rules",
            diagnostics=told,
        ),
    )
    assert records[1] == Detector("rules", "Certain rules", DetectorKind.RULES)
    assert isinstance(records[2], Run) and records[2].diagnostics == told


def test_a_kind_of_detector_that_does_not_exist_is_a_problem(
    tree_of: TreeOf,
) -> None:
    [problem] = read(tree_of, line(kind="oracle"))
    assert isinstance(problem, LoadProblem)
    assert (
        problem.reason
        == "kind must be one of llm, analyzer, rules, rehearsal, repair, not 'oracle'"
    )


def test_benchmark_and_experiment_may_be_named(tree_of: TreeOf) -> None:
    records = read(tree_of, line(benchmark="minibench", experiment="night 3"))
    assert records[0] == Benchmark("minibench", "minibench")
    [run] = of(records, Run)
    assert (run.benchmark, run.experiment) == ("minibench", "night 3")


def test_byte_order_mark_windows_line_ends_and_blank_lines_are_tolerated(
    tree_of: TreeOf,
) -> None:
    content = "\ufeff" + "\r\n".join([line(), "", line(index=2), ""])
    runs = of(read(tree_of, content), Run)
    assert [run.run_index for run in runs] == [1, 2]


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ("{", "not JSON"),
        ("[1]", "expected an object, not list"),
        (line(instance=...), "instance is missing"),
        (line(instance=5), "instance must be a string"),
        (
            line(instance="pandas_1"),
            "instance must end in _reproduced or _fixed",
        ),
        (line(detector=""), "detector must be a string"),
        (
            line(setting="+RT"),
            "setting must be one of code, runtime, runtime-S",
        ),
        (line(index=0), "index must be an integer of 1 or more"),
        (line(index=True), "index must be an integer of 1 or more"),
        (line(index="1"), "index must be an integer of 1 or more"),
        (line(index=float("nan")), "index must be an integer of 1 or more"),
        (line(crashes="yes"), "crashes must be true, false or null"),
        (line(crashes=...), "crashes is missing"),
        (line(reasoning=["x"]), "reasoning must be a string"),
        (line(reasoning="\ud800"), "surrogates not allowed"),
    ],
)
def test_a_bad_line_is_one_problem_and_the_others_are_read(
    tree_of: TreeOf, bad: str, reason: str
) -> None:
    records = read(tree_of, f"{line()}\n{bad}\n{line(index=3)}\n")
    [problem] = of(records, LoadProblem)
    assert (problem.path, problem.place) == ("First Try.jsonl", "line 2")
    assert reason in problem.reason
    assert [record.run_index for record in of(records, Run)] == [1, 3]


def test_a_line_in_another_encoding_is_one_problem(tree_of: TreeOf) -> None:
    content = (
        line().encode()
        + b"\n"
        + line(reasoning="Sch\u00f6n")
        .encode("latin-1")
        .replace(b"\\u00f6", b"\xf6")
    )
    [problem] = of(read(tree_of, content), LoadProblem)
    assert (problem.place, "not JSON in UTF-8" in problem.reason) == (
        "line 2",
        True,
    )


def test_the_second_line_of_a_key_is_a_problem_even_in_another_file(
    tree_of: TreeOf,
) -> None:
    twice = line(experiment="x")
    tree = tree_of({"a.jsonl": f"{twice}\n{twice}", "b.jsonl": twice})
    records = list(importer_for(tree).read(tree))
    assert len(of(records, Run)) == 1
    problems = [(r.path, r.place, r.reason) for r in of(records, LoadProblem)]
    reason = "run 1 of pandas_1_fixed is a duplicate"
    assert problems == [
        ("a.jsonl", "line 2", reason),
        ("b.jsonl", "line 1", reason),
    ]


def test_a_second_line_that_answers_otherwise_is_a_contradiction(
    tree_of: TreeOf,
) -> None:
    lines = [line(experiment="x", crashes=said) for said in (True, False, True)]
    records = list(
        importer_for(tree := tree_of({"a.jsonl": "\n".join(lines)})).read(tree)
    )
    assert [record.crashes for record in of(records, Run)] == [True]
    problems = [(r.place, r.kind, r.reason) for r in of(records, LoadProblem)]
    assert problems == [
        (
            "line 2",
            ProblemKind.CONTRADICTION,
            "run 1 of pandas_1_fixed is given again with another answer; the first is kept",
        ),
        (
            "line 3",
            ProblemKind.UNREADABLE,
            "run 1 of pandas_1_fixed is a duplicate",
        ),
    ]


COLUMNS = (
    "instance",
    "detector",
    "setting",
    "index",
    "crashes",
    "reasoning",
    "benchmark",
    "experiment",
)


def csv_of(*rows: dict[str, Any]) -> bytes:
    text = io.StringIO(newline="")
    table = csv.DictWriter(text, COLUMNS)
    table.writeheader()
    table.writerows(rows)
    return text.getvalue().encode()


def parquet_of(*rows: dict[str, Any]) -> bytes:
    data = io.BytesIO()
    pq.write_table(
        pa.Table.from_pylist(
            [{name: row.get(name) for name in COLUMNS} for row in rows]
        ),
        data,
    )
    return data.getvalue()


@pytest.mark.parametrize(
    ("written", "suffix"), [(csv_of, "csv"), (parquet_of, "parquet")]
)
def test_a_table_brings_what_the_json_lines_bring(
    tree_of: TreeOf, written: Callable[..., bytes], suffix: str
) -> None:
    rows = [
        LINE,
        LINE
        | {"index": 2, "crashes": True, "reasoning": "two\nlines, and a comma"},
    ]
    rows += [LINE | {"index": 3, "crashes": None, "reasoning": None}]
    rows += [LINE | {"benchmark": "Mini Bench", "experiment": "night 3"}]
    as_lines = read(
        tree_of, "\n".join(json.dumps(row) for row in rows), "First Try.jsonl"
    )
    assert read(tree_of, written(*rows), f"First Try.{suffix}") == as_lines


@pytest.mark.parametrize(
    ("written", "suffix"), [(csv_of, "csv"), (parquet_of, "parquet")]
)
@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        (
            {"instance": "pandas_1"},
            "instance must end in _reproduced or _fixed",
        ),
        ({"instance": None}, "instance is missing"),
        ({"setting": "+RT"}, "setting must be one of code, runtime, runtime-S"),
        ({"index": 0}, "index must be an integer of 1 or more"),
        ({"index": None}, "index must be an integer of 1 or more"),
    ],
)
def test_a_bad_row_is_one_problem_and_the_others_are_read(
    tree_of: TreeOf,
    written: Callable[..., bytes],
    suffix: str,
    changes: dict[str, Any],
    reason: str,
) -> None:
    records = read(
        tree_of,
        written(LINE, LINE | changes, LINE | {"index": 3}),
        f"night.{suffix}",
    )
    [problem] = of(records, LoadProblem)
    assert (problem.path, problem.place) == (f"night.{suffix}", "row 3")
    assert reason in problem.reason
    assert [record.run_index for record in of(records, Run)] == [1, 3]


def test_cells_of_csv_are_read_as_their_column_says(tree_of: TreeOf) -> None:
    head = "\ufeffinstance,detector,setting,index,crashes\r\n"
    good = "pandas_1_fixed,a,code,1,TRUE\r\n\r\npandas_1_fixed,a,code,2,\r\npandas_1_fixed,1.5,code,3,False\r\n"
    runs = of(read(tree_of, head + good, "a.csv"), Run)
    assert [run.crashes for run in runs] == [True, None, False]
    bad = "pandas_1_fixed,a,code,1,yes\npandas_1_fixed,a,code,1.0,true\npandas_1_fixed,a,code,1,true,more\n"
    found = of(read(tree_of, head + bad, "a.csv"), LoadProblem)
    assert [(problem.place, problem.reason) for problem in found] == [
        ("row 2", "crashes must be true, false or null, not 'yes'"),
        ("row 3", "index must be an integer of 1 or more, not '1.0'"),
        ("row 4", "it has 6 cells, the header 5"),
    ]


def test_a_short_row_of_csv_lacks_its_answer(tree_of: TreeOf) -> None:
    [problem] = read(
        tree_of,
        "instance,detector,setting,index,crashes\npandas_1_fixed,a,code,1\n",
        "a.csv",
    )
    assert (
        isinstance(problem, LoadProblem)
        and problem.reason == "crashes is missing"
    )


@pytest.mark.parametrize(
    ("content", "name", "place", "reason"),
    [
        (
            "instance;detector\n",
            "a.csv",
            "row 1",
            "the column instance is missing",
        ),
        ("", "a.csv", "row 1", "the column instance is missing"),
        (b"instance,\xff\n", "a.csv", "byte 9", "it is not UTF-8"),
        (
            'instance,detector,setting,index,crashes\n"a',
            "a.csv",
            "row 2",
            "it is not CSV",
        ),
        (
            b"PAR1 not really",
            "a.parquet",
            "file",
            "it cannot be read as Parquet",
        ),
    ],
)
def test_a_table_that_is_none_is_one_problem(
    tree_of: TreeOf, content: str | bytes, name: str, place: str, reason: str
) -> None:
    [problem] = read(tree_of, content, name)
    assert isinstance(problem, LoadProblem)
    assert problem.place == place and reason in problem.reason


def test_a_parquet_file_without_a_column_says_which(tree_of: TreeOf) -> None:
    data = io.BytesIO()
    pq.write_table(pa.table({"instance": ["pandas_1_fixed"]}), data)
    [problem] = read(tree_of, data.getvalue(), "a.parquet")
    assert (
        isinstance(problem, LoadProblem)
        and "the column detector is missing" in problem.reason
    )


def test_one_long_text_in_many_rows_of_parquet_is_not_unpacked(
    tree_of: TreeOf,
) -> None:
    bomb = parquet_of(
        *(
            LINE | {"index": n, "reasoning": "x" * (1 << 21)}
            for n in range(1, 30)
        )
    )
    assert len(bomb) < 1 << 20
    [problem] = read(tree_of, bomb, "a.parquet")
    assert (
        isinstance(problem, LoadProblem)
        and "a text is longer than" in problem.reason
    )


def test_a_single_file_on_disk(tmp_path: Path) -> None:
    path = tmp_path / "night.jsonl"
    path.write_text(line(), encoding="utf-8")
    tree = open_tree(path)
    [run] = of(importer_for(tree).read(tree), Run)
    assert run.experiment == "night"
