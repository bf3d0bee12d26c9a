"""The memory of a process and of those that it started, as Linux counts it."""

from __future__ import annotations

import os
from pathlib import Path

_PROC = Path("/proc")


def resident_bytes(group: int) -> int:
    """Resident bytes of all processes of a process group, pages that they share counted once per process.

    0 where there is no such group, or no /proc to ask.
    """
    return sum(
        _resident(entry) for entry in _PROC.glob("[0-9]*") if _group_of(entry) == group
    )


def _group_of(entry: Path) -> int | None:
    try:
        return int((entry / "stat").read_text().rpartition(")")[2].split()[2])
    except (OSError, ValueError, IndexError):
        return None  # it ended meanwhile


def _resident(entry: Path) -> int:
    try:
        return int((entry / "statm").read_text().split()[1]) * os.sysconf(
            "SC_PAGE_SIZE"
        )
    except (OSError, ValueError, IndexError):
        return 0  # it ended meanwhile
