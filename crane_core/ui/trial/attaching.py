"""A kernel that runs on this machine already: chosen, and looked at by a click.

Knows to whom it may be offered: to the one person at this machine, and not where a server has other visitors.
"""

import os
from ipaddress import ip_address

import streamlit as st

from crane_core.errors import IdentityError
from crane_core.identity.proxy import configured_proxy
from crane_core.identity.roles import configured_roles
from crane_core.identity.visitor import Role
from crane_core.pipeline.own_notebooks import check
from crane_core.pipeline.own_notebooks.attach import attached
from crane_core.runtime.running import RunningKernel, running_kernels
from crane_core.ui import keys
from crane_core.ui.door import LOOPBACK, configured_hosts
from crane_core.ui.refusal import refusals_shown
from crane_core.ui.trial.cells_html import cell_words
from crane_core.ui.visit import require

_LIST_S = 5
"""Ended kernels leave their files behind, and finding that out takes a second."""


def is_offered() -> bool:
    """Whether the visitor is the person at this machine: no login, no shared password, nothing but loopback."""
    is_open = (
        configured_roles() is None
        and not configured_proxy().header
        and not os.environ.get("CRANE_PASSWORD")
    )
    listens = str(st.get_option("server.address") or "")
    return (
        is_open
        and _is_here(listens)
        and set(configured_hosts()) <= set(LOOPBACK)
        and _is_here(_peer())
    )


def _peer() -> str:
    """The visitor's address; Streamlit has none for this machine."""
    return st.context.ip_address or "localhost"


def _is_here(address: str) -> bool:
    try:
        return address == "localhost" or ip_address(address).is_loopback
    except ValueError:
        return False


def draw_attaching() -> check.CheckedNotebook | None:
    """The notebook of the chosen kernel, as the last click saw it; None before."""
    kernels = [kernel for kernel in _running() if kernel.notebook is not None]
    if not kernels:
        st.caption(
            "No notebook of Jupyter has a running kernel here. `python -m crane_core check --attach` lists all."
        )
        return None
    place = st.selectbox(
        "Running kernel",
        range(len(kernels)),
        format_func=lambda place: (
            f"{kernels[place].name} · {kernels[place].id[:8]}"
        ),
        key=keys.TRY_KERNEL,
        width=330,
    )
    kernel = kernels[place]
    target = _target_of(kernel)
    of, checked = st.session_state.get(keys.TRY_ATTACHED, (None, None))
    is_seen = of == (kernel, target)
    if st.button(
        "Look again" if is_seen else "Look at it",
        type="primary",
        key=keys.TRY_LOOK,
    ):
        with refusals_shown():
            st.session_state.pop(keys.TRY_ATTACHED, None)
            require(Role.ADMIN)
            # Checked again at the click: the list was drawn before, and the answer may have changed.
            if not is_offered():
                raise IdentityError(
                    "Kernels are looked at by the person at their machine.",
                    remedy="Use the command.",
                )
            st.session_state[keys.TRY_ATTACHED] = (
                (kernel, target),
                attached(kernel, None, target),
            )
            st.rerun()
    return checked if is_seen else None


def _target_of(kernel: RunningKernel) -> int | None:
    """The cell of the saved file that was chosen; None for the one after the last that ran."""
    assert kernel.notebook is not None
    cells = check.read_notebook(kernel.notebook).plan.cells
    chosen: int | None = st.selectbox(
        "Target: the cell that is about to run",
        [None, *(cell.index for cell in cells)],
        format_func=lambda index: (
            "The cell after the last that ran"
            if index is None
            else cell_words(cells[index])
        ),
        key=f"{keys.TRY_TARGET}_{kernel.id}",
        width=470,
    )
    return chosen


@st.cache_data(ttl=_LIST_S, show_spinner=False)
def _running() -> list[RunningKernel]:
    return running_kernels()
