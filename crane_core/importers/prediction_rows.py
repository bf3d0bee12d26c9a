"""Predictions in a table, CSV or Parquet: each row as the members that a JSON line would have.

Knows the two formats and the columns. Refuses to know what the members mean.
"""

import csv
import io
from collections.abc import Iterator, Sequence
from typing import Any

from crane_core.domain import LoadProblem
from crane_core.importers import reading
from crane_core.importers.archive_safety import MEBIBYTE
from crane_core.importers.filetree import FileTree

NEEDED = ("instance", "detector", "setting", "index", "crashes")
FIGURES = ("input_tokens", "output_tokens", "seconds", "usd")
"""What an answer took: tokens, seconds from question to answer, and its cost in USD."""
COLUMNS = (
    *NEEDED,
    "reasoning",
    "benchmark",
    "experiment",
    "kind",
    "title",
    "diagnostics",
    *FIGURES,
)
LONGEST_TEXT = MEBIBYTE
"""Characters of one text."""
MAX_UNPACKED = 512 * MEBIBYTE
"""Characters of all texts of one Parquet file, which its compression may hide."""
_BATCH = 64
_TRUTH = {"true": True, "false": False}

PlacedRow = tuple[str, dict[str, Any]]
"""The number of the row, the header being row 1, and its members."""


def csv_rows(
    tree: FileTree, path: str, needed: Sequence[str] = NEEDED
) -> Iterator[PlacedRow | LoadProblem]:
    """The rows of a CSV file with a header; an empty cell is null. Raises UnreadableFileError."""
    rows = csv.reader(
        # Spreadsheets begin CSV with a byte-order mark, which would become part of the first column's name.
        io.StringIO(
            reading.read_text(tree, path).removeprefix("\ufeff"), newline=""
        ),
        strict=True,
    )
    number = 1
    try:
        header = [name.strip() for name in next(rows, [])]
        _refuse_missing(path, header, needed)
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
        raise reading.UnreadableFileError(
            path, f"row {number + 1}", f"it is not CSV: {error}"
        ) from error


def _members(header: Sequence[str], cells: Sequence[str]) -> dict[str, Any]:
    row: dict[str, Any] = {
        name: cell if cell.strip() else None
        for name, cell in zip(header, cells, strict=False)
    }
    crashes = str(row.get("crashes") or "").strip()
    if crashes:
        row["crashes"] = _TRUTH.get(crashes.casefold(), crashes)
    index = str(row.get("index") or "").strip()
    # `isdigit` alone takes digits of other scripts and powers, which `int` may refuse.
    if index.isascii() and index.isdigit() and len(index) <= len(str(10**9)):
        row["index"] = int(index)
    for name in FIGURES:
        if row.get(name) is not None:
            row[name] = _figure(row[name])
    return row


def _figure(cell: str) -> Any:
    """The cell as a number; the cell itself where it is none."""
    try:
        return float(cell.strip())
    except ValueError:
        return cell


def parquet_rows(
    tree: FileTree,
    path: str,
    needed: Sequence[str] = NEEDED,
    wanted: Sequence[str] | None = COLUMNS,
) -> Iterator[PlacedRow]:
    """The rows of a Parquet file, of its columns those `wanted`, or all but nested ones. Raises UnreadableFileError."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        data = reading.read_bytes(tree, path)
        schema = pq.read_schema(io.BytesIO(data))
        names = schema.names
        _refuse_missing(path, names, needed)
        if wanted is None:
            # A nested value could unpack to any size; texts and lists of them are bounded below.
            wanted = [
                name for name in names if _is_flat(schema.field(name).type)
            ]
        texts = [
            name
            for name in wanted
            if name in names and _is_text(schema.field(name).type)
        ]
        file = pq.ParquetFile(io.BytesIO(data), read_dictionary=texts)
        unpacked, number = 0, 1
        for batch in file.iter_batches(
            batch_size=_BATCH,
            columns=[name for name in wanted if name in names],
        ):
            # Checked while it is packed: a long text that repeats itself may take few bytes in the file.
            for column in batch.columns:
                _refuse_long_text(path, column, number)
            for row in batch.to_pylist():
                number += 1
                unpacked += sum(map(_letters, row.values()))
                if unpacked > MAX_UNPACKED:
                    raise reading.UnreadableFileError(
                        path,
                        f"row {number}",
                        f"more than {MAX_UNPACKED:,} characters of text",
                    )
                yield f"row {number}", row
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise reading.UnreadableFileError(
            path, "file", f"it cannot be read as Parquet: {error}"[:300]
        ) from error


def _is_flat(kind: Any) -> bool:
    """Whether a value is not nested, but for a list of texts."""
    import pyarrow as pa

    return not pa.types.is_nested(kind) or (
        pa.types.is_list(kind) and _is_text(kind.value_type)
    )


def _letters(value: Any) -> int:
    """Characters of the texts of a value."""
    if isinstance(value, list):
        return sum(map(_letters, value))
    return len(value) if isinstance(value, str) else 0


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
            raise reading.UnreadableFileError(
                path,
                f"after row {number}",
                f"a text is longer than {LONGEST_TEXT:,} bytes",
            )


def _refuse_missing(
    path: str, header: Sequence[str], needed: Sequence[str]
) -> None:
    if missing := [name for name in needed if name not in header]:
        raise reading.UnreadableFileError(
            path,
            "row 1",
            f"the column {missing[0]} is missing; {', '.join(needed)} are needed, with these names",
        )
