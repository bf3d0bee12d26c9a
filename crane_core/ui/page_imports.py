"""Imports the modules of pages, one thread at a time.

Two threads that import packages with circular imports (jupyter_client) can each wait for a module that the other one
holds; Python then raises a deadlock in one of them. Visits and the warm-up beside them are such threads.
"""

from __future__ import annotations

import ast
from functools import cache
from importlib import import_module
from threading import RLock

from crane_core.ui.navigation import page_files

_ONE_AT_A_TIME = RLock()


def import_modules(names: list[str]) -> None:
    """Import these modules while no other thread does so by this function."""
    for name in names:
        with (
            _ONE_AT_A_TIME
        ):  # not held from one to the next: a visit waits for one module, not for all
            import_module(name)


@cache
def import_page(page: str) -> None:
    """Import what the page's file is about to import, once; "" is the start page."""
    import_modules(imported_by(page or next(iter(page_files()))))


def imported_by(page: str) -> list[str]:
    """The modules of ours that the page's file imports."""
    steps = ast.parse(page_files()[page].read_text("utf-8")).body
    found = [
        step.module
        for step in steps
        if isinstance(step, ast.ImportFrom) and step.module
    ]
    return [name for name in found if name.startswith("crane_core.")]
