"""Files and folders that are written completely or not at all."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from crane_core.errors import NoteError
from crane_core.pipeline.fresh_folder import write_new_file


def test_a_file_that_is_there_stays_as_it_is(tmp_path: Path) -> None:
    out = tmp_path / "notes.csv"
    out.write_text("mine")
    with pytest.raises(NoteError, match=r"notes\.csv cannot be written"):
        write_new_file(out, "theirs", NoteError)
    assert out.read_text() == "mine"


def test_a_full_disk_leaves_no_half_of_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(self: io.TextIOWrapper) -> None:
        raise OSError(28, "No space left on device")

    class Full(io.TextIOWrapper):
        flush = fails

    out = tmp_path / "notes.csv"
    open_file = Path.open

    def opened(self: Path, mode: str, encoding: str) -> io.TextIOWrapper:
        open_file(self, mode, encoding=encoding).close()
        return Full(io.BytesIO(), encoding)

    monkeypatch.setattr(Path, "open", opened)
    with pytest.raises(NoteError, match="No space left"):
        write_new_file(out, "half", NoteError)
    assert not out.exists()
