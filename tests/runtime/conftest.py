"""Tiny notebooks for real kernels, kernels that tests share, and the proof that no process of a test is left."""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import nbformat
import pytest

from crane_core.runtime import probe_source
from crane_core.runtime.kernel import Kernel, fresh_kernel
from crane_core.runtime.limits import KernelLimits
from crane_core.runtime.program import program
from crane_core.runtime.rehearsal import Rehearsal, rehearsal_of, request
from tests.patience import PATIENCE_S, UNHURRIED

WriteNotebook = Callable[..., Path]
MARK = "CRANE_TEST"


def processes_marked(mark: str) -> dict[int, str]:
    """Running processes that inherited our mark, with their command lines; one that has ended has no environment."""
    found = {}
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if f"{MARK}={mark}".encode() in (
                path / "environ"
            ).read_bytes().split(b"\0"):
                found[int(path.name)] = (
                    (path / "cmdline").read_text().replace("\0", " ")
                )
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue
    return found


def is_running(pid: int) -> bool:
    """Whether there is such a process; one that has ended and waits for its parent is not running."""
    try:
        return (
            Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
            != "Z"
        )
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.fixture(autouse=True)
def mark(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A mark that all processes of the test inherit; none of them may be left when it is over."""
    name = uuid.uuid4().hex
    monkeypatch.setenv(MARK, name)
    yield name
    assert {
        pid: line
        for pid, line in processes_marked(name).items()
        if pid != os.getpid()
    } == {}


def write_notebook(
    folder: Path,
    name: str,
    *cells: str,
    counts: Sequence[int | None] | None = None,
    crash: int | None = None,
    tags: Mapping[int, Sequence[str]] | None = None,
) -> Path:
    """Write a notebook of code cells into a folder.

    A count that is left out is given from 1 upwards; `crash` is the index of a cell with an error output; `tags` are
    those of cells by index.
    """
    book = nbformat.v4.new_notebook(nbformat_minor=4)
    book.cells.append(nbformat.v4.new_markdown_cell(f"# {name}"))
    for index, source in enumerate(cells):
        cell = nbformat.v4.new_code_cell(
            source, execution_count=counts[index] if counts else index + 1
        )
        if tags and index in tags:
            cell.metadata["tags"] = list(tags[index])
        if index == crash:
            cell.outputs = [
                nbformat.v4.new_output(
                    "error", ename="ValueError", evalue="no", traceback=[]
                )
            ]
        book.cells.append(cell)
    for cell in book.cells:
        del cell["id"]
    path = folder / f"{name}.ipynb"
    nbformat.write(book, path)
    return path


@pytest.fixture
def notebook(tmp_path: Path) -> WriteNotebook:
    """Write a notebook of code cells into the test's folder."""
    return partial(write_notebook, tmp_path)


class SharedKernel:
    """A kernel that stays open for many looks and rehearsals, none of which leaves anything in it."""

    def __init__(self, kernel: Kernel, folder: Path) -> None:
        self._kernel = kernel
        self.folder = folder

    def run(self, code: str) -> None:
        """Run a cell, which may not raise."""
        reply = self._kernel.run(code)
        assert reply.exception is None, f"{code}\n{reply.traceback}"

    def evaluate(self, *expressions: str) -> list[Any]:
        """Values as the probes of a capture give them."""
        told: list[Any] = self._told(probe_source.evaluate(list(expressions)))
        return told

    def look(
        self, target: str, *cells: str, unhurried: bool = True
    ) -> dict[str, Any]:
        """What the target would meet after these cells."""
        ran = [
            {"code": code, "notebook_index": at, "executed": True, "order": at}
            for at, code in enumerate(cells)
        ]
        limits = {"limits": UNHURRIED} if unhurried else {}
        state: dict[str, Any] = self._told(
            probe_source.look(
                {"target": target, "cells": ran} | limits,
                probe_source.OUR_MAGIC,
            )
        )["state"]
        return state

    def rehearse(self, target: str, seconds: float = PATIENCE_S) -> Rehearsal:
        """What the target comes to in a copy of the kernel."""
        asked = probe_source.rehearse(
            request(target, seconds), probe_source.OUR_MAGIC
        )
        return rehearsal_of(self._told(asked))

    def _told(self, expression: str) -> Any:
        return json.loads(self._kernel.evaluate(expression, PATIENCE_S))


OpenKernel = Callable[[Path], AbstractContextManager[SharedKernel]]


@pytest.fixture(scope="session")
def open_kernel() -> OpenKernel:
    """A context with a kernel that works in a folder; for a fixture of a module, whose tests share it."""

    @contextmanager
    def opened(folder: Path) -> Iterator[SharedKernel]:
        with fresh_kernel(program(), folder, KernelLimits()) as kernel:
            kernel.evaluate(probe_source.greet())  # as a capture begins
            yield SharedKernel(kernel, folder)

    return opened
