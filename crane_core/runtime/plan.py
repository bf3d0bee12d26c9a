"""Which cells of a notebook file run before which target, and what the probe gets of them. Starts no kernel."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from crane_core import notebooks
from crane_core.errors import NotebookError
from crane_core.given_path import read_given
from crane_core.not_a_notebook import UnreadableNotebookError
from crane_core.runtime.text_forms import notebook_in

MOST_BYTES = 64 * 2**20
"""Of a notebook file; one with larger outputs takes longer to read than anybody waits."""
_PYTHON = ("python", "ipython")
_BEGINNING = 8_000
"""Bytes that are read to say what a file holds that is not a notebook."""
_STATE = b'"schema_version"'
"""A captured state begins with it."""


class NotebookPlan(NamedTuple):
    """A notebook's code cells, and which of them run before which."""

    name: str
    cells: list[notebooks.CodeCell]
    executed: list[notebooks.CodeCell]
    target: notebooks.CodeCell

    @property
    def marked(self) -> tuple[str, ...]:
        """What tags and languages of cells change about the run, in words."""
        told = []
        for cell in self.cells:
            if cell.language is not None:
                told.append(
                    f"code cell {cell.index} is {cell.language}, left out"
                )
            elif cell.is_skipped and cell is not self.target:
                told.append(
                    f"code cell {cell.index} is tagged {notebooks.SKIPPED}, left out"
                )
            elif cell.may_raise and cell in (*self.executed, self.target):
                told.append(
                    f"code cell {cell.index} is tagged {notebooks.MAY_RAISE}"
                )
        return tuple(told)

    def request(self) -> dict[str, Any]:
        """What the probe gets of the notebook: the cells that ran, in that order, then those that did not."""
        order = {
            cell.index: position for position, cell in enumerate(self.executed)
        }
        # The target would count as a definition of the names that it gives itself.
        others = [
            cell
            for cell in self.cells
            if cell.index not in order and cell is not self.target
        ]
        return {
            "target": self.target.source,
            "cells": [
                {
                    "code": cell.source,
                    "notebook_index": cell.index,
                    "executed": cell.index in order,
                    "order": order.get(cell.index),
                }
                for cell in [*self.executed, *others]
            ],
        }


def read_plan(notebook: Path, target: int | None) -> NotebookPlan:
    """The plan for code cell `target`.

    Without one, the target is the first cell with an error output that no tag expects, else the last cell that is not
    skipped. Raises NotebookError.
    """
    cells = _code_cells(notebook)
    if target is None:
        target = notebooks.target_index(cells)
    if target is None:
        # Cells that a tag skips run in no tool, so they cannot be the target either.
        to_run = [cell for cell in cells if not cell.is_skipped]
        target = (to_run or cells)[-1].index
    try:
        executed = notebooks.executed_before(cells, target)
    except ValueError as error:
        raise NotebookError(
            f"{notebook.name}: {error}.",
            remedy="Code cells are counted from 0; Markdown cells are not counted.",
        ) from error
    if (language := cells[target].language) is not None:
        raise NotebookError(
            f"Code cell {target} of {notebook.name} is {language}, not Python.",
            remedy="Choose a cell in Python with --target.",
        )
    return NotebookPlan(notebook.name, cells, executed, cells[target])


def _code_cells(notebook: Path) -> list[notebooks.CodeCell]:
    """One at least, of Python. Raises NotebookError."""
    if notebook.is_dir():
        raise _no_folder(notebook)
    # Kept outside, so that a file that is read and is not a notebook can be described.
    data = b""
    try:
        data = read_given(notebook, MOST_BYTES)
        cells, language = notebooks.read_document(
            notebook_in(notebook, data) or data
        )
    except OSError as error:
        raise NotebookError(
            f"{notebook} cannot be read: {error.strerror}.",
            remedy="Check the path.",
        ) from error
    except ValueError as error:
        # Only outputs make a notebook too large; what is none needs another remedy.
        remedy = "Clear its outputs, and save it again as .ipynb."
        if isinstance(error, UnreadableNotebookError):
            remedy = error.remedy
        broken = NotebookError(
            f"{notebook} is not a readable notebook: {error}.", remedy=remedy
        )
        other = _other_than_notebook(notebook, data) if data else None
        raise other or broken from error
    # R and Julia notebooks are valid, and none of their code could be parsed.
    if language is not None and not language.casefold().startswith(_PYTHON):
        raise NotebookError(
            f"{notebook.name} is a notebook in {language[:40]}, but only Python notebooks are supported.",
            remedy="Use a notebook with a Python kernel.",
        )
    if not cells:
        raise NotebookError(
            f"{notebook.name} has no code cell.",
            remedy="Use a notebook with code.",
        )
    return cells


def _no_folder(folder: Path) -> NotebookError:
    """What to name instead of a folder."""
    inside = sorted(folder.glob("*.ipynb"))
    if not inside:
        return NotebookError(
            f"{folder} is a folder without notebooks.",
            remedy="Name an .ipynb file.",
        )
    n_notebooks = (
        "1 notebook" if len(inside) == 1 else f"{len(inside):,} notebooks"
    )
    return NotebookError(
        f"{folder} is a folder with {n_notebooks}, not a notebook.",
        remedy=f"Name one, such as {inside[0]}, or all: {folder / '*.ipynb'}.",
    )


def _other_than_notebook(path: Path, data: bytes) -> NotebookError | None:
    """What a file is instead of a notebook, by its name and first bytes; None if it may be a broken one."""
    # A broken notebook is told with what is wrong in it.
    if path.suffix == ".ipynb":
        return None
    if path.suffix in (".py", ".pyw"):
        return NotebookError(
            f"{path} is a Python script, not a notebook.",
            remedy=f"Make a notebook of it (`jupytext --to notebook {path.name}`), and name that.",
        )
    # Before the check for text: a state is JSON, too.
    if _STATE in data[:_BEGINNING]:
        return NotebookError(
            f"{path} is a kernel state that was captured, not a notebook.",
            remedy="Name the notebook that it is of.",
        )
    if b"\0" in data[:_BEGINNING] or not _is_text(data):
        return NotebookError(
            f"{path} is neither a notebook nor a text.",
            remedy="Name an .ipynb file.",
        )
    what = (
        "JSON, but not a notebook"
        if data.lstrip()[:1] in (b"{", b"[")
        else "a text, not a notebook"
    )
    return NotebookError(
        f"{path} is {what}.",
        remedy="Name an .ipynb file; code belongs into one of its code cells.",
    )


def _is_text(data: bytes) -> bool:
    try:
        data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return False
    return True
