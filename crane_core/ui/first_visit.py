"""What a process does once, at its first visits: it imports pages, says that one is shown, and freezes what is loaded.

Knows no page but by its name, because the warm-up imports the pages, and the pages import the frame.
"""

import ast
import atexit
import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from threading import Event, RLock

import streamlit as st

from crane_core.ui.navigation import page_files

_shown = Event()


@contextmanager
def drawing() -> Iterator[None]:
    """A visitor waits for a page within this block."""
    _shown.clear()
    try:
        yield
    finally:
        # With several visitors the first that has its page ends the wait: work beside it must end some time.
        _shown.set()


def wait_for_a_page(patience_s: float) -> None:
    """Return when the visit that began last has its page, or after so many seconds; later calls wait no more then."""
    if not _shown.wait(patience_s):
        _shown.set()


_ONE_AT_A_TIME = RLock()
# Two threads that import packages with circular imports (jupyter_client) can each wait for a module that the other one
# holds; Python then raises a deadlock in one of them. Visits and the warm-up beside them are such threads.


def import_modules(names: list[str]) -> None:
    """Import these modules while no other thread does so by this function."""
    for name in names:
        with _ONE_AT_A_TIME:  # not held from one to the next: a visit waits for one module, not for all
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


def freeze_gc() -> None:
    """To be called when a page is complete: what it brought to the process stays out of later collections.

    Streamlit collects garbage of all generations when a run ends, and no session moves meanwhile: about 0.1 s, nearly
    all of it spent on libraries that are loaded for good. Without them the end is short, and many can label at once.
    """
    _freeze_once(len(sys.modules))


@st.cache_resource(max_entries=1, show_spinner=False)
def _freeze_once(n_modules: int) -> None:
    """Once per number of loaded modules, which a page's first visit raises. Garbage goes first, or it would stay."""
    gc.collect()
    gc.freeze()
    atexit.register(
        gc.unfreeze
    )  # libraries that count their instances at the end would report leaks
