"""What the corpus does in a kernel between two cases, so that one kernel serves many.

`standing` tells what of a session a case may leave behind; where it differs, the next case gets another kernel.
"""

from __future__ import annotations

import asyncio
import builtins
import gc
import importlib
import json
import logging
import multiprocessing
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGALRM, signal.SIGUSR1, signal.SIGTERM)
HISTORY = "IPythonHistorySavingThread"
"""IPython ends it before a fork, so a kernel that was copied has it no more; no case can do anything with it."""


def fresh(shell: Any, folder: str) -> None:
    """As in a kernel that has just started in this folder: no names, no history, no modules of another case."""
    os.chdir(Path(folder).parent)
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and file.startswith(str(Path(folder).parent)):
            del sys.modules[name]
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
    shell.reset(new_session=True)
    os.chdir(folder)
    importlib.invalidate_caches()
    gc.collect()


def standing(shell: Any) -> str:
    """What a reset does not undo, as text to compare."""
    magics = shell.magics_manager.magics
    told = {
        "threads": sorted(
            thread.name
            for thread in threading.enumerate()
            if thread.name != HISTORY
        ),
        "tasks": _n_tasks(),
        "children": _n_children() + len(multiprocessing.active_children()),
        "transformers": [
            len(shell.ast_transformers),
            len(shell.input_transformers_post),
        ],
        "cleanup": len(shell.input_transformers_cleanup),
        "events": {
            name: len(calls) for name, calls in shell.events.callbacks.items()
        },
        "custom exceptions": len(shell.custom_exceptions),
        "hooks": [type(shell.displayhook).__name__, sys.excepthook.__name__],
        "tracing": [str(sys.gettrace()), str(sys.getprofile())],
        "shell": sorted(vars(shell)),
        "interactivity": shell.ast_node_interactivity,
        "calls": [
            shell.autocall,
            shell.automagic,
            shell.call_pdb,
            shell.colors,
        ],
        "magics": [sorted(magics["line"]), sorted(magics["cell"])],
        "aliases": sorted(name for name, _ in shell.alias_manager.aliases),
        "extensions": sorted(shell.extension_manager.loaded),
        "builtins": sorted(vars(builtins)),
        "finders": [
            name
            for name in map(_named, sys.meta_path)
            if name.startswith("__main__")
        ],
        "logging": [len(logging.root.handlers), logging.root.level],
        "signals": [str(signal.getsignal(number)) for number in SIGNALS],
        "collector": [gc.isenabled(), len(gc.callbacks)],
        "recursion": sys.getrecursionlimit(),
    }
    return json.dumps(told, sort_keys=True)


def _named(finder: Any) -> str:
    kind = finder if isinstance(finder, type) else type(finder)
    return f"{kind.__module__}.{kind.__name__}"


def _n_tasks() -> int:
    try:
        return len(asyncio.all_tasks())
    except RuntimeError:  # no loop runs here
        return 0


def _n_children() -> int:
    """Processes that this one has started and not waited for; 0 where the system does not tell."""
    tasks = Path("/proc/self/task")
    if not tasks.is_dir():
        return 0
    return sum(
        len((task / "children").read_text().split()) for task in tasks.iterdir()
    )
