"""Keeps the end of every run short, so that many can label at once.

Streamlit collects garbage of all generations when a run ends, and no session moves meanwhile: about 0.1 s, nearly all
of it spent on libraries that are loaded for good. Those are therefore taken out of the collector's sight.
"""

from __future__ import annotations

import atexit
import gc
import sys

import streamlit as st


def freeze_gc() -> None:
    """To be called when a page is complete: what it brought to the process stays out of later collections."""
    _freeze_once(len(sys.modules))


@st.cache_resource(max_entries=1, show_spinner=False)
def _freeze_once(n_modules: int) -> None:
    """Once per number of loaded modules, which a page's first visit raises. Garbage goes first, or it would stay."""
    gc.collect()
    gc.freeze()
    atexit.register(
        gc.unfreeze
    )  # libraries that count their instances at the end would report leaks
