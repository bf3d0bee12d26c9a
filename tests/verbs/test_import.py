"""`import` of people's own files: what is missing is told, what changed is replaced only knowingly."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from crane_core.pipeline.loading.load import prepare
from crane_core.pipeline.places import DataFolder
from tests.spoken import Run
from tests.written_pairs import write_notebook, write_pair

FIXED = ["a = 1", "1 / a"]
CODE = "SELECT code FROM cells WHERE benchmark = 'my-pairs' AND instance_id = 'trip_fixed' ORDER BY position"


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    write_pair(tmp_path / "my_pairs", "trip", ["a = 0", "1 / a"], FIXED)
    return tmp_path / "my_pairs"


def asked(folder: DataFolder, question: str) -> list[str]:
    store = prepare(folder)
    try:
        return [
            str(row[0]) for row in store.cursor().execute(question).fetchall()
        ]
    finally:
        store.close()


def only_source(folder: DataFolder) -> str:
    [source] = [path.name for path in folder.sources.iterdir()]
    return source


def test_a_folder_is_told_with_the_name_of_its_benchmark(
    run: Run, pairs: Path
) -> None:
    said = run(f"import {pairs}")
    assert said.code == 0
    assert "my_pairs: notebook-pairs, benchmark my-pairs, source" in said.out
    assert (
        " 1 benchmark (1 new)" in said.out
        and " 1 case (1 new)" in said.out
        and " 2 instances (2 new)" in said.out
    )


@pytest.mark.parametrize("missing", ["reproduced", "fixed"])
def test_half_a_pair_is_loaded_told_and_ends_with_one(
    run: Run, pairs: Path, folder: DataFolder, missing: str
) -> None:
    (pairs / "trip" / f"trip_{missing}.ipynb").unlink()
    said = run(f"import {pairs}")
    assert said.code == 1
    assert (
        f"there is no trip_{missing}.ipynb" in said.out
        and "not complete:" in said.out
    )
    there = ({"reproduced", "fixed"} - {missing}).pop()
    assert asked(
        folder, "SELECT instance_id FROM instances WHERE benchmark = 'my-pairs'"
    ) == [f"trip_{there}"]


def test_unreadable_lines_end_with_one_and_the_others_are_loaded(
    run: Run, tmp_path: Path, folder: DataFolder
) -> None:
    line = {
        "instance": "pandas_1_fixed",
        "detector": "Mine",
        "setting": "code",
        "index": 1,
        "crashes": False,
    }
    (tmp_path / "night.jsonl").write_text(json.dumps(line) + "\n{\n")
    said = run(f"import {tmp_path / 'night.jsonl'}")
    assert said.code == 1 and "night.jsonl, line 2: it is not JSON" in said.out
    assert asked(
        folder, "SELECT count(*) FROM runs WHERE experiment = 'night'"
    ) == ["1"]


def test_a_changed_folder_is_refused_in_one_line_that_says_what_changed(
    run: Run, pairs: Path, folder: DataFolder
) -> None:
    assert run(f"import {pairs}").code == 0
    source = only_source(folder)
    write_pair(pairs, "trip", ["a = 0", "1 / a"], ["a = 2", "1 / a"])
    write_pair(pairs, "tour", ["1 / 0"], ["1"])
    said = run(f"import {pairs}")
    assert (said.code, said.out, said.err.count("\n")) == (1, "", 1)
    assert (
        f"changed since it was imported as source {source}" in said.err
        and "--replace" in said.err
    )
    assert (
        "2 added (tour_fixed.ipynb, tour_reproduced.ipynb), 1 changed (trip_fixed.ipynb)"
        in said.err
    )
    assert only_source(folder) == source and asked(folder, CODE) == FIXED


@pytest.mark.slow
def test_replace_puts_the_old_source_where_restore_finds_it(
    run: Run, pairs: Path, folder: DataFolder
) -> None:
    assert run(f"import {pairs}").code == 0
    old = only_source(folder)
    write_pair(pairs, "trip", ["a = 0", "1 / a"], ["a = 2", "1 / a"])
    said = run(f"import {pairs} --replace --by lea")
    assert said.code == 0 and f"replaces source {old}" in said.out
    assert asked(folder, CODE) == ["a = 2", "1 / a"]
    assert asked(
        folder, "SELECT count(*) FROM load_problems WHERE path LIKE 'trip%'"
    ) == ["0"]
    assert (
        old in (gone := run("list --removed").out) and "removed by lea" in gone
    )
    assert run("rebuild").code == 0
    assert asked(folder, CODE) == ["a = 2", "1 / a"]
    write_pair(pairs, "trip", ["a = 0", "1 / a"], FIXED)
    assert "changed since" in run(f"import {pairs}").err
    assert run(f"import {pairs} --replace").code == 0
    assert asked(folder, CODE) == FIXED


def test_a_replacement_that_cannot_be_read_leaves_everything(
    run: Run, pairs: Path, folder: DataFolder
) -> None:
    assert run(f"import {pairs}").code == 0
    old = only_source(folder)
    for path in pairs.rglob("*.ipynb"):
        path.write_text("{")
    assert run(f"import {pairs} --replace").code == 1
    assert old not in run("list --removed").out and asked(folder, CODE) == FIXED


def test_replace_while_the_app_holds_the_database(
    run: Run, pairs: Path, folder: DataFolder
) -> None:
    assert run(f"import {pairs}").code == 0
    write_pair(pairs, "trip", ["a = 0", "1 / a"], ["a = 2", "1 / a"])
    store = prepare(folder)
    try:
        said = run(f"import {pairs} --replace")
    finally:
        store.close()
    assert said.code == 0
    assert asked(folder, CODE) == ["a = 2", "1 / a"]


def test_another_folder_of_the_same_name_is_no_change_of_the_first(
    run: Run, pairs: Path, tmp_path: Path
) -> None:
    assert run(f"import {pairs}").code == 0
    write_pair(tmp_path / "other" / "my_pairs", "tour", ["1 / 0"], ["1"])
    assert run(f"import {tmp_path / 'other' / 'my_pairs'}").code == 0


def test_a_notebook_that_is_no_pair_is_told_how_to_become_one(
    run: Run, tmp_path: Path
) -> None:
    first = write_notebook(tmp_path / "first.ipynb", ["a = 0", "1 / a"])
    refused = run(f"import {first}")
    assert (refused.code, refused.out, refused.err.count("\n")) == (1, "", 1)
    assert (
        "first.ipynb is a notebook, but no pair" in refused.err
        and "NAME_fixed.ipynb" in refused.err
    )
    assert (
        "add-case --name NAME --to my_pairs --crashing first.ipynb --edit CELL=FIX.py"
        in refused.err
    )
    write_notebook(tmp_path / "nbs" / "a.ipynb", ["1"])
    write_notebook(tmp_path / "nbs" / "b.ipynb", ["1"])
    assert (
        "a.ipynb and 1 more are notebooks, but no pair"
        in run(f"import {tmp_path / 'nbs'}").err
    )


STATES = "SELECT instance_id FROM kernel_states WHERE benchmark = 'my-pairs' AND origin = 'capture' ORDER BY ALL"


def test_pairs_come_with_their_states_in_one_command(
    run: Run, pairs: Path, folder: DataFolder
) -> None:
    said = run(f"import {pairs} --capture")
    assert said.code == 0, said.err
    assert (
        "my_pairs: notebook-pairs" in said.out
        and "my-pairs: captured-states" in said.out
    )
    assert asked(folder, STATES) == ["trip_fixed", "trip_reproduced"]
    again = run(f"import {pairs} --capture --json")
    assert [
        entry["already_loaded"] for entry in json.loads(again.out)["imports"]
    ] == [
        True,
        True,
    ]
    assert "trip" not in again.err, "nothing was captured again"


@pytest.mark.slow
def test_a_fixed_notebook_is_captured_before_the_cell_that_crashes_in_the_other(
    run: Run, tmp_path: Path, folder: DataFolder
) -> None:
    write_notebook(
        tmp_path / "two" / "trip_reproduced.ipynb",
        ["a = 0", "1 / a", "b = 2"],
        error="E",
        target=1,
    )
    write_notebook(
        tmp_path / "two" / "trip_fixed.ipynb", ["a = 1", "1 / a", "b = 2"]
    )
    assert run(f"import {tmp_path / 'two'} --capture").code == 0
    kept = folder.path / "states" / "two"
    assert {
        json.loads(file.read_text())["target"] for file in kept.glob("*.json")
    } == {1}


@pytest.mark.slow
def test_a_notebook_that_cannot_run_is_told_and_the_pairs_are_loaded(
    run: Run, pairs: Path, folder: DataFolder
) -> None:
    write_notebook(
        pairs / "trip" / "trip_fixed.ipynb", ["raise SystemError", "1"]
    )
    said = run(f"import {pairs} --capture --json")
    told = json.loads(said.out)
    assert said.code == 1
    assert [Path(entry["notebook"]).name for entry in told["not_captured"]] == [
        "trip_fixed.ipynb"
    ]
    assert asked(folder, STATES) == ["trip_reproduced"]
    assert (
        len(asked(folder, "FROM instances WHERE benchmark = 'my-pairs'")) == 2
    )


def test_no_notebook_runs_where_that_is_forbidden(
    run: Run, pairs: Path, folder: DataFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRANE_ALLOW_EXECUTION", "0")
    refused = run(f"import {pairs} --capture")
    assert (refused.code, refused.err.count("\n")) == (1, 1)
    assert "CRANE_ALLOW_EXECUTION forbids running notebooks" in refused.err
    assert not folder.sources.exists()
    captured = run(
        f"capture {pairs / 'trip' / 'trip_fixed.ipynb'} --out {pairs / 'state.json'}"
    )
    assert captured.code == 1 and "forbids running notebooks" in captured.err


def test_states_are_captured_for_a_folder_only(run: Run, pairs: Path) -> None:
    refused = run(f"import --capture {pairs / 'trip' / 'trip_fixed.ipynb'}")
    assert (
        refused.code == 1
        and "--capture takes one folder of pairs" in refused.err
    )
    refused = run(f"import --capture {pairs / 'nowhere'}")
    assert refused.code == 1 and "nowhere does not exist." in refused.err


def test_an_empty_folder_is_told_as_empty(run: Run, tmp_path: Path) -> None:
    (tmp_path / "nothing").mkdir()
    refused = run(f"import {tmp_path / 'nothing'}")
    assert (
        refused.code,
        refused.err.startswith("error: nothing is empty."),
    ) == (
        1,
        True,
    )
