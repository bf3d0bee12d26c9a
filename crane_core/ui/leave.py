"""Ends the app's process when its server has stopped.

Python ends daemon threads by unwinding their stack when they next ask for the interpreter. Streamlit runs pages in such
threads, and one that is inside DuckDB or Arrow then meets C++ that may not be unwound: the process aborts (SIGABRT).
So the process waits a moment for those threads, does what was registered for the end, and leaves without unwinding any.
Knows threads and exit statuses.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
import time
from contextlib import suppress
from typing import NoReturn

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
