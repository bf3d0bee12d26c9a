"""The chain of a ledger file: whatever is changed, put in or taken out between two lines is found at its line."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from crane_core import ledger
from crane_core.domain import Run, Setting
from crane_core.ledger import manifest as ledger_manifest
from crane_core.ledger.chain import Break, breaks
from crane_core.ledger.manifest import ManifestEntry

RUN = Run(
    "mine",
    "a_1_fixed",
    "own",
    Setting.CODE,
    "here",
    1,
    crashes=True,
    reasoning="because",
)
N_LINES = 6


def runs(n: int, first: int = 1) -> list[Run]:
    return [replace(RUN, run_index=first + index) for index in range(n)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file of a ledger that keeps a manifest, with N_LINES lines that were written one by one."""
    (tmp_path / ledger_manifest.FOLDER).mkdir()
    file = tmp_path / "runs" / "own.jsonl"
    for run in runs(N_LINES):
        ledger.append(file, run)
    return file


def entry_of(path: Path) -> ManifestEntry | None:
    return ledger_manifest.read(ledger_manifest.entry_file(path))


@pytest.fixture
def started_anew(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Forget, as a process that starts does, where files ended."""
    return lambda: monkeypatch.setattr(ledger, "_ENDS", {})


def test_the_chain_of_what_was_written_is_whole_and_counted(path: Path) -> None:
    content = path.read_bytes()
    assert list(breaks(content)) == []
    assert entry_of(path) == ledger_manifest.of(content)
    assert ledger_manifest.of(content).n_lines == N_LINES
    assert [
        record
        for record in ledger.tail(path).records
        if isinstance(record, Run)
    ] == runs(N_LINES)


@pytest.mark.parametrize("line", range(1, N_LINES))
def test_a_changed_line_is_found_by_the_next(path: Path, line: int) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    lines[line - 1] = lines[line - 1].replace(b"because", b"Because")
    assert list(breaks(b"".join(lines))) == [Break(line, line)]


@pytest.mark.parametrize("line", range(2, N_LINES))
def test_a_line_that_was_taken_out_or_put_in_is_found(
    path: Path, line: int
) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    without = lines[: line - 1] + lines[line:]
    assert list(breaks(b"".join(without))) == [Break(line - 1, line - 1)]
    with_another = [*lines[:line], ledger.to_line(RUN), *lines[line:]]
    assert [found.last for found in breaks(b"".join(with_another))] == [
        line + 1
    ]


def test_a_changed_last_line_is_found_by_the_manifest_even_when_the_file_goes_on(
    path: Path,
) -> None:
    content = path.read_bytes().replace(b'"run_index": 6', b'"run_index": 7')
    path.write_bytes(content)
    entry = entry_of(path)
    assert entry is not None
    assert not ledger_manifest.holds(entry, content)
    ledger.append(path, RUN)
    assert entry_of(path) == entry


def test_an_old_file_without_a_chain_is_covered_from_the_next_line_on(
    tmp_path: Path,
) -> None:
    path = tmp_path / "old.jsonl"
    path.write_bytes(b"".join(map(ledger.to_line, runs(3))))
    ledger.append(path, *runs(2, first=4))
    content = path.read_bytes()
    assert list(breaks(content)) == []
    assert list(
        breaks(content.replace(b'"run_index": 2', b'"run_index": 8'))
    ) == [Break(1, 3)]


def test_a_line_that_was_cut_off_is_covered_too(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b'{"record": "ru')
    ledger.append(path, RUN)
    content = path.read_bytes()
    assert list(breaks(content)) == []
    assert entry_of(path) == ledger_manifest.of(content)
    assert list(breaks(content.replace(b'"record": "ru\n', b'"record": "xx\n')))


def test_an_entry_that_lags_behind_as_after_a_kill_is_no_alarm_and_catches_up(
    path: Path, started_anew: Callable[[], None]
) -> None:
    file = ledger_manifest.entry_file(path)
    assert file is not None
    before = file.read_bytes()
    ledger.append(path, *runs(2, first=7))
    file.write_bytes(before)
    entry = entry_of(path)
    assert entry is not None
    assert ledger_manifest.holds(entry, path.read_bytes())
    started_anew()
    ledger.append(path, RUN)
    assert entry_of(path) == ledger_manifest.of(path.read_bytes())


@pytest.mark.parametrize("text", ["", "{", '{"n_bytes": 1}'])
def test_an_entry_that_a_crash_left_unreadable_is_made_anew(
    path: Path, text: str, started_anew: Callable[[], None]
) -> None:
    file = ledger_manifest.entry_file(path)
    assert file is not None
    file.write_text(text)
    started_anew()
    ledger.append(path, RUN)
    assert entry_of(path) == ledger_manifest.of(path.read_bytes())


WRITER = """
import sys
from dataclasses import replace
from pathlib import Path
from crane_core.ledger import append, from_line
run = from_line(sys.argv[2].encode())
for index in range(40):
    append(Path(sys.argv[1]), *(replace(run, run_index=int(sys.argv[3]) * 1000 + index * 2 + n) for n in range(2)))
"""


def test_processes_that_write_one_file_at_once_keep_one_chain(
    path: Path, root: Path
) -> None:
    line = ledger.to_line(RUN).decode()
    command = [sys.executable, "-c", WRITER, str(path), line]
    writers = [
        subprocess.Popen([*command, str(number)], cwd=root)
        for number in range(1, 4)
    ]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    content = path.read_bytes()
    assert content.count(b"\n") == N_LINES + 3 * 80
    assert list(breaks(content)) == []
    assert entry_of(path) == ledger_manifest.of(content)
