"""`check --fix`: a diff that ran through in a copy, written on request; what does not fit together is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from crane_core.cli import main
from crane_core.llm.fake_server import FakeModel, FakePlan, fake_server
from crane_core.notebooks import read_code_cells
from tests.written_pairs import write_notebook

SETUP = "ages = {'north': 3}"
TARGET = "n = ages['North']\nm = n + 1"


@pytest.fixture
def notebook(tmp_path: Path) -> Path:
    return write_notebook(tmp_path / "beds.ipynb", [SETUP, TARGET])


def check(*arguments: object) -> int:
    return main(["--data", "unused", "check", *map(str, arguments)])


def test_a_fix_is_printed_and_written(
    notebook: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check(notebook, "--fix", "--write") == 0
    printed = capsys.readouterr()
    assert "fix: Write 'north' for 'North'.\n" in printed.out
    assert (
        "ran through; m is an int; the cells after it were not tried"
        in printed.out
    )
    assert "-n = ages['North']\n+n = ages['north']\n m = n + 1" in printed.out
    assert "was written to code cell 1 of beds.ipynb." in printed.err
    cells = read_code_cells(notebook.read_bytes())
    assert [cell.source for cell in cells] == [
        SETUP,
        TARGET.replace("North", "north"),
    ]


def test_without_write_the_file_stays_and_json_has_the_fix(
    notebook: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = notebook.read_bytes()
    assert check(notebook, "--fix", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    [fix] = told["fixes"]
    assert (fix["by"], fix["source"]) == ("rules", TARGET.replace("N", "n"))
    assert fix["rehearsal"]["outcome"] == "ran through"
    assert told["fixes_not_shown"] == {
        "crashed": 0,
        "not_rehearsable": 0,
        "refused": [],
    }
    assert notebook.read_bytes() == before


def test_a_cell_to_run_first_changes_no_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cells = ["x = 1", "def twice(n):\n    return 2 * n", "y = twice(x)"]
    path = write_notebook(
        tmp_path / "beds.ipynb", cells, counts=(1, None, 2), error="NameError"
    )
    before = path.read_bytes()
    assert check(path, "--fix", "--write") == 0
    printed = capsys.readouterr()
    assert "fix: Run code cell 1 first: it defines twice." in printed.out
    assert "was not changed: no fix edits the cell." in printed.err
    assert path.read_bytes() == before


@pytest.mark.slow
def test_a_target_without_a_crash_gets_no_fix(
    notebook: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check(notebook, "--target", "0", "--fix") == 0
    said = capsys.readouterr().out
    assert "fix: none. A fix is looked for where the target crashed" in said


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--write"], "Add --fix"),
        (["--fix", "--all"], "Leave out --all"),
        (["--fix", "--predict-only"], "Leave out one of them"),
        (["--fix", "--write", "--attach", "x"], "no file is changed"),
    ],
)
def test_options_that_do_not_fit(
    notebook: Path,
    options: list[str],
    words: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert check(notebook, *options) == 1
    assert words in capsys.readouterr().err


def test_where_nothing_may_run_nothing_is_fixed(
    notebook: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CRANE_ALLOW_EXECUTION", "0")
    assert check(notebook, "--fix") == 1
    assert "forbids running notebooks" in capsys.readouterr().err


FENCED = "The total is a text.\n```python\n{}\n```"


def test_a_model_proposes_where_no_rule_does(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = "total = sum(parts)"
    path = write_notebook(
        tmp_path / "sum.ipynb", ["parts = ['1', '2']", target]
    )
    replies = (
        FENCED.format("total = sum(map(int, parts))"),
        FENCED.format("total = 0"),
        FENCED.format("total = sum(map(list, parts))"),
        "I cannot.",
    )
    with fake_server(FakePlan(replies=replies)) as address:
        model = ("--model", "fake", "--base-url", address)
        done = check(path, "--fix", "--json", "--candidates", "4", *model)
    assert done == 0
    told = json.loads(capsys.readouterr().out)
    [fix] = told["fixes"]
    assert (fix["by"], fix["source"], fix["sentence"]) == (
        "fake",
        "total = sum(map(int, parts))",
        "The total is a text.",
    )
    assert fix["rehearsed"].startswith("ran through; total is an int;")
    assert told["fixes_not_shown"] == {
        "crashed": 1,
        "not_rehearsable": 0,
        "refused": [
            "the reply has not exactly one code block",
            "it replaces the code that crashed",
        ],
    }


def test_a_cell_with_a_key_is_sent_to_no_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = "password = 'hunter2hunter'\ntotal = sum(['1'])"
    path = write_notebook(tmp_path / "sum.ipynb", ["n = 1", target])
    served = FakeModel(FakePlan(replies=(FENCED.format("total = 1"),)))
    with fake_server(served) as address:
        model = ("--model", "fake", "--base-url", address)
        assert check(path, "--fix", *model) == 0
    said = capsys.readouterr().out
    assert "the cell holds a key or password" in said
    # The one question is the usual one, whether it will crash.
    assert served.requests["answered"] == 1
