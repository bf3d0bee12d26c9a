"""What a cell did that no copy of the kernel can take back: files, modules, threads, programs. It is named, no more."""

from __future__ import annotations

import os
import sys
import threading
import time

from ..kernel_copy.processors import of_the_notebook
from ..session.processes import children, command

_MOST_FILES = 5_000
_MOST_FOLDERS = 500
_SKIPPED = ("__pycache__", "node_modules")
ELSEWHERE = (
    "Not looked at: other programs, the network, files outside the working folder,"
    " and what libraries keep for themselves."
)
_UNSAID = frozenset(getattr(sys, "stdlib_module_names", ())) | {
    # IPython imports these to show an exception.
    "asttokens",
    "astroid",
    "executing",
    "pure_eval",
    "pygments",
    "stack_data",
}
_MTIME_GRAIN_S = 0.02
"""File systems stamp with the clock of the last tick."""


class Outside:
    """What was there before a cell, to be compared with what is there afterwards."""

    def __init__(self) -> None:
        self._began = time.time() - _MTIME_GRAIN_S
        self._folder = _here()
        self._files = _names_in(self._folder)
        self._modules = set(sys.modules)
        self._threads = {thread.ident for thread in threading.enumerate()}
        self._running = set(of_the_notebook())
        self._programs = set(children())

    def since(self) -> list[tuple[str, str]]:
        """What stays, each as a name and a reason."""
        found = [
            (name, "a file that was written; it stays")
            for name in self._written()
        ]
        gone = self._files - _names_in(self._folder)
        found += [
            (name, "a file that was removed or renamed")
            for name in sorted(gone)
        ]
        new = {
            name.partition(".")[0]
            for name in list(sys.modules)
            if type(name) is str
            and name not in self._modules
            and not name.startswith("_")
        }
        # Submodules, and modules of Python, change nothing by being loaded.
        tops = sorted(new - self._modules - _UNSAID)
        if tops:
            found.append((", ".join(tops), "imported; it stays loaded"))
        found += [
            (thread.name, "a thread that was started; it goes on")
            for thread in threading.enumerate()
            if thread.ident not in self._threads and thread.is_alive()
        ]
        found += [
            (name, "a thread that ran meanwhile; its changes are undone, too")
            for name in of_the_notebook()
            if name in self._running
        ]
        found += [
            (command(number), "a program that was started; it goes on")
            for number in children()
            # What has ended has no command any more.
            if number not in self._programs and command(number)
        ]
        return found

    def _written(self) -> list[str]:
        found: list[str] = []
        n_files = 0
        folders = os.walk(self._folder or os.devnull)
        for n_folders, (folder, below, files) in enumerate(folders):
            below[:] = [
                name
                for name in below
                if not name.startswith(".") and name not in _SKIPPED
            ]
            for name in files:
                n_files += 1
                path = os.path.join(folder, name)  # noqa: PTH118 - bytes and broken links are names like others here
                if _changed_at(path) >= self._began:
                    found.append(os.path.relpath(path, self._folder))
            if n_files > _MOST_FILES or n_folders > _MOST_FOLDERS:
                found.append("(more files than are looked at)")
                break
        return found


def _here() -> str:
    try:
        return os.getcwd()  # noqa: PTH109 - a string is wanted
    except OSError:
        return ""  # It was removed.


def _names_in(folder: str) -> set[str]:
    found: set[str] = set()
    if not folder:
        return found
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                found.add(entry.name)
                if len(found) >= _MOST_FILES:
                    break
    except OSError:
        return set()  # It was removed, or may not be read.
    return found


def _changed_at(path: str) -> float:
    try:
        return os.stat(path).st_mtime  # noqa: PTH116 - as above
    except OSError:
        return 0.0  # It went meanwhile.
