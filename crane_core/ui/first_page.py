"""The moment in which the first visitor has a page: what warms up beside the server waits for it, but not for ever.

The frame of every page says it, and the warm-up waits for it. It has a module of its own because the warm-up imports
the pages, and the pages import the frame.
"""

from __future__ import annotations

from threading import Event

_shown = Event()


def page_shown() -> None:
    """A visit has its page: no visitor is waiting at the moment."""
    _shown.set()


def wait_for_a_page(patience_s: float) -> None:
    """Return once a visit has its page, or after this many seconds without a visitor."""
    _shown.wait(patience_s)
