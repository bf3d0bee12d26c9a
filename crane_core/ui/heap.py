"""The heap of the server: what one visit gave back serves the next, and large pieces go back to the system.

Each visit runs in a separate thread, and glibc assigns new threads separate arenas, up to eight per core, which
keep their largest extent. Arrow's default pool keeps what was freed too; here it is malloc. A large array has separate
pages, which end with it, but only up to a threshold that glibc raises to 32 MB as such arrays are freed: from then on
they lie in the arenas, and whatever small is allocated behind them keeps their room. The threshold is here.
"""

from __future__ import annotations

import ctypes
import os
import sys

import pyarrow as pa

ARENAS = 2
LARGE = 2**19
"""Bytes from which a piece has separate pages: a column of 65,536 numbers."""

KEPT = 2**20
"""Free bytes at the end of an arena from which they go back to the system."""

_SETTINGS = {
    "MALLOC_ARENA_MAX": (-8, ARENAS),
    "MALLOC_MMAP_THRESHOLD_": (-3, LARGE),
    "MALLOC_TRIM_THRESHOLD_": (-1, KEPT),
}
"""Variables of the environment that set the same, which stand; the parameter's number in <malloc.h> of glibc."""


def give_back() -> list[str]:
    """Before other threads start; the settings that it made, as the variables that stand where they are set."""
    pa.set_memory_pool(pa.system_memory_pool())
    mallopt = (
        getattr(ctypes.CDLL(None), "mallopt", None)
        if sys.platform.startswith("linux")
        else None
    )
    if mallopt is None:  # musl has none
        return []
    return [
        name
        for name, setting in _SETTINGS.items()
        if name not in os.environ and mallopt(*setting)
    ]
