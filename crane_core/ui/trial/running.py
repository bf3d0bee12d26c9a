"""Running a notebook up to its target while the page stays alive: the line below the verdict that starts and shows it.

Knows the run of this session, what may run at once for the whole server, and how long a cell may take. The line has the
same place before, during and after a run, so that nothing jumps.
"""

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import streamlit as st

from crane_core.errors import CellRaisedError, CraneError, KernelError
from crane_core.identity.visitor import Role
from crane_core.pipeline.own_notebooks import check
from crane_core.pipeline.own_notebooks.fixing import run_up_and_fix
from crane_core.runtime.installs import left_out_words, n_installs
from crane_core.runtime.isolation import best, isolation_words
from crane_core.runtime.limits import KernelLimits
from crane_core.runtime.rehearsal import USUAL_S
from crane_core.ui import keys
from crane_core.ui.refusal import refusals_shown
from crane_core.ui.trial.background import Background, begin, draw_watch
from crane_core.ui.visit import require
from crane_core.ui.words import cells_words, literal

AT_ONCE = 2
"""Maximum number of notebooks that this server runs at the same time, for all visitors together."""

CELL_S = 600.0
NETWORK = "CRANE_ALLOW_NETWORK"
"""Environment variable with which the operator of the app lets such notebooks reach the network."""


@dataclass(slots=True, kw_only=True)
class Running(Background[check.CheckedNotebook]):
    """One run of the notebook `checked`; its outcome is the same notebook with its state."""

    checked: check.CheckedNotebook
    is_rehearsing: bool
    keep_going: bool


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
        cell_s=CELL_S,
        isolation=best(),
        network=check.is_on(os.environ, NETWORK),
    )


def start(
    checked: check.CheckedNotebook,
    *,
    keep_going: bool = False,
    rehearse_s: float | None = None,
    runs_again: bool = False,
    work: Callable[..., check.CheckedNotebook] = check.run_up,
) -> Running:
    """Begin to run the cells before the target; with `keep_going` past those that raise.

    With `rehearse_s` the target too, for so many seconds at most, in a copy of the kernel; with `runs_again` in a copy
    of a second kernel, after the same cells, where the first copy lacks threads.

    Raises KernelError if too many notebooks are running.
    """
    running = Running(
        checked=checked,
        is_rehearsing=rehearse_s is not None,
        keep_going=keep_going,
    )

    def run() -> check.CheckedNotebook:
        return work(
            checked,
            stop=running.stop,
            limits=limits(),
            keep_going=keep_going,
            rehearse_s=rehearse_s,
            runs_again=runs_again,
        )

    begin(running, run, places(), full=full(), failed="Running it failed")
    return running


NOT_REACHED = "The run stopped before the target."
UPLOADED_ALONE = (
    "An upload contains only the notebook, not the files next to it. Capture the state where those files are, and "
    "upload it with the notebook."
)

REHEARSE = "Also run the target in a copy"
REHEARSE_HELP = (
    f"A rehearsal: the target itself runs for up to {USUAL_S:g} s in a copy of the kernel that is dropped, without"
    " network, programs and GPU. Its outcome is what happened there, not a prediction. If it crashes, fixes are tried"
    " in further copies."
)
AGAIN = "Rehearse in a second kernel"
# Cells may send and write: that they run once more is for who asks for it.
AGAIN_HELP = (
    "The copy lacked threads of the kernel. A second kernel runs the cells before the target once more, and the target "
    "in a copy that has its own threads."
)


def run_of(chosen: check.CheckedNotebook) -> Running | None:
    """The last run of this very notebook and target in this session."""
    running = st.session_state.get(keys.TRY_RUN)
    is_of = isinstance(running, Running) and (
        running.checked.path,
        running.checked.cells,
    ) == (
        chosen.path,
        chosen.cells,
    )
    return running if is_of else None


def draw_bar(
    chosen: check.CheckedNotebook, running: Running | None, *, may_run: bool
) -> None:
    """chosen: the notebook as it was given; its run, if there was one, tells more."""
    outcome = running.outcome if running is not None else None
    if running is not None and outcome is None:
        draw_watch(
            running,
            "Stop",
            key=keys.TRY_STOP,
            words=partial(_running_words, running),
        )
        return
    if isinstance(outcome, CraneError):
        st.error(failed_words(outcome, is_upload=_is_upload(chosen)))
    checked = outcome if isinstance(outcome, check.CheckedNotebook) else chosen
    with st.container(horizontal=True, vertical_alignment="center"):
        if may_run:
            _draw_buttons(checked, running)
        words = (
            NOT_REACHED
            if isinstance(outcome, CraneError)
            else cost_words(checked)
        )
        if words:
            st.caption(words, width="content")
    if may_run:
        st.caption(f"{here_words()} {installs_words(checked)}")


