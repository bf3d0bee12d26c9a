"""Sent into a kernel: the published extractor and its checker, asked through their own functions about a target.

Python 3.9 and the standard library, besides the peer itself.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any


def answer(folder: str, target: str) -> str:
    """What the peer tells of the running shell's namespace, as JSON text with the seconds it took."""
    collect = of_peer(folder, "runinfo", "collect_live_runinfo")
    return timed("state", lambda: collect(target_code=target))


def checked(folder: str, target: str) -> str:
    """What the peer's checker finds in the running shell's namespace, as JSON text with the seconds it took."""
    run_checks = of_peer(folder, "checker", "run_checks")
    from IPython import get_ipython

    shell = get_ipython()

    def asked() -> Any:
        found = run_checks(target, shell.user_ns, shell)
        return found and {
            name: getattr(found, name)
            for name in ("exception", "line", "message")
        }

    return timed("finding", asked)


def timed(name: str, work: Any) -> str:
    started = time.perf_counter()
    told = work()
    seconds = time.perf_counter() - started
    return json.dumps({"seconds": seconds, name: plain(told)})


def of_peer(folder: str, module: str, name: str) -> Any:
    """A function of the peer, whose folder is on the path only while it is imported."""
    sys.path.insert(0, folder)
    try:
        held = __import__(f"crane_llm.nb_extension.{module}", fromlist=[name])
    finally:
        sys.path.remove(folder)
    return getattr(held, name)


def plain(value: Any) -> Any:
    """Nested data that JSON holds, with numpy's numbers as numbers; what is none of it stands as the peer prints it."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted((plain(item) for item in value), key=repr)
    if value is None or isinstance(value, bool):
        return value
    for kind in (int, float, str):
        if isinstance(value, kind):
            return kind(value)
    if hasattr(value, "item") and not hasattr(value, "__len__"):
        return plain(value.item())
    return str(value)
