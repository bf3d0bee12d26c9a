"""A dataset with a notebook column (Parquet or JSON lines), read in batches and reduced to small files.

Of each notebook that crashed the code cells and their error outputs stay; markdown, pictures and other outputs go, so
that gigabytes become megabytes. Rows that are left out are counted by reason, and the first of them named.
"""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from crane_core.errors import SourceError
from crane_core.importers.notebook_rows import SUFFIX
from crane_core.notebooks import crash_index, read_code_cells

BATCH = 16
ROWS_PER_FILE = 500
FILE_BYTES = 24 * 1024 * 1024
ROW_BYTES = 64 * 1024 * 1024
"""A row that is larger is skipped."""
NAMED = 20
"""Rows that are named of each reason in a file."""
LOOKED_AT = 64
"""Rows in which the column is looked for."""


class TooLarge:
    """Represents a row that was not read because of its size."""


TOO_LARGE = TooLarge()


class NotebookColumn(NamedTuple):
    """The files of a dataset, in order, and the column that holds notebooks."""

    name: str
    files: tuple[Path, ...]
    column: str


def notebook_column(path: Path) -> NotebookColumn | None:
    """The folder or file as such a dataset; None if no column of it holds notebooks."""
    there = sorted(path.rglob("*")) if path.is_dir() else [path]
    ordinary = (
        file for file in there if file.is_file() and not file.is_symlink()
    )
    files = tuple(
        file for file in ordinary if file.suffix in {".parquet", ".jsonl"}
    )
    # These are files that a reduction like this one wrote.
    if any(file.name.endswith(SUFFIX) for file in files):
        return None
    # All files of a dataset have the same columns, so the first one tells.
    for file in files[:1]:
        for _, row in zip(range(LOOKED_AT), _rows(file, None), strict=False):
            members = row if isinstance(row, dict) else {}
            for name, value in members.items():
                if _as_notebook(value) is not None:
                    return NotebookColumn(path.resolve().stem, files, str(name))
    return None


def kept_files(dataset: NotebookColumn, into: Path) -> Iterator[Path]:
    """Write the crashing notebooks of the dataset into files in `into`; each as soon as it is full."""
    part, row_number = _FilePart(dataset.name), 0
    n_files = 0
    for file in dataset.files:
        for row in _rows(file, dataset.column):
            part.take(row_number, row)
            row_number += 1
            if part.is_full:
                yield part.write(into, n_files)
                part, n_files = _FilePart(dataset.name), n_files + 1
    if part.n_rows or not n_files:
        yield part.write(into, n_files)


def _rows(file: Path, column: str | None) -> Iterator[Any]:
    """The values of the column, or whole rows; an exception of a row takes its place as text."""
    if file.suffix == ".parquet":
        yield from _parquet_rows(file, column)
        return
    with file.open("rb") as lines:
        # Bounded: a file without line ends would be read into memory as one line.
        while line := lines.readline(ROW_BYTES + 1):
            while (
                len(line) > ROW_BYTES
                and not line.endswith(b"\n")
                and (rest := lines.readline(ROW_BYTES))
            ):
                line = (
                    line[: ROW_BYTES + 1]
                    if not rest.endswith(b"\n")
                    else line[:ROW_BYTES] + b"\n"
                )
            if len(line) > ROW_BYTES:
                yield TOO_LARGE
            elif line.strip():
                yield _member(line, column)


def _member(line: bytes, column: str | None) -> Any:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return (
        row
        if column is None
        else row.get(column)
        if isinstance(row, dict)
        else None
    )


def _parquet_rows(file: Path, column: str | None) -> Iterator[Any]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        opened = pq.ParquetFile(file)
        for batch in opened.iter_batches(
            batch_size=BATCH, columns=None if column is None else [column]
        ):
            rows = batch.to_pylist()
            yield from (
                rows if column is None else (row[column] for row in rows)
            )
    except (pa.ArrowException, OSError, KeyError) as error:
        raise SourceError(
            f"{file.name} cannot be read as Parquet: {error}"[:300],
            remedy="Fetch it again.",
        ) from error


def _as_notebook(value: Any) -> dict[str, Any] | None:
    """The notebook as a JSON object; None if the value is none."""
    if isinstance(value, str | bytes):
        if len(value) > ROW_BYTES or value.lstrip()[:1] not in ("{", b"{"):
            return None
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return None
    is_notebook = isinstance(value, dict) and (
        isinstance(value.get("cells"), list) or "worksheets" in value
    )
    return value if is_notebook else None


@dataclass(slots=True)
class _FilePart:
    """What goes into one file."""

    dataset: str
    lines: list[bytes] = field(default_factory=list)
    n_rows: int = 0
    n_bytes: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    named: dict[str, list[int]] = field(default_factory=dict)

    @property
    def is_full(self) -> bool:
        """Whether the next notebook belongs into another file."""
        return len(self.lines) >= ROWS_PER_FILE or self.n_bytes >= FILE_BYTES

    def take(self, number: int, value: Any) -> None:
        """Add a row's notebook in its reduced form, or count why it is left out."""
        self.n_rows += 1
        try:
            line = json.dumps(
                {"of": self.dataset, "row": number, "notebook": _slim(value)},
                ensure_ascii=False,
            ).encode("utf-8", "replace")
        except ValueError as error:
            self.skip(number, str(error))
            return
        if len(line) > FILE_BYTES:
            self.skip(number, "its code and error outputs are too large")
            return
        self.lines.append(line)
        self.n_bytes += len(line)

    def skip(self, number: int, reason: str) -> None:
        """Count a row that is left out, and name the first ones of each reason."""
        self.skipped[reason] += 1
        rows = self.named.setdefault(reason, [])
        if len(rows) < NAMED:
            rows.append(number)

    def write(self, into: Path, number: int) -> Path:
        """Write the part as a file of JSON lines and return its path; the counts of what was left out come last."""
        head = [json.dumps({"dataset": self.dataset}).encode()]
        tail = [
            json.dumps(
                {"skipped": reason, "n": n, "rows": self.named[reason]}
            ).encode()
            for reason, n in self.skipped.items()
        ]
        path = into / f"{number:05}{SUFFIX}"
        path.write_bytes(b"\n".join([*head, *self.lines, *tail]) + b"\n")
        return path


def _slim(value: Any) -> dict[str, Any]:
    """Code cells with their error outputs alone. Raises ValueError, with the reason, if there is no crash."""
    if value is TOO_LARGE or (
        isinstance(value, str | bytes) and len(value) > ROW_BYTES
    ):
        raise ValueError(f"it is larger than {ROW_BYTES:,} bytes")
    notebook = _as_notebook(value)
    if notebook is None:
        raise ValueError("it contains no notebook")
    cells = read_code_cells(json.dumps(notebook).encode())
    if crash_index(cells) is None:
        raise ValueError("no cell has an error output")
    return {
        "nbformat": 4,
        "nbformat_minor": 4,
        "metadata": {},
        "cells": [
            {
                "cell_type": "code",
                "metadata": {"tags": sorted(cell.tags)} if cell.tags else {},
                "source": cell.source,
                "execution_count": cell.execution_count,
                "outputs": [_error(cell.crash)] if cell.crash else [],
            }
            for cell in cells
        ],
    }


def _error(crash: Any) -> dict[str, Any]:
    return {
        "output_type": "error",
        "ename": crash.exception,
        "evalue": crash.message,
        "traceback": crash.traceback.split("\n"),
    }
