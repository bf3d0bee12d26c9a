"""The generated cells of benchmarks.undo in Kishu, which restores a notebook's state from checkpoints on the disk.

PYTHON -m benchmarks.undo_peer [--cells 50] [--seed 1]

PYTHON is the interpreter of a separate environment with kishu (PyPI) and the libraries of the cells; crane_core is not
needed there. Kishu makes a checkpoint after each cell; the one after the set-up is checked out once the next cell
has crashed. What differs then is counted as in benchmarks.undo. Kishu lists nothing, so a difference is silent unless
the check-out ends in an exception.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from benchmarks._deep_state import described, different
from benchmarks._timing import machine, options
from benchmarks._undo_cells import CrashingCell, crashing_cells
from benchmarks._undone import UndoneCell, tell

LIBRARIES = ("numpy", "pandas", "sklearn", "torch")


def shell_in(folder: Path) -> tuple[Any, Any]:
    """A shell whose tracebacks are silent, and Kishu, which keeps a checkpoint of each of its cells."""
    settings = {"HistoryManager": {"hist_file": ":memory:"}}
    shell: Any = InteractiveShell(config=Config(settings))
    shell.showtraceback = lambda *_, **__: None
    notebook = folder / "notebook.ipynb"
    document = {"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    notebook.write_text(json.dumps(document))
    # They read HOME, which is set by now.
    from kishu import jupyterint, notebook_id  # type: ignore[import-not-found]

    identity = notebook_id.NotebookId(folder.name, notebook, "kernel")
    kishu: Any = jupyterint.KishuForJupyter(identity, shell)
    kishu.install_kishu_hooks()
    return shell, kishu


def undone(cell: CrashingCell, folder: Path) -> UndoneCell:
    """What a check-out after the crash came to; what is kept for it is timed with an empty cell."""
    shell, kishu = shell_in(folder)
    shell.run_cell(cell.setup, store_history=True)
    began = time.perf_counter()
    shell.run_cell("pass", store_history=True)
    kept_s = time.perf_counter() - began
    commit = str(kishu._kishu_graph.head())
    before = described(shell.user_ns)
    shell.run_cell(cell.cell, store_history=True)
    crashed = described(shell.user_ns)
    refused = ""
    began = time.perf_counter()
    try:
        kishu.checkout(commit, skip_notebook=True)
    except Exception as error:  # noqa: BLE001 - the outcome
        refused = type(error).__name__
    undo_s = time.perf_counter() - began
    left = different(before, described(shell.user_ns))
    return UndoneCell(
        folder.name,
        changed=different(before, crashed),
        listed=frozenset(),
        silent=frozenset() if refused else left,
        refused=refused,
        kept_s=kept_s,
        undo_s=undo_s,
    )


def main() -> None:
    chosen = options(__doc__, cells=50, seed=1)
    known = frozenset(
        name for name in LIBRARIES if importlib.util.find_spec(name)
    )
    cells = []
    with tempfile.TemporaryDirectory() as scratch:
        # Kishu keeps its database there, and does without a server in this mode.
        os.environ.update(HOME=scratch, ENV_KISHU_TEST_MODE="1")
        Path(scratch, ".kishu").mkdir()
        made = crashing_cells(chosen.cells, chosen.seed, known)
        for place, cell in enumerate(made):
            folder = Path(scratch, f"cell{place}")
            folder.mkdir()
            os.chdir(folder)
            with contextlib.redirect_stdout(io.StringIO()):
                cells.append(undone(cell, folder))
        os.chdir("/")
    tell(f"kishu with {', '.join(sorted(known))}", cells)
    # Kishu does not promise to restore the session, so it is told apart.
    parts = [
        {name.startswith("session: ") for name in cell.silent} for cell in cells
    ]
    print(
        f"  with differences in names: {sum(False in one for one in parts)}, "
        f"in the session: {sum(True in one for one in parts)}"
    )
    print(machine())


if __name__ == "__main__":
    main()
