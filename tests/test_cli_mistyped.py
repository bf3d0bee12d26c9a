"""Commands as somebody mistypes them: one line that says what is wrong, what was meant, and how it is typed here."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from crane_core import terminal
from crane_core.cli import main
from crane_core.pipeline.places import CHECKOUT
from crane_core.spelling import did_you_mean, nearest

MISTYPED = {
    "chek x.ipynb": "'chek' is not a command; did you mean check?",
    "CHECK x.ipynb": "'CHECK' is not a command; did you mean check?",
    "add_case": "'add_case' is not a command; did you mean add-case?",
    "help": "'help' is not a command; did you mean --help?",
    "dream": "'dream' is not a command.",
    "campaign crate pilot": "'crate' is not a command; did you mean create?",
    "campaign": "python -m crane_core campaign needs the name of a command.",
    "": "python -m crane_core needs the name of a command.",
    "--hepl": "--hepl is unknown; did you mean --help?",
    "check --jsno x.ipynb": "--jsno is unknown; did you mean --json?",
    "check --bogus=1 x.ipynb": "--bogus is unknown.",
    "--json check x.ipynb": "--json stands behind the command that it belongs to.",
    "campaign status pilot --jsn2": "--jsn2 is unknown; did you mean --json?",
    "list benchmrk": "argument KIND: 'benchmrk' is unknown; did you mean benchmark?",
    "list xyzzy": "argument KIND: 'xyzzy' is unknown; choose from benchmark, source, run, campaign, answer.",
    "report --format mdd": "argument --format: 'mdd' is unknown; did you mean md?",
    "rebuild now": "'now' is one argument too many.",
    "import": "the following arguments are required: PATH.",
}


@pytest.mark.parametrize("typed", MISTYPED)
def test_wrong_usage_is_one_line_with_what_was_meant(
    typed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        main(typed.split())
    assert left.value.code == 2
    spoken = capsys.readouterr()
    assert spoken.out == ""
    assert spoken.err.startswith(
        f"error: {MISTYPED[typed]} See `python -m crane_core"
    )
    assert spoken.err.endswith("--help`.\n") and spoken.err.count("\n") == 1


def test_a_word_that_resembles_nothing_is_no_suggestion() -> None:
    assert nearest("gaurd", ["check", "guard"]) == "guard"
    assert nearest("dream", ["check", "guard"]) is None
    assert did_you_mean("chek", ["check"]) == "; did you mean check?"
    assert did_you_mean("dream", ["check"]) == ""


@pytest.mark.parametrize(
    ("argv", "python", "shown"),
    [
        (["/opt/env/bin/crane"], "/opt/env/bin/python", "crane"),
        (["/opt/env/bin/crane", "rebuild"], "/opt/env/bin/python", "crane"),
        (
            ["/lib/crane_core/__main__.py", "rebuild"],
            "python3.13",
            "python3.13 -m crane_core",
        ),
        (
            ["/lib/crane_core/__main__.py", "--data", "a b", "rebuild"],
            "python",
            "python -m crane_core --data 'a b'",
        ),
        (
            ["/opt/env/bin/crane", "rebuild", "--data=x"],
            "python",
            "crane --data x",
        ),
        (["/usr/bin/pytest", "--data", "x"], "python", "python -m crane_core"),
    ],
)
def test_a_command_in_a_message_is_called_as_this_one_was(
    argv: list[str], python: str, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", argv)
    monkeypatch.setattr(sys, "orig_argv", [python, *argv[1:]])
    monkeypatch.setattr(shutil, "which", lambda name: f"/opt/env/bin/{name}")
    assert (
        terminal.as_typed("See `list --removed`.")
        == f"See `{shown} list --removed`."
    )
    assert (
        terminal.as_typed("Run `python -m crane_core rebuild`.")
        == f"Run `{shown} rebuild`."
    )
    assert (
        terminal.as_typed("Run `crane_core rebuild`, `add-case`.")
        == f"Run `{shown} rebuild`, `{shown} add-case`."
    )
    assert (
        terminal.as_typed("List them: python -m crane_core check --attach.")
        == f"List them: {shown} check --attach."
    )
    assert terminal.as_typed(
        "`lists` and `make` are none, list and check neither"
    ) == ("`lists` and `make` are none, list and check neither")


def test_a_command_that_the_shell_does_not_find_is_named_by_its_path(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "argv", [".venv/bin/crane", "rebuild"])
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert (
        terminal.as_typed("See `list --removed`.")
        == "See `.venv/bin/crane list --removed`."
    )


def test_the_command_of_a_checkout_works_in_every_folder(
    tmp_path: Path, root: Path
) -> None:
    command = tmp_path / "bin" / "crane"
    command.parent.mkdir()
    subprocess.run(
        [sys.executable, root / "tools" / "launcher.py", root, command],
        check=True,
    )
    said = subprocess.run(
        [command, "chek"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert said.returncode == 2
    assert f"did you mean check? See `{command} --help`." in said.stderr
    assert "PYTHON_ARGCOMPLETE_OK" in command.read_text("utf-8")


@pytest.mark.slow
def test_help_and_refusals_name_the_interpreter_from_another_folder(
    tmp_path: Path,
) -> None:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [
            sys.executable,
            "-m",
            "crane_core",
            "--data",
            "mine",
            *arguments,
        ]
        environment = os.environ | {"PYTHONPATH": str(CHECKOUT)}
        return subprocess.run(
            command,
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    assert (
        f"example: {sys.executable} -m crane_core --data mine check trip.ipynb\n"
        in run("check", "--help").stdout
    )
    refused = run("restore", "run", "night")
    assert refused.returncode == 1
    assert (
        f"See `{sys.executable} -m crane_core --data mine list --removed`."
        in refused.stderr
    )
