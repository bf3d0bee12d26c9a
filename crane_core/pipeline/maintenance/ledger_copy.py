"""A copy of the ledger while others may append to it: whole lines only.

Knows files and folders. Refuses to know the contents of the lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from crane_core.ledger import files as ledger_files
from crane_core.ledger.chain import whole_lines


class CopiedFile(NamedTuple):
    """A copied ledger file: its path in the ledger, and what the copy holds."""

    name: Path
    content: bytes


def copy_ledger(
    ledger: Path, into: Path, wanted: Callable[[str], bool] = lambda name: True
) -> Iterator[CopiedFile]:
    """Copy the ledger's files into the folder `into`, in the order of their names; a line being written is left out.

    `wanted` decides by the path of each file in the ledger.
    """
    for file in ledger_files(ledger):
        if not wanted(file.relative_to(ledger).as_posix()):
            continue
        copied = CopiedFile(file.relative_to(ledger), whole_lines(file.read_bytes()))
        target = into / copied.name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(copied.content)
        yield copied
