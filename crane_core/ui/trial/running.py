"""Running a notebook up to its target while the page stays alive.

Knows what may run at once, for the whole server, and how long a cell may take.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from crane_core.errors import KernelError
from crane_core.pipeline.own_notebooks.check import CheckedNotebook, is_on, run_up
from crane_core.runtime.isolation import best
from crane_core.runtime.limits import KernelLimits
from crane_core.ui.trial.background import Background, begin

AT_ONCE = 2
"""Maximum number of notebooks that this server runs at the same time, for all visitors together."""

CELL_S = 600.0
NETWORK = "CRANE_ALLOW_NETWORK"
"""Environment variable with which the operator of the app lets such notebooks reach the network."""


@dataclass(slots=True, kw_only=True)
class Running(Background[CheckedNotebook]):
    """One run of the notebook `checked`; its outcome is the same notebook with its state."""

    checked: CheckedNotebook


@st.cache_resource(show_spinner=False)
def places() -> threading.BoundedSemaphore:
    """Those of this server, for everything that runs notebooks of visitors."""
    return threading.BoundedSemaphore(AT_ONCE)


def full() -> KernelError:
    """The error where no place is free."""
    return KernelError(
        f"{AT_ONCE} notebooks are already running on this server.",
        remedy="Try again when one of them is finished.",
    )


def limits() -> KernelLimits:
    """Of a notebook that a visitor brought: kept apart as far as this machine can, without network unless allowed."""
    return KernelLimits(
        cell_s=CELL_S, isolation=best(), network=is_on(os.environ, NETWORK)
    )


def start(
    checked: CheckedNotebook,
    *,
    keep_going: bool = False,
    rehearse_s: float | None = None,
    work: Callable[..., CheckedNotebook] = run_up,
) -> Running:
    """Begin to run the cells before the target; with `keep_going` past those that raise.

    With `rehearse_s` the target too, for so many seconds at most, in a copy of the kernel.

    Raises KernelError if too many notebooks are running.
    """
    running = Running(checked=checked)

    def run() -> CheckedNotebook:
        options = {"keep_going": keep_going, "rehearse_s": rehearse_s}
        return work(checked, stop=running.stop, limits=limits(), **options)

    begin(running, run, places(), full=full(), failed="Running it failed")
    return running
