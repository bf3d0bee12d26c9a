"""`check --all` as pipelines call it: exit codes, reports as files, the hook and the action of this repository."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import pytest
import yaml

from crane_core.pipeline.places import DataFolder
from tests.spoken import Run, speaker
from tests.written_pairs import write_notebook

ROOT = Path(__file__).resolve().parents[2]
BASH = shutil.which("bash")


@pytest.fixture
def check(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Run:
    """`check --all` in an empty folder with three notebooks."""
    here = tmp_path / "here"
    write_notebook(here / "fine.ipynb", ["a = 1", "a"])
    write_notebook(here / "late.ipynb", ["b", "b = 1"])
    (here / "empty.ipynb").write_bytes(b"")
    monkeypatch.chdir(here)
    data = DataFolder(tmp_path / "data")
    return speaker(data.path, capsys, "check", "--all")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("fine.ipynb", 0),
        ("late.ipynb", 1),
        ("late.ipynb --exit-code", 3),
        ("empty.ipynb", 1),
        ("empty.ipynb --exit-code", 1),
        ("empty.ipynb late.ipynb --exit-code", 3),
        (".", 1),
    ],
)
def test_the_exit_code_tells_crashes_from_refusals(
    check: Run, words: str, code: int
) -> None:
    assert check(f"--no-run {words}").code == code


def test_one_report_holds_all_notebooks_in_several_forms(check: Run) -> None:
    said = check(". --no-run --format json --report out.xml --report a.sarif")
    assert len(json.loads(said.out)["notebooks"]) == 3
    assert len(Xml.parse("out.xml").getroot()) == 3
    assert json.loads(Path("a.sarif").read_text())["version"] == "2.1.0"
    assert check("--no-run --json fine.ipynb").out.startswith('{"notebooks"')


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("", "No notebook is named. Name notebooks or folders"),
        ("fine.ipynb --target 1", "--target is about one cell"),
        ("fine.ipynb --attach x", "--attach is about one cell"),
        ("fine.ipynb --predict-only", "--no-run executes nothing"),
        ("fine.ipynb --rehearse 3", "--rehearse is about one cell"),
        ("fine.ipynb --model m", "--model is about one cell"),
        ("fine.ipynb --report out.html", "names no form of a report"),
        ("--changed-since HEAD", "git"),
    ],
)
def test_what_does_not_fit_is_refused_before_anything_runs(
    check: Run, words: str, said: str
) -> None:
    told = check(words)
    assert (told.code, told.out) == (1, "")
    assert said in told.err


@pytest.mark.parametrize(
    "option",
    ["--no-run", "--format text", "--report a.xml", "--changed-since x"],
)
def test_options_of_whole_notebooks_need_all(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, option: str
) -> None:
    one = speaker(tmp_path / "data", capsys, "check")
    assert "is for whole notebooks. Add --all." in one(f"a.ipynb {option}").err


def test_nothing_runs_where_it_is_forbidden(
    check: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRANE_ALLOW_EXECUTION", "0")
    said = check("late.ipynb")
    assert "only the code is checked" in said.err
    assert "late.ipynb: 2 code cells, not run" in said.out


@pytest.mark.slow
def test_cells_run_by_default_and_lines_that_install_are_left_out(
    check: Run,
) -> None:
    write_notebook(Path("install.ipynb"), ["%pip install nothing", "1"])
    said = check("install.ipynb late.ipynb")
    assert said.code == 1
    assert "Not run: 1 line that installs packages" in said.err
    assert "cell 0: raised NameError, predicted NameError" in said.out


def test_the_hooks_call_what_the_command_takes(check: Run) -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert [hook["id"] for hook in hooks] == ["crane-check", "crane-check-run"]
    for hook in hooks:
        program, verb, *words = hook["entry"].split()
        assert (program, verb, words[0]) == ("crane", "check", "--all")
        options = {*words[1:], "--no-run"}
        assert check(f"{' '.join(options)} late.ipynb").code == 1


def _action() -> dict[str, Any]:
    made: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text())
    return made


def test_the_action_pastes_no_text_of_a_workflow_into_a_shell() -> None:
    action = _action()
    for step in action["runs"]["steps"]:
        assert "${{" not in step["run"]
    used = json.dumps(action["runs"])
    assert all(f"inputs.{name}" in used for name in action["inputs"])


@pytest.mark.skipif(BASH is None, reason="bash is not installed")
@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        (
            {
                "CRANE_RUN": "false",
                "CRANE_SINCE": "main",
                "CRANE_NOTEBOOKS": "",
            },
            ["--changed-since", "main", "--no-run", "--"],
        ),
        (
            {
                "CRANE_RUN": "false",
                "CRANE_REPORT": "a b.sarif",
                "CRANE_NOTEBOOKS": "one two.ipynb\n\n$(touch no)\n",
            },
            [
                *("--no-run", "--report", "a b.sarif"),
                *("--", "one two.ipynb", "$(touch no)"),
            ],
        ),
    ],
)
def test_the_action_calls_check_and_ends_as_it_does(
    tmp_path: Path, inputs: dict[str, str], words: list[str]
) -> None:
    program = tmp_path / "crane" / "bin" / "crane"
    program.parent.mkdir(parents=True)
    program.write_text(
        f"#!{BASH}\nprintf '%s\\n' \"$@\" > {tmp_path}/words\nexit 3\n"
    )
    program.chmod(0o755)
    result = tmp_path / "output"
    script = _action()["runs"]["steps"][-1]["run"]
    empty = dict.fromkeys(("CRANE_SINCE", "CRANE_REPORT"), "")
    done = subprocess.run(
        [str(BASH), "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
        cwd=tmp_path,
        env=os.environ
        | empty
        | {"RUNNER_TEMP": str(tmp_path), "GITHUB_OUTPUT": str(result)}
        | inputs,
        check=False,
    )
    assert done.returncode == 3
    assert result.read_text() == "exit-code=3\n"
    called = (tmp_path / "words").read_text().splitlines()
    assert called[:5] == ["check", "--all", "--exit-code", "--format", "github"]
    assert called[5:] == words
