"""`prompt` as its user has it: the prompt alone on stdout, to the byte; what it is on stderr; errors with a remedy."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from crane_core.cli import main
from crane_core.pipeline.places import DataFolder

NOTEBOOK = Path(
    "data", "minibench", "benchmark", "numpy_1", "numpy_1_reproduced.ipynb"
)


@pytest.fixture
def template(tmp_path: Path) -> Path:
    path = tmp_path / "mine.txt"
    path.write_bytes("Frage:\r\n{{body}}\u00e9".encode())
    return path


def test_no_cell_runs_where_that_is_forbidden(
    root: Path,
    folder: DataFolder,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("CRANE_ALLOW_EXECUTION", "0")
    arguments = ["--data", str(folder.path), "prompt", str(root / NOTEBOOK)]
    assert main([*arguments, "--setting", "runtime"]) == 1
    assert (
        "forbids running notebooks. Unset it, or use --setting code."
        in capfd.readouterr().err
    )
    assert main([*arguments, "--setting", "code"]) == 0


def test_stdout_holds_the_prompt_and_nothing_else(
    root: Path,
    folder: DataFolder,
    template: Path,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    arguments = [
        "--data",
        str(folder.path),
        "prompt",
        str(root / NOTEBOOK),
        "--setting",
        "code",
    ]
    assert main([*arguments, "--json"]) == 0
    told = json.loads(capfdbinary.readouterr().out)
    assert main([*arguments, "--template", str(template)]) == 0
    spoken = capfdbinary.readouterr()
    assert spoken.out == f"Frage:\r\n{told['body']}\u00e9".encode()
    assert b"numpy_1_reproduced: code, notebook in mine-" in spoken.err
    assert b" tokens (" in spoken.err
    assert told["prompt"].count(told["body"]) == 1
    assert told["sha256"] == hashlib.sha256(told["prompt"].encode()).hexdigest()
    assert told["tokens_are"] in ("exact", "estimate")
    assert (told["instance"], told["benchmark"], told["setting"]) == (
        "numpy_1_reproduced",
        None,
        "code",
    )


def test_an_instance_is_the_same_as_its_notebook(
    root: Path, folder: DataFolder, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    spoken = []
    for subject in ("numpy_1_reproduced", str(root / NOTEBOOK)):
        assert (
            main(
                [
                    "--data",
                    str(folder.path),
                    "prompt",
                    subject,
                    "--setting",
                    "code",
                ]
            )
            == 0
        )
        spoken.append(capfdbinary.readouterr().out)
    assert spoken[0] == spoken[1]
    assert spoken[0].endswith(b"\n")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (
            ["nobody_1_fixed", "--setting", "code"],
            "There is no instance nobody_1_fixed. Use an id with its version",
        ),
        (["torch_9_fixed", "--setting", "code"], "fetch crane-llm"),
        (["torch_9_fixed", "--setting", "runtime"], "fetch crane-llm"),
        (
            ["nowhere.ipynb", "--setting", "code"],
            "nowhere.ipynb cannot be read",
        ),
        (
            ["numpy_1_fixed", "--setting", "code", "--template", "nowhere.txt"],
            "Check the path after --template",
        ),
    ],
)
def test_a_refusal_is_one_line_with_a_remedy(
    folder: DataFolder,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    reason: str,
) -> None:
    assert main(["--data", str(folder.path), "prompt", *arguments]) == 1
    spoken = capsys.readouterr()
    assert spoken.out == ""
    assert reason in spoken.err
    assert spoken.err.count("\n") == 1


def test_a_template_without_a_placeholder_is_refused(
    folder: DataFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "t.txt"
    path.write_text("{body}")
    chosen = [
        "prompt",
        "numpy_1_fixed",
        "--setting",
        "code",
        "--template",
        str(path),
    ]
    assert main(["--data", str(folder.path), *chosen]) == 1
    assert (
        "with exactly one {{body}} where the input goes."
        in capsys.readouterr().err
    )


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("runtime-X", "did you mean runtime-V?"),
        ("state", "choose from code, runtime, "),
    ],
)
def test_a_setting_that_there_is_not_is_wrong_usage(
    setting: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        main(["prompt", "numpy_1_fixed", "--setting", setting])
    assert left.value.code == 2
    assert words in capsys.readouterr().err
