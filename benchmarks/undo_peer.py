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
from collections import Counter
from pathlib import Path
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from benchmarks._deep_state import described, different
from benchmarks._timing import Times, machine, options
from benchmarks._undo_cells import CrashingCell, crashing_cells

LIBRARIES = ("numpy", "pandas", "sklearn", "torch")


class KishuShell:
    """A shell with Kishu's hooks, in a folder that is thrown away."""

    def __init__(self, folder: Path) -> None:
        settings = {"HistoryManager": {"hist_file": ":memory:"}}
        self.shell: Any = InteractiveShell(config=Config(settings))
        notebook = folder / "notebook.ipynb"
        document = {"cells": [], "metadata": {}, "nbformat": 4}
        notebook.write_text(json.dumps({**document, "nbformat_minor": 5}))
        # They read HOME, which is set by now.
        from kishu import jupyterint, notebook_id  # type: ignore[import-not-found]

        identity = notebook_id.NotebookId(folder.name, notebook, "kernel")
        self.kishu: Any = jupyterint.KishuForJupyter(identity, self.shell)
        self.kishu.install_kishu_hooks()

    def run(self, code: str) -> float:
        """Seconds that the cell and its checkpoint took."""
        with contextlib.redirect_stdout(io.StringIO()):
            started = time.perf_counter()
            self.shell.run_cell(code, store_history=True)
        return time.perf_counter() - started

    def check_out(self, commit: str) -> float:
        """Seconds that it took. Raises what Kishu raises."""
        started = time.perf_counter()
        with contextlib.redirect_stdout(io.StringIO()):
            self.kishu.checkout(commit, skip_notebook=True)
        return time.perf_counter() - started

    @property
    def head(self) -> str:
        """The newest checkpoint."""
        return str(self.kishu._kishu_graph.head())


def one(
    cell: CrashingCell, folder: Path
) -> tuple[str, frozenset[str], float, float]:
    """The outcome, what differs, and seconds of the checkpoint of an empty cell and of the check-out."""
    shell = KishuShell(folder)
    shell.shell.showtraceback = lambda *_, **__: None
    shell.run(cell.setup)
    kept_s = shell.run("pass")
    commit = shell.head
    before = described(shell.shell.user_ns)
    shell.run(cell.cell)
    try:
        back_s = shell.check_out(commit)
    except Exception as error:  # noqa: BLE001 - the outcome
        return f"refused ({type(error).__name__})", frozenset(), kept_s, 0.0
    after = described(shell.shell.user_ns)
    names = different(before, after)
    return "different" if names else "equal", names, kept_s, back_s


def main() -> None:
    chosen = options(__doc__, cells=50, seed=1)
    known = frozenset(
        name for name in LIBRARIES if importlib.util.find_spec(name)
    )
    ends: Counter[str] = Counter()
    different: Counter[str] = Counter()
    kept: list[float] = []
    back: list[float] = []
    with tempfile.TemporaryDirectory() as scratch:
        # Kishu keeps its database there, and does without a server in this mode.
        os.environ.update(HOME=scratch, ENV_KISHU_TEST_MODE="1")
        Path(scratch, ".kishu").mkdir()
        cells = crashing_cells(chosen.cells, chosen.seed, known)
        for place, cell in enumerate(cells):
            folder = Path(scratch, f"cell{place}")
            folder.mkdir()
            os.chdir(folder)
            end, names, kept_s, back_s = one(cell, folder)
            ends[end] += 1
            # Of the session, which Kishu does not promise to restore, apart from the names.
            different.update({name.startswith("session: ") for name in names})
            kept.append(kept_s)
            if back_s:
                back.append(back_s)
        os.chdir("/")
    told = ", ".join(f"{n} {end}" for end, n in ends.most_common())
    print(
        f"kishu, {chosen.cells} cells with {', '.join(sorted(known))}: {told}"
    )
    print(
        f"  with differences in names: {different[False]}, in the "
        f"session: "
        f"{different[True]}"
    )
    print(f"  checkpoint after an empty cell: {Times(kept).in_ms()}")
    if len(back) > 1:
        print(f"  check-out: {Times(back).in_ms()}")
    print(machine())


if __name__ == "__main__":
    main()
