"""The process of the server: its heap, its sockets, and how it ends.

Heap: what one visit gave back serves the next, and large pieces go back to the system. Each visit runs in a
separate thread, and glibc assigns new threads separate arenas, up to eight per core, which keep their largest
extent. Arrow's default pool keeps what was freed too; here it is malloc. A large array has separate pages, which
end with it, but only up to a threshold that glibc raises to 32 MB as such arrays are freed: from then on they lie
in the arenas, and whatever small is allocated behind them keeps their room. The threshold is here.

Sockets: small messages are sent at once instead of collected (Nagle's algorithm, RFC 896). The server answers in
two writes, head and body. With the algorithm on, the second waits for the browser's acknowledgement of the first,
which takes 40 ms, for each file and for many messages of a page.

End: Python ends daemon threads by unwinding their stack when they next ask for the interpreter. Streamlit runs
pages in such threads, and one that is inside DuckDB or Arrow then meets C++ that may not be unwound: the process
aborts (SIGABRT). So the process waits a moment for those threads, does what was registered for the end, and leaves
without unwinding any.
"""

import atexit
import ctypes
import os
import signal
import socket
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

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


_OPEN_FILES = Path("/dev/fd")


def send_at_once() -> int:
    """Set TCP_NODELAY on the sockets this process listens at, which the connections inherit; returns their number.

    asyncio does so itself where a socket was made with the protocol's number, but the one Streamlit binds was not.
    Where the system lists no open files (Windows), nothing is set.
    """
    numbers = (
        [int(file.name) for file in _OPEN_FILES.iterdir()]
        if _OPEN_FILES.is_dir()
        else []
    )
    return sum(_set(number) for number in numbers)


def _set(number: int) -> bool:
    """Whether this open file is a listening TCP socket; it sends at once from now on."""
    try:
        # A copy of the number, so that closing it leaves the server's own socket open.
        same = socket.socket(fileno=os.dup(number))
    except OSError:  # no socket, or closed since it was listed
        return False
    with same:
        if (
            same.family not in (socket.AF_INET, socket.AF_INET6)
            or same.type != socket.SOCK_STREAM
        ):
            return False
        # Other connections, such as those to a database, keep their setting.
        if not same.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
            return False
        same.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return True


PATIENCE_S = 2.0
"""For pages that are being drawn. What they write is safe at every moment, as after a kill."""
INTERRUPTED = 128 + signal.SIGINT


def leave(status: int) -> NoReturn:
    """End this process with a status. A second Ctrl+C ends it at once."""
    signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
    _wait_for(
        [thread for thread in threading.enumerate() if _draws_a_page(thread)],
        PATIENCE_S,
    )
    threading._shutdown()  # type: ignore[attr-defined]  # as Python does first: ends pools, waits for other threads
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # a closed pipe or terminal
            stream.flush()
    os._exit(status)


def _draws_a_page(thread: threading.Thread) -> bool:
    return thread.daemon and thread.name.startswith("ScriptRunner")


def _wait_for(threads: list[threading.Thread], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))


def status_of(ended: SystemExit) -> int:
    """Python's exit status for this, where it prints nothing more."""
    if ended.code is None:
        return 0
    return ended.code if isinstance(ended.code, int) else 1
