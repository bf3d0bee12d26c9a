"""Running a notebook up to its target while the page stays alive: started, watched, stopped.

Knows threads and their outcome. What may run at once is bounded for the whole server.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import streamlit as st

from crane_core.errors import CraneError, KernelError
from crane_core.pipeline.check import Checked, run_up
from crane_core.runtime.limits import Limits

AT_ONCE = 2
"""Notebooks that this server runs at the same time, whoever asks."""

CELL_S = 600.0


@dataclass(slots=True)
class Running:
    """One run. `outcome` is None while it goes on; afterwards the notebook with its state, or why there is none."""

    checked: Checked
    keep_going: bool = False
    stop: threading.Event = field(default_factory=threading.Event)
    started: float = field(default_factory=time.monotonic)
    outcome: Checked | CraneError | None = None

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.started


@st.cache_resource(show_spinner=False)
def _places() -> threading.BoundedSemaphore:
    return threading.BoundedSemaphore(AT_ONCE)


def start(checked: Checked, *, keep_going: bool = False, work: Callable[..., Checked] = run_up) -> Running:
    """Begin to run the cells before the target; with `keep_going` past those that raise.

    Raises KernelError where too many notebooks are running.
    """
    places = _places()
    if not places.acquire(blocking=False):
        raise KernelError(
            f"{AT_ONCE} notebooks are being run by this server already.", remedy="Try again when one has ended."
        )
    running = Running(checked, keep_going)

    def go() -> None:
        try:
            running.outcome = work(checked, stop=running.stop, limits=Limits(cell_s=CELL_S), keep_going=keep_going)
        except CraneError as error:
            running.outcome = error
        except BaseException as error:
            running.outcome = KernelError(f"Running it failed: {type(error).__name__}.", remedy="See the server's log.")
            raise
        finally:
            places.release()

    threading.Thread(target=go, name="try-a-notebook", daemon=True).start()
    return running
