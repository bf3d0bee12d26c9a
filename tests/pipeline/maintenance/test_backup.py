"""A backup holds all that was acknowledged, is taken beside a running app, and comes back whole or not at all."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks._server import CHECKOUT, serve
from crane_core import ledger
from crane_core.domain import AnnotatorKind, Judgement, Label, Setting
from crane_core.errors import LedgerError, SourceError
from crane_core.pipeline.loading.load import import_paths, prepare
from crane_core.pipeline.loading.losses import losses
from crane_core.pipeline.maintenance.backup import back_up, restore
from crane_core.pipeline.places import DataFolder
from tests.stored import counts, labels_of

LABEL = Judgement(
    "minibench",
    "numpy_1_reproduced",
    "own",
    Setting.CODE,
    "own-1",
    "ann",
    AnnotatorKind.HUMAN,
    Label.PARTIAL,
)
LINE = (
    '{"instance": "numpy_1_fixed", "benchmark": "minibench", "detector": "Mine", "setting": "code", '
    '"index": 1, "crashes": true}\n'
)


def files(folder: DataFolder) -> dict[str, bytes]:
    """Sources and ledger by path; the manifest is asked by `losses`."""
    return {
        path.relative_to(folder.path).as_posix(): path.read_bytes()
        for part in (folder.sources, folder.ledger)
        for path in part.rglob("*")
        if path.is_file() and ".manifest" not in path.parts
    }


@pytest.fixture
def used(folder: DataFolder, tmp_path: Path) -> DataFolder:
    """A data folder with an imported source and two labels."""
    source = tmp_path / "mine.jsonl"
    source.write_text(LINE)
    import_paths([source], folder)
    prepare(folder).close()
    ledger.append(
        labels_of(folder), LABEL, replace(LABEL, instance_id="numpy_1_fixed")
    )
    return folder


@pytest.mark.slow
def test_what_comes_back_is_what_was_there(
    used: DataFolder, tmp_path: Path
) -> None:
    before, tables = files(used), counts(used)
    done = back_up(used, tmp_path / "backup")
    assert (done.sources, done.ledger_files) == (1, 1)
    assert not (tmp_path / "backup" / used.database.name).exists()
    other = DataFolder(tmp_path / "other")
    other.path.mkdir()
    restore(tmp_path / "backup", other)
    assert files(other) == before
    assert losses(other) == []
    assert counts(other) == tables


@pytest.mark.slow
def test_a_backup_beside_a_writer_has_every_line_that_was_acknowledged(
    used: DataFolder, tmp_path: Path
) -> None:
    stop, n_written = threading.Event(), [2]

    def write() -> None:
        while not stop.is_set():
            ledger.append(
                labels_of(used),
                replace(LABEL, instance_id=f"{n_written[0]}" * 100),
            )
            n_written[0] += 1

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for number in range(15):
            n_before = n_written[0]
            out = DataFolder(tmp_path / f"backup{number}")
            back_up(used, out.path)
            assert losses(out) == []
            lines = labels_of(out).read_bytes()
            assert lines.endswith(b"\n")
            assert lines.count(b"\n") >= n_before
    finally:
        stop.set()
        writer.join()
    assert n_written[0] > 15


def test_a_damaged_folder_is_not_backed_up(
    used: DataFolder, tmp_path: Path
) -> None:
    labels_of(used).unlink()
    with pytest.raises(
        LedgerError,
        match=r"cannot be backed up: ledger/labels/pilot/ann.jsonl is missing",
    ):
        back_up(used, tmp_path / "backup")
    assert not (tmp_path / "backup").exists()


@pytest.mark.parametrize(
    "part", ["ledger/labels/pilot/ann.jsonl", "sources/*/mine.jsonl"]
)
def test_a_damaged_backup_is_not_restored(
    used: DataFolder, tmp_path: Path, part: str
) -> None:
    backup = tmp_path / "backup"
    back_up(used, backup)
    [path] = backup.glob(part)
    path.write_bytes(
        path.read_bytes().replace(b"numpy_1_fixed", b"numpy_2_fixed")
    )
    other = DataFolder(tmp_path / "other")
    other.path.mkdir()
    with pytest.raises(LedgerError, match="is damaged: "):
        restore(backup, other)
    assert list(other.path.iterdir()) == []


def test_nothing_is_written_over_and_a_backup_does_not_lie_in_what_it_saves(
    used: DataFolder, tmp_path: Path
) -> None:
    with pytest.raises(SourceError, match="lies in the data folder itself"):
        back_up(used, used.path / "backup")
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "file").touch()
    with pytest.raises(SourceError, match="already exists"):
        back_up(used, tmp_path / "taken")
    back_up(used, tmp_path / "backup")
    before = files(used)
    with pytest.raises(SourceError, match="already has data"):
        restore(tmp_path / "backup", used)
    assert files(used) == before
    with pytest.raises(SourceError, match="is not a backup"):
        restore(tmp_path / "taken", DataFolder(tmp_path / "other"))


@pytest.mark.slow
def test_the_drill(used: DataFolder, tmp_path: Path) -> None:
    """The app runs while the backup is made, is killed, and its folder is lost; what comes back is whole."""

    def crane(data: Path, *words: str) -> str:
        command = [
            sys.executable,
            "-m",
            "crane_core",
            "--data",
            str(data),
            *words,
        ]
        return subprocess.run(
            command, cwd=CHECKOUT, capture_output=True, text=True, check=True
        ).stdout

    before = files(used)
    with serve(used.path, end_with=signal.SIGKILL):
        assert "1 sources, 1 ledger files" in crane(
            used.path, "backup", str(tmp_path / "backup")
        )
    shutil.rmtree(used.path)
    new = tmp_path / "new"
    assert "judgements" in crane(new, "restore", str(tmp_path / "backup"))
    assert files(DataFolder(new)) == before
    crane(new, "doctor")
    with serve(new):
        pass
