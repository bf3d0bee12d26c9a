"""How long tests wait: on a slow or busy machine everything comes late, and nothing fails for it."""

from __future__ import annotations

import math
import os
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

T = TypeVar("T")

PATIENCE_S: Final = 300.0
"""After which something hangs; no test takes a tenth of it on a quiet machine."""
UNHURRIED: Final = {
    "variable_seconds": PATIENCE_S,
    "total_seconds": 10 * PATIENCE_S,
}
"""Limits of a look at a kernel; how much it may do is counted in steps as well, which no machine makes fewer."""


def met_limit_s(seconds: float) -> int:
    """Whole seconds of a limit that a test wants to be met, while other work must come to its end within it.

    As many times longer as work takes longer now: where more processes want to run than there are processors.
    """
    load, *_ = os.getloadavg()
    return math.ceil(seconds * max(1.0, load / len(os.sched_getaffinity(0))))


def once(condition: Callable[[], T]) -> T:
    """The first true value of a condition. Raises TimeoutError if it never has one."""
    end = time.monotonic() + PATIENCE_S
    while not (found := condition()):
        if time.monotonic() > end:
            raise TimeoutError(f"not within {PATIENCE_S:.0f} s")
        time.sleep(0.02)
    return found


def is_up(address: str, process: subprocess.Popen[bytes], log: Path) -> bool:
    """Whether a server answers there. Fails where its process has ended, with the end of what it printed."""
    assert process.poll() is None, log.read_text("utf-8", "replace")[-2_000:]
    try:
        with urllib.request.urlopen(address, timeout=5) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False
