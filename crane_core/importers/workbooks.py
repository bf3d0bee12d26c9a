"""Reading the sheets of .xlsx workbooks by their header row.

Knows workbooks through calamine. Refuses to know what the columns mean.
"""

import io
import zipfile
from collections.abc import Iterator
from typing import Any, NamedTuple

from python_calamine import CalamineError, CalamineWorkbook

from crane_core.errors import SourceError
from crane_core.importers.archive_safety import MEBIBYTE
from crane_core.importers.filetree import FileTree
from crane_core.importers.reading import UnreadableFileError, read_bytes
from crane_core.importers.zip_archive import read_member

MAX_UNPACKED_BYTES = 256 * MEBIBYTE
"""Largest sum of a workbook's parts; the largest published one has 1 MiB."""

UNNAMED = "unnamed column"


class WorkbookRow(NamedTuple):
    """A row by column name; `place` says where it is, in words for a LoadProblem."""

    place: str
    cells: dict[str, Any]

    def text(self, column: str) -> str:
        """The cell as text without surrounding blanks, "" when the column or the value is missing."""
        return str(self.cells.get(column, "")).strip()


class Workbook:
    """The sheets of one workbook. Raises UnreadableFileError if it is not a workbook, is damaged or is a bomb."""

    def __init__(self, tree: FileTree, path: str) -> None:
        self.path = path
        data = read_bytes(tree, path)
        try:
            _refuse_bomb(data, path)
            self._sheets = CalamineWorkbook.from_filelike(io.BytesIO(data))
        except UnreadableFileError:
            raise
        except (
            CalamineError,
            SourceError,
            zipfile.BadZipFile,
            ValueError,
            OSError,
        ) as error:
            raise UnreadableFileError(
                path, "file", f"it is not a readable workbook: {error}"
            ) from error

    @property
    def sheet_names(self) -> list[str]:
        """The names of the sheets as the file spells them, in its order."""
        return list(self._sheets.sheet_names)

    def cells(self, sheet: str) -> list[list[Any]]:
        """Every cell as it is, without a header. Raises UnreadableFileError if there is no such sheet."""
        return self._cells(self._spelled(sheet))

    def rows(self, sheet: str, *required: str) -> Iterator[WorkbookRow]:
        """The rows below the header as Row; blank rows are left out, unnamed columns are joined under UNNAMED.

        Raises UnreadableFileError if the sheet or a required column is missing.
        """
        header, *body = self._cells(self._spelled(sheet)) or [[]]
        names = [str(cell).strip() for cell in header]
        missing = [column for column in required if column not in names]
        if missing:
            raise UnreadableFileError(
                self.path,
                f"sheet {sheet}",
                f"the column {missing[0]} is missing",
            )
        for number, cells in enumerate(body, start=2):
            if any(cell != "" for cell in cells):
                yield WorkbookRow(
                    f"sheet {sheet}, row {number}", _named(names, cells)
                )

    def _spelled(self, sheet: str) -> str:
        """The sheet's name as spelled in this workbook: with blanks or underscores, in any case.

        The only sheet of a workbook matches any name.
        """
        wanted = sheet.replace(" ", "_").lower()
        if len(self.sheet_names) == 1:
            return self.sheet_names[0]
        for name in self.sheet_names:
            if name.replace(" ", "_").lower() == wanted:
                return name
        only = ", ".join(self.sheet_names)
        raise UnreadableFileError(
            self.path, f"sheet {sheet}", f"the workbook has only {only}"
        )

    def _cells(self, sheet: str) -> list[list[Any]]:
        try:
            return self._sheets.get_sheet_by_name(sheet).to_python(
                skip_empty_area=False
            )
        except (CalamineError, ValueError, OSError) as error:
            raise UnreadableFileError(
                self.path, f"sheet {sheet}", f"it cannot be read: {error}"
            ) from error


def _named(names: list[str], cells: list[Any]) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for name, cell in zip(names, cells, strict=False):
        if name:
            row.setdefault(name, cell)
        elif cell != "":
            row[UNNAMED] = (
                f"{row[UNNAMED]} {cell}" if UNNAMED in row else str(cell)
            )
    return row


def _refuse_bomb(data: bytes, path: str) -> None:
    """Calamine unpacks without a limit, so each part is first unpacked here, up to its declared size."""
    with zipfile.ZipFile(io.BytesIO(data)) as parts:
        if (
            sum(part.file_size for part in parts.infolist())
            > MAX_UNPACKED_BYTES
        ):
            raise UnreadableFileError(
                path,
                "file",
                f"it unpacks to more than {MAX_UNPACKED_BYTES:,} bytes",
            )
        for part in parts.infolist():
            read_member(parts, part)
