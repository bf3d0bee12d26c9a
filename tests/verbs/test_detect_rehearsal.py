"""`detect --detector rehearsal`: targets are executed where that is allowed, and only what came out is a verdict."""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
import pytest

from crane_core import ledger
from crane_core.domain import Detector, DetectorKind, Run
from crane_core.pipeline.places import DataFolder
from crane_core.runtime.rehearsal import RehearsalEnd
from tests.spoken import Run as Say
from tests.spoken import speaker

pytestmark = pytest.mark.usefixtures("execution_allowed")
REHEARSE = ("detect", "--detector", "rehearsal", "--setting", "runtime")
ONE = (*REHEARSE, "--benchmark", "minibench", "--instances", "numpy_1_*")


def records(folder: DataFolder) -> list[object]:
    files = sorted((folder.ledger / "runs").glob("*.jsonl"))
    return [record for file in files for record in ledger.tail(file).records]


@pytest.mark.slow
def test_a_pair_gets_a_row_that_says_it_was_executed(
    run: Say, folder: DataFolder
) -> None:
    spoken = run(*ONE)
    assert spoken.code == 0, spoken.err
    assert "2 of 2 questions answered" in spoken.out
    assert "Rehearsal (executed in a copy)" in spoken.out
    found = records(folder)
    assert (
        Detector(
            "rehearsal",
            "Rehearsal (executed in a copy)",
            DetectorKind.REHEARSAL,
        )
        in found
    )
    said = {
        record.instance_id: record
        for record in found
        if isinstance(record, Run)
    }
    crash, fixed = said["numpy_1_reproduced"], said["numpy_1_fixed"]
    assert (crash.crashes, fixed.crashes) == (True, False)
    [told] = json.loads(crash.diagnostics or "")
    assert (told["outcome"], told["executed_in_a_copy"]) == (
        RehearsalEnd.CRASH,
        True,
    )
    assert told["exception"] in (crash.reasoning or "")
    assert f"line {told['line']}" in (crash.reasoning or "")
    assert (fixed.reasoning or "").startswith(
        "Rehearsal, executed in a copy: ran through"
    )


@pytest.mark.slow
def test_the_same_command_executes_nothing_again(
    run: Say, folder: DataFolder
) -> None:
    run(*ONE)
    before = records(folder)
    again = run(*ONE, "--json")
    assert (again.code, json.loads(again.out)["answered"]) == (0, 2)
    assert records(folder) == before


def pair(folder: Path, name: str, crashing: str, fixed: str) -> None:
    for version, target in (("reproduced", crashing), ("fixed", fixed)):
        cells = [
            nbformat.v4.new_code_cell(code, execution_count=n)
            for n, code in enumerate(("a = [1]", target), 1)
        ]
        if version == "reproduced":
            cells[-1].outputs = [
                nbformat.v4.new_output(
                    "error", ename="IndexError", evalue="no", traceback=[]
                )
            ]
        place = folder / "benchmark" / name
        place.mkdir(parents=True, exist_ok=True)
        nbformat.write(
            nbformat.v4.new_notebook(cells=cells),
            place / f"{name}_{version}.ipynb",
        )


@pytest.mark.slow
def test_an_outcome_that_is_no_verdict_is_counted_and_tried_again(
    run: Say, folder: DataFolder, tmp_path: Path
) -> None:
    own = tmp_path / "oven"
    pair(own, "numpy_1", "a[1]", "input()")
    assert run(f"import {own}").code == 0
    listed = json.loads(run("list benchmark --json").out)
    [name] = {entry["name"] for entry in listed} - {"minibench"}
    asked = (*REHEARSE, "--benchmark", name, "--json")
    first = run(*asked)
    told = json.loads(first.out)
    assert (first.code, told["answered"]) == (1, 1)
    assert "unknown: the cell waits for input" in first.out
    run(*asked)
    runs = [record for record in records(folder) if isinstance(record, Run)]
    assert sorted(
        (record.instance_id, record.crashes)
        for record in runs
        if record.crashes is not None
    ) == [("numpy_1_reproduced", True)]
    assert sum(record.crashes is None for record in runs) == 2


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (("--benchmark", "minibench", "--runs", "5"), "runs only once"),
        (
            ("--benchmark", "minibench", "--dask", "local"),
            "executes notebooks on this machine",
        ),
        (
            ("--benchmark", "minibench", "--setting", "code"),
            "Use --setting runtime",
        ),
    ],
)
def test_what_cannot_be_rehearsed_is_refused_in_a_line(
    run: Say, folder: DataFolder, asked: list[str], words: str
) -> None:
    spoken = run(*REHEARSE, *asked)
    assert spoken.code == 1
    assert words in spoken.err
    assert not (folder.ledger / "runs").exists()


def test_a_benchmark_without_notebooks_is_refused(
    whole_folder: DataFolder,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CRANE_ALLOW_EXECUTION", "1")
    spoken = speaker(whole_folder.path, capsys)(
        *REHEARSE, "--benchmark", "junobench"
    )
    assert spoken.code == 1
    assert "no notebooks here that could be executed" in spoken.err
    assert not (whole_folder.ledger / "runs").exists()


@pytest.mark.parametrize("allowed", [None, "0", "maybe"])
def test_nothing_is_executed_unless_the_operator_allows_it(
    run: Say,
    folder: DataFolder,
    monkeypatch: pytest.MonkeyPatch,
    allowed: str | None,
) -> None:
    monkeypatch.delenv("CRANE_ALLOW_EXECUTION")
    if allowed is not None:
        monkeypatch.setenv("CRANE_ALLOW_EXECUTION", allowed)
    spoken = run(*ONE)
    assert spoken.code == 1
    assert "CRANE_ALLOW_EXECUTION=1" in spoken.err
    assert not (folder.ledger / "runs").exists()
