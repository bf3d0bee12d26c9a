"""The heap of the server: few arenas, so that what one visit's thread gave back serves the next.

Each visit runs in a separate thread, and glibc gives new threads separate arenas, up to eight per core, which
keep their largest extent. Arrow's default pool keeps what was freed too; here it is malloc.
"""

from __future__ import annotations

import ctypes
import os
import sys

import pyarrow as pa

ARENAS = 2
_M_ARENA_MAX = -8
"""The number of the parameter in <malloc.h> of glibc."""


def share_arenas() -> bool:
    """Before other threads start; whether arenas are shared now. MALLOC_ARENA_MAX in the environment stands."""
    pa.set_memory_pool(pa.system_memory_pool())
    if not sys.platform.startswith("linux") or "MALLOC_ARENA_MAX" in os.environ:
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # musl has none
    return mallopt is not None and bool(mallopt(_M_ARENA_MAX, ARENAS))
