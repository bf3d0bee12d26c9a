"""Tiny notebooks for real kernels, and the proof after every test that no process of theirs is left."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import nbformat
import pytest

WriteNotebook = Callable[..., Path]
MARK = "CRANE_TEST"


def processes_marked(mark: str) -> dict[int, str]:
    """Running processes that inherited our mark, with their command lines; one that has ended has no environment."""
    found = {}
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if f"{MARK}={mark}".encode() in (path / "environ").read_bytes().split(b"\0"):
                found[int(path.name)] = (path / "cmdline").read_text().replace("\0", " ")
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue
    return found


def is_running(pid: int) -> bool:
    """Whether there is such a process; one that has ended and waits for its parent is not running."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.fixture(autouse=True)
def mark(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A mark that all processes of the test inherit; none of them may be left when it is over."""
    name = uuid.uuid4().hex
    monkeypatch.setenv(MARK, name)
    yield name
    assert {pid: line for pid, line in processes_marked(name).items() if pid != os.getpid()} == {}


@pytest.fixture
def notebook(tmp_path: Path) -> WriteNotebook:
    """Write a notebook of code cells into the test's folder.

    A count that is left out is given from 1 upwards; `crash` is the index of a cell with an error output; `tags` are
    those of cells by index.
    """

    def write(
        name: str,
        *cells: str,
        counts: Sequence[int | None] | None = None,
        crash: int | None = None,
        tags: Mapping[int, Sequence[str]] | None = None,
    ) -> Path:
        book = nbformat.v4.new_notebook(nbformat_minor=4)
        book.cells.append(nbformat.v4.new_markdown_cell(f"# {name}"))
        for index, source in enumerate(cells):
            cell = nbformat.v4.new_code_cell(source, execution_count=counts[index] if counts else index + 1)
            if tags and index in tags:
                cell.metadata["tags"] = list(tags[index])
            if index == crash:
                cell.outputs = [nbformat.v4.new_output("error", ename="ValueError", evalue="no", traceback=[])]
            book.cells.append(cell)
        for cell in book.cells:
            del cell["id"]
        path = tmp_path / f"{name}.ipynb"
        nbformat.write(book, path)
        return path

    return write
