"""Read-only folders, damaged databases, odd files in the ledger, a full disk: each verb says what is and goes on."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from crane_core.domain import InventoryAct, InventoryAction, Listed
from crane_core.errors import StoreError
from crane_core.ledger import append
from crane_core.pipeline import places
from crane_core.pipeline.inventory import acts, inventory_file
from crane_core.pipeline.loading.load import prepare
from crane_core.pipeline.places import DataFolder
from crane_core.verbs import remove
from tests.patience import PATIENCE_S
from tests.spoken import say
from tests.written_pairs import write_notebook


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> DataFolder:
    """A folder with the embedded data and one act in its ledger."""
    folder = DataFolder(tmp_path_factory.mktemp("whole"))
    append(
        inventory_file(folder),
        InventoryAct(
            Listed.RUN,
            "shipped",
            InventoryAction.RENAME,
            "2026",
            "ana",
            title="S",
        ),
    )
    prepare(folder).close()
    return folder


@pytest.fixture
def copy(whole: DataFolder, tmp_path: Path) -> DataFolder:
    shutil.copytree(whole.path, tmp_path / "data")
    return DataFolder(tmp_path / "data")


@pytest.fixture
def read_only(copy: DataFolder) -> DataFolder:
    """A folder that `beside_read_only` mounts read-only, which holds for the superuser too."""
    if shutil.which("bwrap") is None:
        pytest.skip(
            "bubblewrap, which mounts the folder read-only, is not installed"
        )
    return copy


def beside_read_only(
    folder: DataFolder, *arguments: str
) -> subprocess.CompletedProcess[str]:
    """A verb in a separate process, to which the folder is read-only."""
    mounts = [
        "--bind",
        "/",
        "/",
        "--dev-bind",
        "/dev",
        "/dev",
        "--proc",
        "/proc",
    ]
    mounts += ["--ro-bind", str(folder.path), str(folder.path)]
    verb = [
        sys.executable,
        "-m",
        "crane_core",
        "--data",
        str(folder.path),
        *arguments,
    ]
    return subprocess.run(
        ["bwrap", *mounts, *verb],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )


@pytest.mark.parametrize(
    ("verb", "words"),
    [
        (("sql", "SELECT title FROM inventory_acts"), "S"),
        pytest.param(
            ("doctor",), "Damaged database\n  none", marks=pytest.mark.slow
        ),
        pytest.param(
            ("report", "--table", "1"),
            "Applicable cases",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            ("backup", "{tmp}/kept"), "all checked", marks=pytest.mark.slow
        ),
        pytest.param(
            ("check", "{tmp}/a.ipynb"), "IndexError", marks=pytest.mark.slow
        ),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_what_only_reads_works_on_a_read_only_medium(
    read_only: DataFolder, tmp_path: Path, verb: tuple[str, ...], words: str
) -> None:
    write_notebook(
        tmp_path / "a.ipynb", ["v = [1]", "v[3]"], counts=[None, None]
    )
    done = beside_read_only(
        read_only, *(part.replace("{tmp}", str(tmp_path)) for part in verb)
    )
    assert (done.returncode, words in done.stdout) == (0, True), done.stderr


@pytest.mark.slow
def test_what_writes_is_refused_on_a_read_only_medium(
    read_only: DataFolder,
) -> None:
    refused = beside_read_only(read_only, "rename", "run", "shipped", "T")
    assert refused.returncode == 1
    assert "it is read-only. Use a writable folder" in refused.stderr


def test_a_read_only_folder_without_a_database_is_read_from_its_files(
    copy: DataFolder,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    copy.database.unlink()
    before = sorted(copy.path.rglob("*"))
    monkeypatch.setattr(places.DataFolder, "is_read_only", True)
    assert say(
        copy, capsys, "sql", "SELECT title FROM inventory_acts"
    ).out.endswith("S\n")
    assert sorted(copy.path.rglob("*")) == before
    with pytest.raises(StoreError, match="read-only"):
        prepare(copy)


@pytest.mark.parametrize(
    "eighths",
    [
        pytest.param((1, 4), id="two places"),
        pytest.param((2, 3, 5, 6, 7), marks=pytest.mark.slow, id="five more"),
    ],
)
def test_doctor_finds_random_bytes_anywhere_in_the_database(
    copy: DataFolder,
    whole: DataFolder,
    capsys: pytest.CaptureFixture[str],
    eighths: tuple[int, ...],
) -> None:
    n_bytes = whole.database.stat().st_size
    for eighth in eighths:
        shutil.copyfile(whole.database, copy.database)
        with copy.database.open("r+b") as file:
            file.seek(n_bytes * eighth // 8)
            file.write(random.Random(eighth).randbytes(200_000))
        told = say(copy, capsys, "doctor")
        assert told.code == 1, eighth
        damage = told.out.split("Damaged database\n")[1].split("\nInstalled")[0]
        assert "checksum" in damage and "rebuild" in damage, eighth
    assert say(whole, capsys, "doctor").code == 0


def test_doctor_names_what_is_odd_in_the_ledger_and_does_not_wait_for_it(
    copy: DataFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = copy.ledger / "runs"
    runs.mkdir(exist_ok=True)
    os.mkfifo(runs / "pipe.jsonl")
    (runs / "zero.jsonl").symlink_to("/dev/zero")
    (runs / "loop.jsonl").symlink_to("loop.jsonl")
    (copy.ledger / "notes.txt").write_text("mine")
    (copy.ledger / "other.jsonl").write_text('{"a": 1}\n')
    [entry] = (copy.ledger / ".manifest").glob("*.json")
    told = {}
    for garbage in ("", "{broken"):
        entry.write_text(garbage)
        told[garbage] = say(copy, capsys, "doctor").out
    no_file = "is a device, pipe, socket or link, not a file. Remove it."
    for name in ("pipe", "zero", "loop"):
        assert f"ledger/runs/{name}.jsonl {no_file}" in told[""]
    assert (
        "ledger/notes.txt is not a file of the ledger. Move it out of the data folder."
        in told[""]
    )
    assert "ledger/other.jsonl holds no line of a ledger." in told[""]
    assert f"ledger/.manifest/{entry.name} is empty, so a loss in" in told[""]
    assert (
        f"ledger/.manifest/{entry.name} cannot be read as an entry of the manifest"
        in told["{broken"]
    )


def test_an_act_is_told_as_done_where_the_database_cannot_follow(
    copy: DataFolder,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The disk is full from the second opening on, which brings the database up to what was done."""

    def full(*_: object) -> None:
        raise StoreError(
            "The database refused a change: No space left on device.",
            remedy="Free some space.",
        )

    monkeypatch.setattr(remove, "prepare_or_read", full)
    told = say(copy, capsys, "rename", "run", "shipped", "New name")
    assert told.code == 1
    assert told.out == "renamed: run shipped is shown as New name\n"
    assert (
        "error: That is saved, but the database does not show it yet"
        in told.err
    )
    assert [act.title for act in acts(copy)] == ["S", "New name"]


def test_a_question_that_takes_too_long_is_stopped(
    whole: DataFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    endless = "SELECT count(*) FROM range(100000000) a, range(100000) b"
    told = say(whole, capsys, "sql", "--timeout-s", "0.5", endless)
    assert (told.code, told.out) == (1, "")
    assert "took longer than 0.5 s and was stopped" in told.err


@pytest.mark.slow
@pytest.mark.skipif(
    not hasattr(os, "mkfifo"), reason="this system has no pipes with names"
)
def test_pipes_and_loops_beside_pairs_are_left_out(
    copy: DataFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lab = tmp_path / "lab"
    write_notebook(
        lab / "trip_reproduced.ipynb", ["1 / 0"], error="ZeroDivisionError"
    )
    write_notebook(lab / "trip_fixed.ipynb", ["1 / 1"])
    os.mkfifo(lab / "pipe")
    (lab / "loop").symlink_to("loop")
    (lab / "self").symlink_to(lab)
    assert say(copy, capsys, "verify", str(lab)).code == 0
    told = say(copy, capsys, "import", str(lab))
    assert (
        "loop, archive member: it is a link that leads to itself; skipped"
        in told.out
    )
    assert "pipe, archive member: it is not a regular file; skipped" in told.out
