"""Predictions in a table, CSV or Parquet: each row as the members that a JSON line would have.

Knows the two formats and the columns. Refuses to know what the members mean.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from typing import Any

from crane_core.domain import LoadProblem
from crane_core.importers.archive_safety import MEBIBYTE
from crane_core.importers.filetree import FileTree
from crane_core.importers.reading import (
    UnreadableFileError,
    read_bytes,
    read_text,
)

NEEDED = ("instance", "detector", "setting", "index", "crashes")
COLUMNS = (
    *NEEDED,
    "reasoning",
    "benchmark",
    "experiment",
    "kind",
    "title",
    "diagnostics",
)
LONGEST_TEXT = MEBIBYTE
"""Characters of one text."""
MAX_UNPACKED = 512 * MEBIBYTE
"""Characters of all texts of one Parquet file, which its compression may hide."""
_BATCH = 64
_TRUTH = {"true": True, "false": False}

PlacedRow = tuple[str, dict[str, Any]]
"""The number of the row, the header being row 1, and its members."""


def csv_rows(tree: FileTree, path: str) -> Iterator[PlacedRow | LoadProblem]:
    """The rows of a CSV file with a header; an empty cell is null. Raises UnreadableFileError."""
    rows = csv.reader(
        # Spreadsheets begin CSV with a byte-order mark, which would become part of the first column's name.
        io.StringIO(read_text(tree, path).removeprefix("\ufeff"), newline=""),
        strict=True,
    )
    number = 1
    try:
        header = [name.strip() for name in next(rows, [])]
        _refuse_missing(path, header)
        for number, cells in enumerate(rows, start=2):
            if len(cells) > len(header):
                yield LoadProblem(
                    path,
                    f"row {number}",
                    f"it has {len(cells)} cells, the header {len(header)}",
                )
            elif any(cell.strip() for cell in cells):
                yield f"row {number}", _members(header, cells)
    except csv.Error as error:
        raise UnreadableFileError(
            path, f"row {number + 1}", f"it is not CSV: {error}"
        ) from error


def _members(header: Sequence[str], cells: Sequence[str]) -> dict[str, Any]:
    row: dict[str, Any] = {
        name: cell if cell.strip() else None
        for name, cell in zip(header, cells, strict=False)
    }
    crashes, index = (
        str(row.get("crashes") or "").strip(),
        str(row.get("index") or "").strip(),
    )
    if crashes:
        row["crashes"] = _TRUTH.get(crashes.casefold(), crashes)
    # `isdigit` alone takes digits of other scripts and powers, which `int` may refuse.
    if index.isascii() and index.isdigit() and len(index) <= len(str(10**9)):
        row["index"] = int(index)
    return row


def parquet_rows(tree: FileTree, path: str) -> Iterator[PlacedRow]:
    """The rows of a Parquet file. Raises UnreadableFileError."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        data = read_bytes(tree, path)
        schema = pq.read_schema(io.BytesIO(data))
        names = schema.names
        _refuse_missing(path, names)
        texts = [
            name
            for name in COLUMNS
            if name in names and _is_text(schema.field(name).type)
        ]
        file = pq.ParquetFile(io.BytesIO(data), read_dictionary=texts)
        unpacked, number = 0, 1
        for batch in file.iter_batches(
            batch_size=_BATCH,
            columns=[name for name in COLUMNS if name in names],
        ):
            # Checked while it is packed: a long text that repeats itself may take few bytes in the file.
            for column in batch.columns:
                _refuse_long_text(path, column, number)
            for row in batch.to_pylist():
                number += 1
                unpacked += sum(
                    len(value)
                    for value in row.values()
                    if isinstance(value, str)
                )
                if unpacked > MAX_UNPACKED:
                    raise UnreadableFileError(
                        path,
                        f"row {number}",
                        f"more than {MAX_UNPACKED:,} characters of text",
                    )
                yield f"row {number}", row
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise UnreadableFileError(
            path, "file", f"it cannot be read as Parquet: {error}"[:300]
        ) from error


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _refuse_long_text(path: str, column: Any, number: int) -> None:
    """Before it is unpacked: a dictionary holds a text once that may stand in every row."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(column, pa.DictionaryArray):
        longest = pc.max(pc.binary_length(column.dictionary)).as_py() or 0
        if longest > LONGEST_TEXT:
            raise UnreadableFileError(
                path,
                f"after row {number}",
                f"a text is longer than {LONGEST_TEXT:,} bytes",
            )


def _refuse_missing(path: str, header: Sequence[str]) -> None:
    if missing := [name for name in NEEDED if name not in header]:
        raise UnreadableFileError(
            path,
            "row 1",
            f"the column {missing[0]} is missing; {', '.join(NEEDED)} are needed, with these names",
        )
