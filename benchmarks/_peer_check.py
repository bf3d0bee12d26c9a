"""Sent into a kernel: the peer's checker, asked through its own function whether a target is certain to crash.

Python 3.9 and the standard library, besides the peer itself.
"""

from __future__ import annotations

import json
import sys
import time


def answer(folder: str, target: str) -> str:
    """What the peer's checker finds in the running shell's namespace, as JSON text with the seconds it took."""
    sys.path.insert(0, folder)
    try:
        from crane_llm.nb_extension.checker import run_checks
    finally:
        sys.path.remove(folder)
    from IPython import get_ipython

    shell = get_ipython()
    started = time.perf_counter()
    found = run_checks(target, shell.user_ns, shell)
    seconds = time.perf_counter() - started
    told = (
        None
        if found is None
        else {
            "exception": found.exception,
            "line": found.line,
            "message": found.message,
        }
    )
    return json.dumps({"seconds": seconds, "finding": told}, default=str)
