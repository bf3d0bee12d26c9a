"""Work in its own thread while the page stays alive: started, watched, stopped.

Knows threads and their outcome, and that places are bounded for the whole server. Refuses to know what the work is.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import streamlit as st

from crane_core.errors import CraneError

T = TypeVar("T")


@dataclass(slots=True, kw_only=True)
class Background(Generic[T]):
    """One piece of work. `outcome` is None while it runs; afterwards its result or its error."""

    stop: threading.Event = field(default_factory=threading.Event)
    started: float = field(default_factory=time.monotonic)
    outcome: T | CraneError | None = None

    @property
    def seconds(self) -> float:
        """Seconds since the work began."""
        return time.monotonic() - self.started


def begin(
    record: Background[T],
    work: Callable[[], T],
    places: threading.Semaphore,
    *,
    full: CraneError,
    failed: str,
) -> None:
    """Do `work` in a thread and keep its outcome in `record`.

    Raises `full` where no place is free. An exception becomes `failed` with its name, and
    goes to the server's log.
    """
    if not places.acquire(blocking=False):
        raise full

    def go() -> None:
        try:
            record.outcome = work()
        except CraneError as error:
            record.outcome = error
        except BaseException as error:
            record.outcome = type(full)(
                f"{failed}: {type(error).__name__}.",
                remedy="See the server's log.",
            )
            # After the page has its message, so that the trace is in the server's log.
            raise
        finally:
            places.release()

    threading.Thread(target=go, name="try-a-notebook", daemon=True).start()


POLL_S = 0.5


def draw_watch(
    work: Background[Any], button: str, *, key: str, words: Callable[[], str]
) -> None:
    """Redrawn twice a second; `words` is the progress in Markdown."""

    def watch() -> None:
        if work.outcome is not None:
            st.rerun()
        with st.container(horizontal=True, vertical_alignment="center"):
            if st.button(button, key=key, disabled=work.stop.is_set()):
                work.stop.set()
            st.caption(words(), width="content")

    st.fragment(watch, run_every=POLL_S)()
