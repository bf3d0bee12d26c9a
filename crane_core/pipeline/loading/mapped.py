"""A file of another tool with the mapping that it is read by: the two are one source, which a rebuild reads alike."""

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from crane_core.errors import SourceError
from crane_core.given_path import read_given_text
from crane_core.importers.answer_maps import answer_map
from crane_core.importers.filetree import open_tree
from crane_core.importers.mapped_answers import HOW_TO_MAP, ready_map

MAP_FILE = "map.toml"
_LARGEST = 2**16
"""Bytes of a mapping."""


@contextmanager
def beside_map(
    path: Path, map_file: Path | None, stated: Mapping[str, str]
) -> Iterator[list[Path]]:
    """The paths to import as one source: the file, and its mapping completed by what is stated for the whole file.

    map_file: None takes the mapping that ships for the file. Raises SourceError, also for a mapping that is invalid.
    """
    text = (
        _text_of(map_file)
        if map_file is not None
        else answer_map.map_toml(_ready(path))
    )
    with mapping_of_text(path, text, stated) as mapped:
        yield mapped


@contextmanager
def mapping_of_text(
    path: Path, text: str, stated: Mapping[str, str] | None = None
) -> Iterator[list[Path]]:
    """The same with a mapping that is given as the text of its file."""
    document = answer_map.completed(
        answer_map.map_document(text.encode()), stated or {}
    )
    # Checked before anything is imported: its errors are about the mapping, not about the file of answers.
    answer_map.map_of(document)
    with tempfile.TemporaryDirectory() as place:
        beside = Path(place) / MAP_FILE
        beside.write_text(
            answer_map.map_toml(document) if stated else text, "utf-8"
        )
        yield [path, beside]


def _text_of(map_file: Path) -> str:
    return read_given_text(
        map_file, _LARGEST, SourceError, "Name the TOML file of a mapping."
    )


def _ready(path: Path) -> Mapping[str, Any]:
    rules = ready_map(open_tree(path))
    if rules is None:
        raise SourceError(
            f"No mapping that ships knows {path}.", remedy=HOW_TO_MAP
        )
    return rules.document
