"""Which shared memory may become writable: the system's own list (smaps) is the oracle."""

from __future__ import annotations

import mmap
import os
from pathlib import Path

import pytest

from crane_core.runtime.kernel_side.crane_probe.kernel_copy.memory import (
    _shared,
)

OPENED = {"for reading": os.O_RDONLY, "for writing": os.O_RDWR}


def listed(path: Path) -> tuple[str, list[str]]:
    """Rights and flags of the mapping of a file, as Linux lists them."""
    lines = Path("/proc/self/smaps").read_text("utf-8").splitlines()
    at = next(i for i, line in enumerate(lines) if line.endswith(str(path)))
    flags = next(line for line in lines[at:] if line.startswith("VmFlags:"))
    return lines[at].split()[1], flags.split()[1:]


@pytest.mark.parametrize("how", OPENED)
def test_a_file_mapped_for_reading_counts_where_it_was_opened_for_writing(
    tmp_path: Path, how: str
) -> None:
    path = tmp_path / "held"
    path.write_bytes(b"x" * mmap.PAGESIZE)
    handle = os.open(path, OPENED[how])
    before = _shared(is_run_in=True)
    held = mmap.mmap(handle, mmap.PAGESIZE, prot=mmap.PROT_READ)
    os.close(handle)
    told = listed(path)
    more = len(_shared(is_run_in=True)) - len(before)
    assert more == ("mw" in told[1]) == (how == "for writing")
    # Asking has left its rights as they were.
    assert listed(path) == told
    assert told[0] == "r--s"
    held.close()
