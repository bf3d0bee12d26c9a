"""Files in a ledger that the app did not write there: names, kinds of files, and entries of the manifest.

Opens regular files only: a pipe or a device can be read without end.
"""

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from crane_core import ledger
from crane_core.ledger import manifest as ledger_manifest

_OURS = frozenset({".jsonl", ".batch", ".lock"})
"""Ledger files, and what is beside a run that waits for its batch or is being written."""
_BEGINNING = 64_000
"""Bytes in which a ledger file has a whole line, unless it holds an unusually long text."""


class OddFile(NamedTuple):
    """A file by its path in the ledger, and what is odd about it, as the end of a sentence."""

    name: str
    what: str
    remedy: str


def odd_files(top: Path) -> Iterator[OddFile]:
    """Everything below the ledger `top` that the app would not write there, by name."""
    manifest = top / ledger_manifest.FOLDER
    for folder, folders, names in os.walk(top):
        folders.sort()
        linked = [
            name for name in folders if (Path(folder) / name).is_symlink()
        ]
        for name in sorted([*names, *linked]):
            path = Path(folder) / name
            odd = (
                _odd_entry(path)
                if path.is_relative_to(manifest)
                else _odd_file(path)
            )
            if odd is not None:
                yield OddFile(path.relative_to(top).as_posix(), *odd)


def _odd_file(path: Path) -> tuple[str, str] | None:
    if not stat.S_ISREG(path.lstat().st_mode) and not path.is_file():
        return "is a device, pipe, socket or link, not a file", "Remove it."
    if path.suffix not in _OURS:
        return "is not a file of the ledger", "Move it out of the data folder."
    if (
        path.suffix == ".jsonl"
        and path.stat().st_size
        and not _has_record(path)
    ):
        return (
            "holds no line of a ledger",
            "Move it out of the data folder, or restore it from a copy.",
        )
    return None


def _has_record(path: Path) -> bool:
    with path.open("rb") as file:
        lines = file.read(_BEGINNING).splitlines(keepends=True)
    if lines and not lines[0].endswith(b"\n") and len(lines) == 1:
        return (
            True  # one line that is being written, or longer than what was read
        )
    return any(map(_is_record, lines))


def _is_record(line: bytes) -> bool:
    try:
        ledger.from_line(line)
    except ValueError:
        return False
    return True


def _odd_entry(path: Path) -> tuple[str, str] | None:
    if path.suffix != ".json" or path.parts[-2:] == (
        ledger_manifest.FOLDER,
        "roll.json",
    ):
        return None
    if not path.is_file():
        return "is a device, pipe, socket or link, not a file", "Remove it."
    if (
        path.parent.name == "sources"
        and path.parent.parent.name == ledger_manifest.FOLDER
    ):
        return None  # the copy of a source's own description, which `losses` compares
    if ledger_manifest.read(path) is not None:
        return None
    what = (
        "is empty"
        if not path.stat().st_size
        else "cannot be read as an entry of the manifest"
    )
    of = path.with_suffix(".jsonl").name
    return (
        f"{what}, so a loss in {of} would not be seen",
        f"Compare {of} with a backup; the entry is made again.",
    )