def here_words() -> str:
    """What a notebook that runs on this server can reach."""
    return isolation_words(limits().isolation, network=limits().network)


def installs_words(checked: check.CheckedNotebook) -> str:
    """What of the cells before the target is left out; empty if nothing is."""
    n = n_installs(cell.source for cell in checked.plan.executed)
    return f"{left_out_words(n)}." if n else ""


def _is_upload(chosen: check.CheckedNotebook) -> bool:
    folder = st.session_state.get(keys.TRY_FOLDER)
    return folder is not None and chosen.path.is_relative_to(folder.name)


def _draw_buttons(
    checked: check.CheckedNotebook, running: Running | None
) -> None:
    outcome = running.outcome if running is not None else None
    is_known = checked.state is not None
    words = (
        "Run it again"
        if isinstance(outcome, check.CheckedNotebook)
        else run_words(checked)
    )
    if st.button(
        words, type="secondary" if is_known else "primary", key=keys.TRY_START
    ):
        _start(checked, keep_going=False)
    # Streamlit forgets the box while a run is shown instead of it.
    was_ticked = running is None or running.is_rehearsing
    st.checkbox(REHEARSE, was_ticked, key=keys.TRY_REHEARSE, help=REHEARSE_HELP)
    if isinstance(outcome, CellRaisedError) and st.button(
        "Continue past cells that raise", key=keys.TRY_PAST
    ):
        _start(checked, keep_going=True)
    told = checked.rehearsal
    if (
        running is not None
        and told is not None
        and told.lacks_threads
        and st.button(AGAIN, key=keys.TRY_AGAIN, help=AGAIN_HELP)
    ):
        _start(checked, keep_going=running.keep_going, runs_again=True)


def _start(
    checked: check.CheckedNotebook,
    *,
    keep_going: bool,
    runs_again: bool = False,
) -> None:
    with refusals_shown():
        require(Role.ADMIN)
        rehearse_s = (
            USUAL_S
            if runs_again or st.session_state.get(keys.TRY_REHEARSE)
            else None
        )
        st.session_state[keys.TRY_RUN] = start(
            checked,
            keep_going=keep_going,
            rehearse_s=rehearse_s,
            runs_again=runs_again,
            work=check.run_up if rehearse_s is None else run_up_and_fix,
        )
        st.rerun()


def _running_words(running: Running) -> str:
    what = "Stopping" if running.stop.is_set() else "Running"
    n = len(running.checked.plan.executed)
    return f"{what}: {cells_words(n)} in a fresh kernel, {running.seconds:.0f} s so far"


def run_words(checked: check.CheckedNotebook) -> str:
    """The button's."""
    n = len(checked.plan.executed)
    return {0: "Start a fresh kernel", 1: "Run the cell before it"}.get(
        n, f"Run the {n} cells before it"
    )


def cost_words(checked: check.CheckedNotebook) -> str:
    """The cost of a crash here: the time of the cells before the target (paper, section 6.4).

    Empty where a state was brought: their heading says then that they ran.
    """
    n = len(checked.plan.executed)
    if checked.seconds_before is not None:
        seconds = checked.seconds_before
        shown = (
            f"{seconds / 60:.1f} min" if seconds >= 120 else f"{seconds:.1f} s"
        )
        return f"A crash here would cost {shown} of re-execution ({cells_words(n)} before it)."
    if checked.state is not None:
        return ""
    return (
        f"{cells_words(n).capitalize()} before it {'was' if n == 1 else 'were'} not run."
        if n
        else "Nothing was run."
    )


def cells_before(checked: check.CheckedNotebook) -> str:
    """The executed cells by the numbers that they have on the page, where these follow each other."""
    numbers = [cell.index for cell in checked.plan.executed]
    first, last = min(numbers, default=0), max(numbers, default=0)
    if first < last and numbers == list(range(first, last + 1)):
        return f"cells {first} to {last}"
    return cells_words(len(numbers))


def failed_words(error: CraneError, *, is_upload: bool) -> str:
    """Like every refusal; the command's switches in a remedy become this page's own."""
    remedy = literal(error.remedy)
    if isinstance(error, CellRaisedError):
        # The command's remedy names options that this page does not have.
        remedy = "Choose that cell as the target, fix the notebook, or continue past it."
        if is_upload and (
            "No such file" in error.args[0] or "FileNotFound" in error.args[0]
        ):
            remedy = f"{remedy} {UPLOADED_ALONE}"
    elif "--" in error.remedy:
        remedy = f"This page has no such option, but `python -m crane_core check` has. {remedy}"
    return f"{literal(error.args[0])}\n\n**What to do:** {remedy}"
