"""Which notebook, and which of its cells is about to run: a shipped one, an upload, a file, that of a kernel.

A kernel that runs already is looked at by a click. Knows to whom it may be offered: to the one person at this machine,
and not where a server has other visitors.
"""

import hashlib
import json
import os
import tempfile
from collections.abc import Callable
from ipaddress import ip_address
from pathlib import Path
from typing import Any, NamedTuple

import streamlit as st

from crane_core.errors import IdentityError, NotebookError
from crane_core.identity.proxy import configured_proxy
from crane_core.identity.roles import configured_roles
from crane_core.identity.visitor import Role
from crane_core.pipeline.own_notebooks import check
from crane_core.pipeline.own_notebooks.attach import attached
from crane_core.pipeline.places import CHECKOUT
from crane_core.runtime.running import RunningKernel, running_kernels
from crane_core.ui import keys
from crane_core.ui.door import LOOPBACK, configured_hosts
from crane_core.ui.refusal import refusals_shown
from crane_core.ui.trial.cells_html import cell_words
from crane_core.ui.url_state import one_of, switch
from crane_core.ui.visit import require

SHIPPED, UPLOAD, PATH, RUNNING = "shipped", "upload", "path", "running"
WAYS = {
    UPLOAD: "Your notebook",
    SHIPPED: "Example",
    PATH: "A file on the server",
    RUNNING: "A running kernel",
}
MINIBENCH = CHECKOUT / "data" / "minibench"
FIRST_SHIPPED = "pandas_1_reproduced"
MAX_BYTES = 50_000_000
"""Of a notebook, and of a state."""

TARGET_HELP = """Code cells are counted from 0, as in `check` and `capture`; Markdown cells are not counted.
In brackets: the execution count. Default: the first cell with an error output, else the last one."""

State = dict[str, Any]
_LIST_S = 5
"""Ended kernels leave their files behind, and finding that out takes a second."""


class NotebookSource(NamedTuple):
    """A notebook file, and what `capture` wrote of it, if that is available."""

    path: Path
    state: State | None = None


def draw_choice(
    *, may_upload: bool, may_run: bool
) -> check.CheckedNotebook | None:
    """The chosen notebook with its target, or None while none is chosen. Raises NotebookError."""
    with st.container(
        horizontal=True,
        vertical_alignment="bottom",
        gap="medium",
        key="which_notebook",
    ):
        way = switch(
            "Notebook",
            [
                *([UPLOAD] if may_upload else []),
                SHIPPED,
                *([PATH] if may_run else []),
                *([RUNNING] if may_run and is_offered() else []),
            ],
            key=keys.TRY_WAY,
            default=SHIPPED,
            format_func=WAYS.__getitem__,
        )
        if way == RUNNING:
            return draw_attaching()
        source = _SOURCES[way]()
        if source is None:
            return None
        plain = _first_read(source)
        cells = plain.plan.cells
        chosen = st.selectbox(
            "Target: the cell that is about to run",
            [cell.index for cell in cells],
            index=plain.plan.target.index,
            format_func=lambda index: cell_words(cells[index]),
            key=f"{keys.TRY_TARGET}_{source.path}_{_target_of(source.state)}",
            help=TARGET_HELP,
            width=470,
        )
    checked = (
        plain
        if chosen in (None, plain.plan.target.index)
        else _read(source.path, chosen)
    )
    return checked if source.state is None else _beside(checked, source.state)


def _first_read(source: NotebookSource) -> check.CheckedNotebook:
    """The notebook before the target of its state, if there is one. Raises NotebookError if it has no such cell."""
    target = _target_of(source.state)
    try:
        return _read(source.path, target)
    except NotebookError as error:
        if target is None:
            raise
        name = _read(source.path, None).path.name
        raise NotebookError(
            f"The state was captured before code cell {target}, which {name} does not have."
            " It belongs to another notebook.",
            remedy="Upload a notebook and the state that `capture` wrote for it.",
        ) from error


def _read(path: Path, target: int | None) -> check.CheckedNotebook:
    """As `read_notebook`, but an error names the file as the visitor knows it."""
    try:
        return check.read_notebook(path, target)
    except NotebookError as error:
        # A visitor must not see paths of the server.
        raise NotebookError(
            error.args[0].replace(str(path), path.name), remedy=error.remedy
        ) from error


def _target_of(state: State | None) -> int | None:
    target = state["target"] if state else None
    return target if isinstance(target, int) else None


