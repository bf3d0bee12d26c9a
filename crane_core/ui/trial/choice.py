"""Which notebook, and which of its cells is about to run: a shipped pair, an upload, or a file of this machine."""

from __future__ import annotations

import hashlib
import json
import tempfile
from pathlib import Path
from typing import Any

import streamlit as st

from crane_core.errors import NotebookError
from crane_core.notebooks import CodeCell
from crane_core.pipeline.check import Checked, read_notebook, with_state
from crane_core.pipeline.places import CHECKOUT
from crane_core.ui import keys
from crane_core.ui.words import literal

SHIPPED, UPLOAD, PATH = "shipped", "upload", "path"
WAYS = {SHIPPED: "A shipped notebook", UPLOAD: "Upload", PATH: "A file on the machine that runs the app"}
MINIBENCH = CHECKOUT / "data" / "minibench"
FIRST_SHIPPED = "pandas_1_reproduced"
MAX_PREVIEW = 60
MAX_STATE_BYTES = 50_000_000


def draw_choice(*, may_run: bool) -> Checked | None:
    """The chosen notebook with its target, or None while none is chosen. Raises NotebookError."""
    way = st.segmented_control(
        "Notebook",
        list(WAYS) if may_run else [SHIPPED, UPLOAD],
        default=SHIPPED,
        required=True,
        format_func=WAYS.__getitem__,
        key=keys.TRY_WAY,
    )
    path, state = _SOURCES[str(way)]()
    if path is None:
        return None
    plain = read_notebook(path)
    cells = plain.plan.cells
    chosen = st.selectbox(
        "Target: the cell that is about to run",
        [cell.index for cell in cells],
        index=plain.plan.target.index,
        format_func=lambda index: cell_words(cells[index]),
        key=f"{keys.TRY_TARGET}_{path}",
        width=640,
    )
    checked = plain if chosen in (None, plain.plan.target.index) else read_notebook(path, chosen)
    return checked if state is None or chosen != state["target"] else with_state(checked, state)


def cell_words(cell: CodeCell) -> str:
    """What a cell is called in a list: its number, as a notebook counts, and how it begins."""
    lines = [line for line in cell.source.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    first = lines[0].strip() if lines else "(empty)"
    cut = first if len(first) <= MAX_PREVIEW else first[: MAX_PREVIEW - 1] + "…"
    count = f"[{cell.execution_count}] " if cell.execution_count is not None else ""
    return f"Code cell {cell.index} {count}· {cut}"


def _shipped() -> tuple[Path | None, dict[str, Any] | None]:
    """A notebook of minibench; its state was captured before, so nothing needs to run."""
    names = sorted(path.stem for path in (MINIBENCH / "benchmark").glob("*/*.ipynb"))
    name = st.selectbox(
        "One of our own pairs", names, index=names.index(FIRST_SHIPPED), key=keys.TRY_SHIPPED, width=400
    )
    path = MINIBENCH / "benchmark" / name.rsplit("_", 1)[0] / f"{name}.ipynb"
    state = MINIBENCH / "states" / f"{name}.json"
    return path, json.loads(state.read_text("utf-8")) if state.is_file() else None


def _uploaded() -> tuple[Path | None, dict[str, Any] | None]:
    files = st.file_uploader(
        "An .ipynb file; with it, if you like, the state that `python -m crane_core capture` wrote of it (.json)",
        type=["ipynb", "json"],
        accept_multiple_files=True,
        key=keys.TRY_UPLOAD,
    )
    notebooks = [file for file in files if file.name.endswith(".ipynb")]
    if not notebooks:
        return None, None
    states = [file for file in files if file.name.endswith(".json")]
    notebook = notebooks[-1]
    return _kept(notebook.name, notebook.getvalue()), _read_state(states[-1].getvalue()) if states else None


def _kept(name: str, data: bytes) -> Path:
    """The upload as a file in a folder of this session's own."""
    folder = st.session_state.setdefault(keys.TRY_FOLDER, tempfile.TemporaryDirectory(prefix="crane-try-"))
    place = Path(folder.name) / hashlib.sha256(data).hexdigest()[:16]
    place.mkdir(exist_ok=True)
    path = place / Path(name).name
    if not path.exists():
        path.write_bytes(data)
    return path


def _read_state(data: bytes) -> dict[str, Any]:
    remedy = "Upload the file that `capture --out` wrote."
    if len(data) > MAX_STATE_BYTES:
        raise NotebookError(f"The state has {len(data):,} bytes.", remedy=remedy)
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise NotebookError("The state is no JSON.", remedy=remedy) from error
    if not isinstance(document, dict) or "target" not in document:
        raise NotebookError("The JSON is no captured state.", remedy=remedy)
    return document


def _named() -> tuple[Path | None, dict[str, Any] | None]:
    typed = st.text_input(
        "Path",
        key=keys.TRY_PATH,
        placeholder="~/notebooks/trip.ipynb",
        help="Its folder is the kernel's, so data files work",
    )
    path = Path(typed.strip()).expanduser() if typed.strip() else None
    if path is not None and path.suffix != ".ipynb":
        raise NotebookError(f"{literal(str(path))} is no .ipynb file.", remedy="Name a notebook.")
    return path, None


_SOURCES = {SHIPPED: _shipped, UPLOAD: _uploaded, PATH: _named}
