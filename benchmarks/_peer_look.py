"""Sent into a kernel: the published extractor, asked through its own function for what it would show of a target.

Python 3.9 and the standard library, besides the peer itself.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any


def answer(folder: str, target: str) -> str:
    """What the peer tells of the running shell's namespace, as JSON text with the seconds it took."""
    collect = collector(folder)
    started = time.perf_counter()
    told = collect(target_code=target)
    seconds = time.perf_counter() - started
    return json.dumps({"seconds": seconds, "state": plain(told)})


def collector(folder: str) -> Any:
    """The peer's function for a live kernel."""
    sys.path.insert(0, folder)
    try:
        from crane_llm.nb_extension.runinfo import collect_live_runinfo
    finally:
        sys.path.remove(folder)
    return collect_live_runinfo


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
    is_number = (
        type(value).__module__ == "numpy" and getattr(value, "shape", None) == ()
    )
    return (
        plain(value.item())
        if is_number and type(value).__name__ != "ndarray"
        else str(value)
    )
