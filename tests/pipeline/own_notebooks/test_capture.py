"""`capture` writes a whole file or none, and `import` takes it in as the state of its notebook."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from crane_core.cli import main
from crane_core.domain import Setting
from crane_core.errors import KernelError
from crane_core.pipeline.loading.load import prepare
from crane_core.pipeline.own_notebooks.capture_many import capture_to_file
from crane_core.pipeline.places import CHECKOUT, DataFolder
from crane_core.storage import cases

WritePair = Callable[..., tuple[Path, Path]]
PAIR = CHECKOUT / "data" / "minibench" / "benchmark" / "pandas_1"
CRASHING = PAIR / "pandas_1_reproduced.ipynb"


@pytest.mark.slow
def test_the_file_is_whole_or_as_it_was(
    write_pair: WritePair, tmp_path: Path
) -> None:
    path, _ = write_pair(
        tmp_path / "pair", "pool_1", [("lanes = 1 / 0", 1), ("lanes", 2)]
    )
    out = tmp_path / "state.json"
    out.write_text("before")
    with pytest.raises(KernelError):
        capture_to_file(path, out)
    assert out.read_text() == "before"
    captured = capture_to_file(path, out, keep_going=True)
    assert json.loads(out.read_text()) == json.loads(
        json.dumps(captured.to_json())
    )
    assert stat.S_IMODE(out.stat().st_mode) == stat.S_IMODE(path.stat().st_mode)
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "pair",
        "state.json",
    ]


def test_a_folder_that_is_missing_is_told_before_a_cell_runs(
    write_pair: WritePair, tmp_path: Path
) -> None:
    path, _ = write_pair(
        tmp_path, "pool_1", [("open('ran', 'w')", 1), ("1", 2)]
    )
    with pytest.raises(FileNotFoundError) as refused:
        capture_to_file(path, tmp_path / "missing" / "state.json")
    assert refused.value.filename == str(tmp_path / "missing" / "state.json")
    assert not (tmp_path / "ran").exists()


@pytest.mark.slow
def test_a_captured_state_is_imported_and_stands_beside_its_cells(
    folder: DataFolder,
    write_pair: WritePair,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    crashing, fixed = write_pair(tmp_path / "pair", "pool_1")
    assert (
        main(["--data", str(folder.path), "import", str(crashing), str(fixed)])
        == 0
    )
    out = tmp_path / "pool_1_reproduced.json"
    command = [
        "--data",
        str(folder.path),
        "capture",
        str(crashing),
        "--out",
        str(out),
        "--benchmark",
        "pool_1",
    ]
    capsys.readouterr()
    assert main([*command, "--probe", "1 + 1", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed == {"out": str(out)} | json.loads(out.read_text())
    assert printed["probes"][0]["before"] == printed["probes"][0]["after"] == 2
    assert main(["--data", str(folder.path), "import", str(out), "--json"]) == 0
    [imported] = json.loads(capsys.readouterr().out)["imports"]
    assert (imported["kind"], imported["problems"]) == ("captured-states", [])
    store = prepare(folder)
    states = cases.kernel_states(store.cursor(), "pool-1", "pool_1")
    store.close()
    [stored] = states.to_dict("records")
    assert (stored["version"], stored["setting"], stored["origin"]) == (
        "reproduced",
        Setting.RUNTIME_PLUS,
        "capture",
    )
    state = json.loads(stored["state"])
    assert state["variables"] == printed["variables"]
    assert state["captured"]["cells"] == printed["captured"]["cells"]


@pytest.mark.slow
def test_a_shipped_state_is_what_is_captured_today(
    root: Path, tmp_path: Path
) -> None:
    out = tmp_path / "state.json"
    assert (
        main(
            [
                "capture",
                str(CRASHING),
                "--out",
                str(out),
                "--benchmark",
                "minibench",
            ]
        )
        == 0
    )
    today = json.loads(out.read_text("utf-8"))
    shipped = json.loads(
        (
            root / "data" / "minibench" / "states" / "pandas_1_reproduced.json"
        ).read_text("utf-8")
    )
    for part in (
        "schema_version",
        "target",
        "benchmark",
        "variables",
        "accesses",
        "absent",
        "unavailable",
    ):
        assert shipped[part] == today[part]


def test_a_state_of_a_notebook_that_is_not_loaded_waits_for_it(
    folder: DataFolder,
    write_pair: WritePair,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path, _ = write_pair(tmp_path / "pair", "pool_1")
    out = tmp_path / "pool.json"
    assert (
        main(["capture", str(path), "--out", str(out), "--benchmark", "pool_1"])
        == 0
    )
    assert main(["--data", str(folder.path), "import", str(out)]) == 0
    assert (
        "pool-1 has no such instance yet; its rows in kernel_states (1) count once it is imported"
        in (capsys.readouterr().out)
    )


def test_in_words_what_was_captured(
    write_pair: WritePair, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cells = [
        (
            "import threading, time; threading.Thread(target=time.sleep, args=(60,), name='coach').start()",
            1,
        ),
        ("1 / 0", 2),
        ("lanes = []", 3),
        ("lanes, missing", 4),
    ]
    path, _ = write_pair(tmp_path, "pool_1", cells)
    command = [
        "capture",
        str(path),
        "--out",
        str(tmp_path / "s.json"),
        "--keep-going",
        "--probe",
        "len(lanes)",
    ]
    assert main(command) == 0
    said = capsys.readouterr().out
    assert "kernel state before code cell 3 of pool_1_reproduced.ipynb" in said
    assert "3 cells ran in" in said
    assert "1 variable: lanes" in said
    assert "code cell 1 raised ZeroDivisionError: division by zero" in said
    assert "missing" in said
    assert "probe len(lanes): 0, then 0" in said
    assert "was still running and was stopped: thread coach" in said


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--target", "9"], "there is no code cell 9"),
        (
            ["--python", "no-such-python"],
            "The program no-such-python does not exist",
        ),
        (
            ["--kernel", "no-such-kernel"],
            "The kernelspec 'no-such-kernel' is not installed",
        ),
    ],
)
def test_what_cannot_be_captured_is_one_line_and_exit_1(
    write_pair: WritePair,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    said: str,
) -> None:
    path, _ = write_pair(tmp_path, "pool_1")
    assert (
        main(
            ["capture", str(path), "--out", str(tmp_path / "s.json"), *options]
        )
        == 1
    )
    progress, error = capsys.readouterr().err.splitlines()
    assert progress.startswith("Running the cells")
    assert error.startswith("error: ") and said in error
    assert not (tmp_path / "s.json").exists()


@pytest.mark.parametrize(
    "options",
    [
        ["--timeout-s", "0"],
        ["--timeout-s", "nan"],
        ["--memory-mib", "-1"],
        ["--python", "a", "--kernel", "b"],
    ],
)
def test_wrong_usage_is_exit_2(options: list[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["capture", str(CRASHING), "--out", "s.json", *options])
    assert left.value.code == 2
