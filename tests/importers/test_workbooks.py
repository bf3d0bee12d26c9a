"""A workbook is a zip archive as well: what it unpacks to is bounded by what it declares."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable

import pytest

from crane_core.importers.reading import UnreadableFileError
from crane_core.importers.workbooks import MAX_UNPACKED_BYTES, Workbook

from .conftest import Sheets, TreeOf


def with_part(book: bytes, name: str, data: bytes, *, declared: int) -> bytes:
    """The workbook with one more part, whose header and directory entry both say `declared` bytes."""
    stream = io.BytesIO(book)
    with zipfile.ZipFile(stream, "a", zipfile.ZIP_DEFLATED) as parts:
        parts.writestr(name, data)
    return stream.getvalue().replace(
        len(data).to_bytes(4, "little"), declared.to_bytes(4, "little")
    )


def test_a_part_that_unpacks_to_more_than_it_declares_is_refused(
    tree_of: TreeOf, workbook: Callable[[Sheets], bytes]
) -> None:
    book = with_part(
        workbook({"One": [["a"]]}),
        "xl/media/zeros.bin",
        bytes(30_000_001),
        declared=1_000,
    )
    with pytest.raises(
        UnreadableFileError,
        match=r"not a readable workbook: xl/media/zeros\.bin cannot be unpacked",
    ):
        Workbook(tree_of({"book.xlsx": book}), "book.xlsx")


def test_a_workbook_that_declares_too_much_is_refused(
    tree_of: TreeOf, workbook: Callable[[Sheets], bytes]
) -> None:
    book = with_part(
        workbook({"One": [["a"]]}),
        "xl/zeros.bin",
        bytes(3_000_001),
        declared=MAX_UNPACKED_BYTES,
    )
    with pytest.raises(UnreadableFileError, match="unpacks to more than"):
        Workbook(tree_of({"book.xlsx": book}), "book.xlsx")