def _beside(
    checked: check.CheckedNotebook, state: State
) -> check.CheckedNotebook:
    """The notebook with its state; without it, and with a note, if the state belongs to another target."""
    target = _target_of(state)
    if target is not None and target != checked.plan.target.index:
        st.caption(
            f"The available state was captured before code cell {target}, so it is not used for this target."
        )
        return checked
    both = [checked]
    with refusals_shown():
        both.append(check.with_state(checked, state))
    return both[-1]


def _shipped() -> NotebookSource:
    """A notebook of minibench; its state was captured before, so nothing needs to run."""
    names = sorted(
        path.stem for path in (MINIBENCH / "benchmark").glob("*/*.ipynb")
    )
    name = one_of(
        st.selectbox,
        "Example notebook",
        names,
        key=keys.TRY_SHIPPED,
        default=FIRST_SHIPPED,
        width=260,
    )
    return _of_minibench(str(name))


def first_example() -> check.CheckedNotebook:
    """What the page shows a visitor who chose nothing yet."""
    source = _of_minibench(FIRST_SHIPPED)
    plain = _first_read(source)
    return (
        plain if source.state is None else check.with_state(plain, source.state)
    )


def _of_minibench(shown: str) -> NotebookSource:
    path = MINIBENCH / "benchmark" / shown.rsplit("_", 1)[0] / f"{shown}.ipynb"
    state = MINIBENCH / "states" / f"{shown}.json"
    return NotebookSource(
        path, json.loads(state.read_text("utf-8")) if state.is_file() else None
    )


def _uploaded() -> NotebookSource | None:
    files = st.file_uploader(
        "An .ipynb file, and its captured state (.json) if you have one",
        type=["ipynb", "json"],
        accept_multiple_files=True,
        key=keys.TRY_UPLOAD,
        help="Make the state with `python -m crane_core capture trip.ipynb --out state.json`.",
        max_upload_size=MAX_BYTES // 1_000_000,
        width=380,
    )
    notebooks = [file for file in files if file.name.endswith(".ipynb")]
    states = [file for file in files if file.name.endswith(".json")]
    if not notebooks:
        if states:
            raise NotebookError(
                "A state needs its notebook.", remedy="Upload the notebook too."
            )
        return None
    notebook = notebooks[-1]
    state = _read_state(states[-1].getvalue()) if states else None
    return NotebookSource(
        _kept(notebook.name, _bounded(notebook.getvalue(), "notebook")), state
    )


def _kept(name: str, data: bytes) -> Path:
    """The upload as a file in a folder of this session's own."""
    folder = st.session_state.setdefault(
        keys.TRY_FOLDER, tempfile.TemporaryDirectory(prefix="crane-try-")
    )
    # By content, so that two uploads of one name do not replace each other while one of them runs.
    place = Path(folder.name) / hashlib.sha256(data).hexdigest()[:16]
    place.mkdir(exist_ok=True)
    # The name comes from a browser and may hold folders.
    path = place / Path(name).name
    if not path.exists():
        path.write_bytes(data)
    return path


def _bounded(data: bytes, what: str) -> bytes:
    if len(data) > MAX_BYTES:
        raise NotebookError(
            f"The {what} has {len(data):,} bytes; the limit is {MAX_BYTES:,}.",
            remedy="Use the command instead: python -m crane_core check NOTEBOOK.",
        )
    return data


def _read_state(data: bytes) -> State:
    remedy = "Upload the file that `capture --out` wrote."
    try:
        document = json.loads(_bounded(data, "state"))
    except (ValueError, RecursionError) as error:
        raise NotebookError("The state is not JSON.", remedy=remedy) from error
    if not isinstance(document, dict) or "target" not in document:
        raise NotebookError("The JSON is not a captured state.", remedy=remedy)
    return document


def _named() -> NotebookSource | None:
    typed = st.text_input(
        "Path",
        key=keys.TRY_PATH,
        placeholder="~/notebooks/trip.ipynb",
        help="The kernel runs in its folder, so data files work",
        width=400,
    )
    path = Path(typed.strip()).expanduser() if typed.strip() else None
    if path is not None and path.suffix != ".ipynb":
        raise NotebookError(
            f"{path.name} is not an .ipynb file.", remedy="Choose a notebook."
        )
    return None if path is None else NotebookSource(path)


_SOURCES: dict[str, Callable[[], NotebookSource | None]] = {
    SHIPPED: _shipped,
    UPLOAD: _uploaded,
    PATH: _named,
}


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
    target = _target_in(kernel)
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


def _target_in(kernel: RunningKernel) -> int | None:
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
