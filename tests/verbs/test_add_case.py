"""`add-case`: what is not a case is refused and nothing is written; what is one passes `verify` and `import`."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from tests.spoken import Run, Spoken, speaker
from tests.written_pairs import write_notebook

pytestmark = pytest.mark.usefixtures("three_pairs_ship")

CRASHING = ["a = 0", "1 / a"]
FIXED = ["a = 0", "1 / (a + 1)"]


@pytest.fixture
def crane(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    return speaker(tmp_path / "data", capsys)


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    return tmp_path / "lab"


def add(
    crane: Run,
    lab: Path,
    crashing: list[str],
    fixed: list[str],
    *more: str,
    error: str | None = None,
) -> Spoken:
    one = write_notebook(lab.parent / "one.ipynb", crashing, error=error)
    other = write_notebook(lab.parent / "other.ipynb", fixed)
    return crane(
        f"add-case --name trip --to {lab} --crashing {one} --fixed {other}",
        *more,
    )


def test_a_case_is_written_with_its_labels_and_passes_verify_and_import(
    crane: Run, lab: Path
) -> None:
    labels = (
        "--library",
        "numpy",
        "--root-cause",
        "API misuse",
        "--diagnosis",
        "a is 0, so 1 / a is undefined",
    )
    said = add(crane, lab, CRASHING, FIXED, *labels)
    assert said.code == 0, said.err
    assert (
        "target: code cell 1, ZeroDivisionError" in said.out
        and "1 code cell differs" in said.out
    )
    assert sorted(path.name for path in lab.iterdir()) == [
        "cases.csv",
        "trip_fixed.ipynb",
        "trip_reproduced.ipynb",
    ]
    [row] = csv.DictReader((lab / "cases.csv").read_text().splitlines())
    assert row == {
        "case_id": "trip",
        "library": "numpy",
        "root_cause": "API misuse",
        "exception": "zerodivisionerror",
        "diagnosis": "a is 0, so 1 / a is undefined",
    }
    verified = crane(f"verify {lab}")
    assert verified.code == 0 and "1  as recorded" in verified.out
    assert crane(f"import {lab}").code == 0
    told = crane(
        "sql",
        "SELECT library, diagnosis, exception FROM cases WHERE benchmark = 'lab'",
        "--json",
    )
    assert (
        json.loads(told.out)[0]["diagnosis"] == "a is 0, so 1 / a is undefined"
    )


@pytest.mark.slow
def test_an_edit_makes_the_fixed_notebook(crane: Run, lab: Path) -> None:
    one = write_notebook(
        lab.parent / "one.ipynb",
        [*CRASHING, "b = 2"],
        error="ZeroDivisionError",
        target=1,
    )
    (lab.parent / "fix.py").write_text("1 / (a + 1)")
    edit = f"1={lab.parent / 'fix.py'}"
    said = crane(
        f"add-case --name trip --to {lab} --crashing {one} --edit {edit} --json",
    )
    assert (said.code, json.loads(said.out)["n_differ"]) == (0, 1)
    fixed = json.loads((lab / "trip_fixed.ipynb").read_text())
    assert [cell["source"] for cell in fixed["cells"]] == [
        "a = 0",
        "1 / (a + 1)",
        "b = 2",
    ]
    assert not any(cell["outputs"] for cell in fixed["cells"])
    assert crane(f"verify {lab}").code == 0
    again = crane(
        f"add-case --name trip --to {lab} --crashing {one} --edit {edit}"
    )
    assert again.code == 1 and "has trip_fixed.ipynb already" in again.err


@pytest.mark.parametrize(
    ("crashing", "fixed", "error", "more", "words"),
    [
        (["a = 1", "1 / a"], FIXED, None, (), "raises nothing in 2 code cells"),
        (
            CRASHING,
            ["a = 0", "1 / a"],
            None,
            (),
            "the fixed notebook does not run through: code cell 1 raised",
        ),
        pytest.param(
            *(
                CRASHING,
                ["a = 0"],
                None,
                (),
                "there is no code cell 1; the notebook has 1",
            ),
            marks=pytest.mark.slow,
        ),
        pytest.param(
            *(
                ["1 / 0", "1 / 0"],
                FIXED,
                None,
                ("--target", "1"),
                "code cell 0, before the target 1, raises ZeroDivision",
            ),
            marks=pytest.mark.slow,
        ),
        pytest.param(
            *(
                CRASHING,
                FIXED,
                "KeyError",
                (),
                "raises ZeroDivisionError, but its error output says KeyError",
            ),
            marks=pytest.mark.slow,
        ),
        pytest.param(
            *(
                ["import no_such_module_here"],
                ["1"],
                None,
                (),
                "cannot run here: a module is missing",
            ),
            marks=pytest.mark.slow,
        ),
        pytest.param(
            *(
                ["while True: pass"],
                ["1"],
                None,
                ("--timeout-s", "1"),
                "did not come to an end",
            ),
            marks=pytest.mark.slow,
        ),
        (
            CRASHING,
            CRASHING,
            "ZeroDivisionError",
            ("--no-run",),
            "The two notebooks have the same code",
        ),
        (
            CRASHING,
            FIXED,
            None,
            ("--no-run",),
            "no error output, so its target cell is unknown",
        ),
        (
            CRASHING,
            FIXED,
            "KeyError",
            ("--no-run", "--target", "0"),
            "that of code cell 1, not of 0",
        ),
        (
            CRASHING,
            FIXED,
            "KeyError",
            ("--name", "../trip"),
            "cannot be the name of a case",
        ),
        (
            CRASHING,
            FIXED,
            "KeyError",
            ("--name", "trip_fixed"),
            "cannot be the name of a case",
        ),
    ],
)
def test_what_is_no_case_is_told_in_one_line_and_nothing_is_written(
    crane: Run,
    lab: Path,
    crashing: list[str],
    fixed: list[str],
    error: str | None,
    more: tuple[str, ...],
    words: str,
) -> None:
    said = add(crane, lab, crashing, fixed, *more, error=error)
    assert (said.code, said.out) == (1, "")
    assert words in said.err and said.err.splitlines()[-1].startswith("error: ")
    assert not lab.exists()


@pytest.mark.slow
def test_a_crash_that_is_different_the_second_time_is_no_case(
    crane: Run, lab: Path, tmp_path: Path
) -> None:
    flag = tmp_path / "ran"
    once = f"import pathlib\nflag = pathlib.Path({str(flag)!r})\nseen = flag.exists()\nflag.touch()"
    said = add(
        crane,
        lab,
        [once, "raise (KeyError if seen else ValueError)(1)"],
        ["1", "1"],
    )
    assert said.code == 1
    assert (
        "differ: ValueError in code cell 1 and KeyError in code cell 1"
        in said.err
    )
    assert not lab.exists()


@pytest.mark.slow
def test_more_than_one_changed_cell_is_warned_of(crane: Run, lab: Path) -> None:
    said = add(crane, lab, CRASHING, ["a = 1", "1 / (a + 1)"])
    assert (
        said.code == 0
        and "2 code cells differ" in said.out
        and "warning: a fix should change one cell" in said.out
    )


@pytest.mark.slow
def test_without_a_run_it_says_so(crane: Run, lab: Path) -> None:
    said = add(crane, lab, CRASHING, FIXED, "--no-run", error="KeyError")
    assert said.code == 0 and "not executed" in said.out
    assert crane(f"verify {lab}").code == 1


def test_a_second_case_joins_the_table_and_a_broken_table_is_kept(
    crane: Run, lab: Path
) -> None:
    lab.mkdir()
    (lab / "cases.csv").write_text(
        "case_id,stage,library\ntour,modelling,torch\n"
    )
    assert (
        add(
            crane,
            lab,
            CRASHING,
            FIXED,
            "--library",
            "numpy",
            "--no-run",
            error="ZeroDivisionError",
        ).code
        == 0
    )
    rows = list(csv.DictReader((lab / "cases.csv").read_text().splitlines()))
    assert [(row["case_id"], row["stage"], row["library"]) for row in rows] == [
        ("tour", "modelling", "torch"),
        ("trip", "", "numpy"),
    ]
    (lab / "cases.csv").write_bytes(b"case_id\n\xff\n")
    said = add(
        crane,
        lab,
        CRASHING,
        FIXED,
        "--name",
        "other",
        "--no-run",
        error="ZeroDivisionError",
    )
    assert said.code == 1 and "cases.csv cannot be read" in said.err
    assert not (lab / "other_fixed.ipynb").exists()


def test_labels_stay_as_they_are_and_a_formula_is_refused(
    crane: Run, lab: Path
) -> None:
    told = ("--diagnosis", "'a' is \"zero\", so 1 / a fails", "--no-run")
    assert (
        add(crane, lab, CRASHING, FIXED, *told, error="ZeroDivisionError").code
        == 0
    )
    [row] = csv.DictReader(
        io.StringIO((lab / "cases.csv").read_text(), newline="")
    )
    assert row["diagnosis"] == told[1]
    kept = (lab / "cases.csv").read_bytes()
    more = ("--name", "other", "--diagnosis", "=HYPERLINK(1)", "--no-run")
    said = add(crane, lab, CRASHING, FIXED, *more, error="ZeroDivisionError")
    assert (
        said.code == 1
        and said.err.count("\n") == 1
        and "the diagnosis for a formula" in said.err
    )
    assert (lab / "cases.csv").read_bytes() == kept and not (
        lab / "other_fixed.ipynb"
    ).exists()
