"""The command `check`: verdict, evidence and remedy; a model over real HTTP; nothing runs where it is forbidden."""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
import pytest

from crane_core.cli import main
from crane_core.llm.fake_server import FakePlan, fake_server
from tests.written_pairs import write_notebook

SETUP = "import numpy as np\nlevels = np.zeros((48, 7))\nmeans = np.ones(48)"
TARGET = "anomaly = levels - means"


@pytest.fixture
def notebook(tmp_path: Path) -> Path:
    path = tmp_path / "tide.ipynb"
    cells = [nbformat.v4.new_code_cell(code) for code in (SETUP, TARGET)]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    return path


def check(data: Path, *arguments: str) -> int:
    return main(["--data", str(data), "check", *arguments])


def test_a_certain_crash_is_told_with_evidence_and_remedy(
    notebook: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check(tmp_path / "data", str(notebook)) == 0
    said = capsys.readouterr().out
    assert (
        "code cell 1 of tide.ipynb\npredicted: it will certainly crash" in said
    )
    assert "reason    ValueError" in said and "remedy" in said
    assert (
        "; levels was assigned in code cell 0; means was assigned in code cell 0\n"
        in said
    )
    assert "1 cell ran before it" in said


def test_the_same_as_json_past_a_cell_that_raises(
    notebook: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cells = [
        nbformat.v4.new_code_cell(code) for code in (SETUP, "1 / 0", TARGET)
    ]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), notebook)
    assert (
        check(tmp_path / "data", str(notebook), "--json", "--keep-going") == 0
    )
    told = json.loads(capsys.readouterr().out)
    assert (
        told["crashes"],
        told["executed"],
        told["target"],
        told["model"],
    ) == (
        True,
        True,
        2,
        None,
    )
    assert told["predicted"] == "crash"
    assert told["findings"][0]["exception"] == "ValueError"
    assert told["seconds_before"] > 0


