"""Trees to import: the published archives where they are available, and trees made of a test's own bytes."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import openpyxl
import pytest

from crane_core.domain import Record
from crane_core.importers.archive_safety import Contents
from crane_core.importers.filetree import FileTree, open_tree
from crane_core.importers.registry import importer_for

TreeOf = Callable[..., FileTree]
Sheets = Mapping[str, Sequence[Sequence[Any]]]
T = TypeVar("T")


def of(records: Iterable[Record], kind: type[T]) -> list[T]:
    """The records of one kind, in order."""
    return [record for record in records if isinstance(record, kind)]


def published(root: Path, name: str) -> Path:
    archive = root.parent / "shared" / "upstream" / name
    if not archive.is_file():
        pytest.skip(f"the published archive {name} is not beside the checkout")
    return archive


@pytest.fixture(scope="session")
def crane_llm_archive(root: Path) -> Path:
    return published(root, "crane_llm.tar.gz")


@pytest.fixture(scope="session")
def construct_archive(root: Path) -> Path:
    return published(root, "JunoBench_construct.tar.gz")


@pytest.fixture(scope="session")
def october(crane_llm_archive: Path) -> list[Record]:
    """All records of the published archive of October 2025."""
    tree = open_tree(crane_llm_archive)
    return list(importer_for(tree).read(tree))


@pytest.fixture(scope="session")
def construct(construct_archive: Path) -> list[Record]:
    """All records of the published archive of JunoBench_construct."""
    tree = open_tree(construct_archive)
    return list(importer_for(tree).read(tree))


@pytest.fixture
def tree_of() -> TreeOf:
    """A tree of the given files, texts or bytes by path."""

    def build(files: Mapping[str, str | bytes], name: str = "made") -> FileTree:
        data = {
            path: text.encode() if isinstance(text, str) else text
            for path, text in files.items()
        }
        return FileTree(name, Contents(read=data.__getitem__, names=list(data)))

    return build


@pytest.fixture(scope="session")
def workbook() -> Callable[[Sheets], bytes]:
    """The bytes of an .xlsx file with the given sheets, rows of cells by name."""

    def build(sheets: Sheets) -> bytes:
        book = openpyxl.Workbook()
        book.remove(book.active)
        for title, rows in sheets.items():
            sheet = book.create_sheet(title)
            for row in rows:
                sheet.append(list(row))
        stream = io.BytesIO()
        book.save(stream)
        return stream.getvalue()

    return build
