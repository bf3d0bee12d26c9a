"""The rows of another tool's file, each with its place: a list in JSON, JSON lines, CSV or Parquet.

Knows formats. Refuses to know what a row means, beyond the list and the columns that a mapping names.
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from crane_core.domain import LoadProblem
from crane_core.importers import reading
from crane_core.importers.answer_maps.answer_map import AnswerMap
from crane_core.importers.answer_maps.member_path import DOCUMENT, value_at
from crane_core.importers.filetree import FileTree
from crane_core.importers.prediction_rows import csv_rows, parquet_rows

JSON_LINES = (".jsonl", ".ndjson")
SUFFIXES = (".json", *JSON_LINES, ".csv", ".parquet")
_BOM = b"\xef\xbb\xbf"


class PlacedRow(NamedTuple):
    """A row with its place in the file, and the top of the file: of JSON lines and tables, the first row."""

    place: str
    members: dict[str, Any]
    document: Any

    def at(self, path: str) -> Any:
        """The value at a path of the mapping; None if there is none."""
        if path.startswith(DOCUMENT):
            return value_at(self.document, path.removeprefix(DOCUMENT))
        return value_at(self.members, path)


def rows_of(
    tree: FileTree, path: str, rules: AnswerMap
) -> Iterator[PlacedRow | LoadProblem]:
    """The rows of a file as the mapping divides it, in order. Raises UnreadableFileError."""
    for row in _rows(tree, path, rules.rows):
        if isinstance(row, LoadProblem) or rules.column_pattern is None:
            yield row
        else:
            yield from _by_column(row, rules.column_pattern)


def _rows(
    tree: FileTree, path: str, listed_at: str
) -> Iterator[PlacedRow | LoadProblem]:
    lowered = path.lower()
    # Some tools write lines into a file that ends in .json, as Potato does.
    if lowered.endswith(".json") and not _has_lines(
        reading.read_bytes(tree, path)
    ):
        yield from _listed(reading.read_json(tree, path), path, listed_at)
    elif lowered.endswith((".json", *JSON_LINES)):
        yield from _with_document(_lines(tree, path), path)
    elif lowered.endswith(".csv"):
        yield from _with_document(csv_rows(tree, path, needed=()), path)
    elif lowered.endswith(".parquet"):
        found = parquet_rows(tree, path, needed=(), wanted=None)
        yield from _with_document(found, path)
    else:
        raise reading.UnreadableFileError(
            path, "file", f"its name ends in none of {', '.join(SUFFIXES)}"
        )


def _has_lines(content: bytes) -> bool:
    """Whether the first line is an object by itself, and another follows."""
    first, _, rest = content.removeprefix(_BOM).lstrip().partition(b"\n")
    is_object = first.startswith(b"{") and first.rstrip().endswith(b"}")
    return is_object and rest.lstrip().startswith(b"{")


def _listed(
    document: Any, path: str, listed_at: str
) -> Iterator[PlacedRow | LoadProblem]:
    """The rows of one document of JSON: a list in it, or a single object."""
    found = value_at(document, listed_at.removeprefix(DOCUMENT))
    if isinstance(found, dict) and not listed_at:
        found = [found]
    if not isinstance(found, list):
        where = listed_at or "the top"
        raise reading.UnreadableFileError(
            path,
            where,
            f"a list of rows is expected, not {type(found).__name__};"
            " the key rows of the mapping names its path",
        )
    for number, row in enumerate(found):
        place = f"{listed_at}[{number}]"
        yield _placed(place, row, document, path)


def _lines(
    tree: FileTree, path: str
) -> Iterator[tuple[str, Any] | LoadProblem]:
    lines = reading.read_bytes(tree, path).removeprefix(_BOM).split(b"\n")
    for number, line in enumerate(lines, start=1):
        place = f"line {number}"
        if not line.strip():
            continue
        try:
            yield place, reading.parse_json(line, path, place)
        except reading.UnreadableFileError as error:
            yield error.problem


def _with_document(
    rows: Iterator[tuple[str, Any] | LoadProblem], path: str
) -> Iterator[PlacedRow | LoadProblem]:
    document = None
    for row in rows:
        if isinstance(row, LoadProblem):
            yield row
            continue
        place, members = row
        # The first line of a log may describe the whole evaluation, as that of OpenAI Evals does.
        document = members if document is None else document
        yield _placed(place, members, document, path)


def _placed(
    place: str, members: Any, document: Any, path: str
) -> PlacedRow | LoadProblem:
    if isinstance(members, dict):
        return PlacedRow(place, members, document)
    kind = type(members).__name__
    return LoadProblem(path, place, f"expected an object, not {kind}")


def _by_column(
    row: PlacedRow, pattern: re.Pattern[str]
) -> Iterator[PlacedRow | LoadProblem]:
    """A row for each column whose name the pattern matches."""
    for name, cell in row.members.items():
        found = pattern.search(name)
        if found is None:
            continue
        members = row.members | {"column": found.groupdict(), "cell": cell}
        yield PlacedRow(f"{row.place}, column {name!r}", members, row.document)