@pytest.mark.slow
def test_no_certain_crash_is_no_promise(
    notebook: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check(tmp_path / "data", str(notebook), "--target", "0") == 0
    assert "never say that a cell is safe" in capsys.readouterr().out
    assert (
        check(tmp_path / "data", str(notebook), "--target", "0", "--json") == 0
    )
    told = json.loads(capsys.readouterr().out)
    assert (told["crashes"], told["predicted"], told["findings"]) == (
        None,
        "nothing certain",
        [],
    )


@pytest.mark.slow
def test_a_script_is_told_by_the_exit_code(
    notebook: Path, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    assert check(data, str(notebook), "--exit-code") == 3
    assert (
        check(data, str(notebook), "--exit-code", "--json", "--target", "0")
        == 0
    )
    assert check(data, str(tmp_path / "nowhere.ipynb"), "--exit-code") == 1


def test_a_model_is_asked_over_http(
    notebook: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with fake_server(FakePlan()) as address:
        assert (
            check(
                tmp_path / "data",
                str(notebook),
                "--model",
                "fake",
                "--base-url",
                address,
                "--json",
            )
            == 0
        )
    model = json.loads(capsys.readouterr().out)["model"]
    assert model["crashes"] in (True, False)
    assert model["reasoning"] and model["reply"] and model["input_tokens"] > 0


def test_the_verdict_of_the_rules_is_told_where_no_model_can_be_asked(
    notebook: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CRANE_ALLOW_EXECUTION", "0")
    nowhere = ("--model", "fake", "--base-url", "http://127.0.0.1:1/v1")
    assert check(tmp_path / "data", str(notebook), *nowhere) == 1
    printed = capsys.readouterr()
    assert "code cell 1 of tide.ipynb" in printed.out
    assert (
        "cannot be reached" in printed.err and "then ask again" in printed.err
    )


def test_a_model_without_a_key_is_refused_before_anything_runs(
    notebook: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert check(tmp_path / "data", str(notebook), "--model", "gpt-5") == 1
    printed = capsys.readouterr()
    assert "There is no key" in printed.err and "Running" not in printed.err


def test_where_it_is_forbidden_nothing_runs(
    notebook: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CRANE_ALLOW_EXECUTION", "0")
    assert check(tmp_path / "data", str(notebook), "--json") == 0
    printed = capsys.readouterr()
    told = json.loads(printed.out)
    assert (told["executed"], told["seconds_before"]) == (False, None)
    assert "forbids" in printed.err


def test_a_notebook_that_is_not_there_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check(tmp_path / "data", str(tmp_path / "none.ipynb")) == 1
    assert capsys.readouterr().err.count("\n") == 1


def test_a_rehearsal_is_told_beside_the_prediction(
    notebook: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check(tmp_path / "data", str(notebook)) == 0
    lines = capsys.readouterr().out.splitlines()
    begin = lines.index(
        "rehearsed in a copy of the kernel: crashed: ValueError"
    )
    assert lines[begin + 1] == "  line      1: anomaly = levels - means"
    assert lines[begin + 2].startswith(
        "  reason    ValueError: operands could not be broadcast together"
    )
    assert (
        check(tmp_path / "data", str(notebook), "--rehearse", "1.5", "--json")
        == 0
    )
    told = json.loads(capsys.readouterr().out)["rehearsal"]
    expected = {
        "outcome": "crash",
        "exception": "ValueError",
        "line": 1,
        "limit_s": 1.5,
        "executed_in_a_copy": True,
    }
    assert expected.items() <= told.items()


def test_a_prediction_alone_runs_no_target(
    notebook: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "data"
    assert check(data, str(notebook), "--predict-only", "--json") == 0
    assert json.loads(capsys.readouterr().out)["rehearsal"] is None
    with pytest.raises(SystemExit) as refused:
        check(data, str(notebook), "--predict-only", "--rehearse", "3")
    assert refused.value.code == 2


def test_what_no_rule_predicts_and_crashes_in_the_copy_is_an_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cells = ["digits = list(map(int, str(2**70)))", "assert sum(digits) < 0"]
    notebook = write_notebook(tmp_path / "sum.ipynb", cells)
    data = tmp_path / "data"
    assert check(data, str(notebook), "--exit-code", "--json") == 3
    told = json.loads(capsys.readouterr().out)
    assert (told["predicted"], told["crashes"]) == ("nothing certain", None)
    assert told["rehearsal"]["exception"] == "AssertionError"
    predicted = check(data, str(notebook), "--exit-code", "--predict-only")
    assert predicted == 0


@pytest.mark.slow
def test_cells_run_a_second_time_only_for_who_asks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cells = [
        "import threading, time\n"
        "open('ran.txt', 'a').write('x')\n"
        "ends = threading.Event()\n"
        "beside = threading.Thread(target=ends.wait, daemon=True)\n"
        "beside.start()",
        "ends.set()\nbeside.join()",
    ]
    notebook = write_notebook(tmp_path / "thread.ipynb", cells)
    data = tmp_path / "data"
    assert check(data, str(notebook)) == 0
    assert "--rehearse runs the cells once more" in capsys.readouterr().out
    assert (tmp_path / "ran.txt").read_text() == "x"
    assert check(data, str(notebook), "--rehearse") == 0
    assert "in a second kernel" in capsys.readouterr().out


def test_nothing_is_rehearsed_where_it_is_forbidden(
    notebook: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CRANE_ALLOW_EXECUTION", "0")
    assert check(tmp_path / "data", str(notebook), "--rehearse", "--json") == 0
    assert json.loads(capsys.readouterr().out)["rehearsal"] is None


def test_several_notebooks_have_a_verdict_each_and_one_exit_code(
    notebook: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fine = write_notebook(tmp_path / "fine.ipynb", ["a = 1", "a"])
    data = tmp_path / "data"
    assert check(data, str(fine), str(notebook)) == 0
    said = capsys.readouterr().out
    assert "code cell 1 of fine.ipynb\npredicted: nothing certain" in said
    assert (
        "code cell 1 of tide.ipynb\npredicted: it will certainly crash" in said
    )
    assert said.endswith(
        "2 notebooks: 1 with a predicted crash, 1 crashed in a copy\n"
    )
    assert check(data, str(fine), str(notebook), "--exit-code") == 3
    capsys.readouterr()
    broken = tmp_path / "broken.ipynb"
    broken.write_text("{")
    assert check(data, str(broken), str(notebook), "--exit-code", "--json") == 1
    spoken = capsys.readouterr()
    told = json.loads(spoken.out)
    assert (told["predicted_crashes"], told["failed"]) == (1, 1)
    assert [entry["notebook"] for entry in told["notebooks"]] == [
        str(broken),
        str(notebook),
    ]
    assert "not a readable notebook" in told["notebooks"][0]["error"]
    assert told["notebooks"][1]["findings"][0]["exception"] == "ValueError"
    assert "error: " in spoken.err


@pytest.mark.parametrize("option", [["--target", "1"], ["--attach", "x"]])
def test_what_is_about_one_notebook_is_refused_for_several(
    notebook: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    option: list[str],
) -> None:
    assert (
        check(
            tmp_path / "data",
            str(notebook),
            str(tmp_path / "other.ipynb"),
            *option,
        )
        == 1
    )
    assert (
        capsys.readouterr().err
        == f"error: {option[0]} is about one notebook. Name one, or leave out {option[0]}.\n"
    )


def test_what_is_no_notebook_is_told_as_what_it_is(
    notebook: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    files = {
        "notes.txt": b"hello",
        "tide.py": b"a = 1",
        "tide.json": b"[]",
        "tide.png": b"\x89PNG\0",
    }
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    (tmp_path / "state.json").write_text('{"schema_version": 2}')
    expected = {
        "notes.txt": ("is a text, not a notebook.", "one of its code cells"),
        "tide.py": (
            "is a Python script, not a notebook.",
            "jupytext --to notebook tide.py",
        ),
        "tide.json": ("is JSON, but not a notebook.", "Name an .ipynb file"),
        "tide.png": (
            "is neither a notebook nor a text.",
            "Name an .ipynb file",
        ),
        "state.json": (
            "is a kernel state that was captured, not a notebook.",
            "Name the notebook",
        ),
        "empty": ("is a folder without notebooks.", "Name an .ipynb file"),
        ".": (
            "is a folder with 1 notebook, not a notebook.",
            f"such as {notebook}",
        ),
        "nowhere.ipynb": (
            "cannot be read: No such file or directory.",
            "Check the path",
        ),
    }
    for name, (what, remedy) in expected.items():
        assert check(tmp_path / "data", str(tmp_path / name)) == 1
        told = capsys.readouterr().err
        assert told.count("\n") == 1 and what in told and remedy in told, name
