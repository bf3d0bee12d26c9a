"""Reading one file of a tree as text, JSON or a workbook, with every failure named by file, place and reason.

Knows encodings and containers. Refuses to know what the contents mean.

A key that a source states twice is reported here, too: as a duplicate, or as a contradiction, of which the first
statement is kept.
"""

import functools
import json
from collections.abc import Callable, Hashable, Iterator
from typing import Any, ParamSpec, TypeVar

from crane_core.domain import LoadProblem, ProblemKind
from crane_core.errors import SourceError
from crane_core.importers.filetree import FileTree
from crane_core.notebooks import refuse_json_bomb

_EXPORT_AGAIN = "Fetch or export the file again."
_WHOLE_FILE = "file"
P = ParamSpec("P")
R = TypeVar("R")


class UnreadableFileError(SourceError):
    """An invalid file, or an invalid part of it at `place`; an importer reports it as a LoadProblem."""

    def __init__(self, path: str, place: str, reason: str) -> None:
        super().__init__(f"{path}, {place}: {reason}.", remedy=_EXPORT_AGAIN)
        self.problem = LoadProblem(path, place, reason)


def with_problems(
    read: Callable[P, Iterator[R]],
) -> Callable[P, Iterator[R | LoadProblem]]:
    """A reader of records that ends with a problem, not with an exception, where its file cannot be read."""

    @functools.wraps(read)
    def reading(*given: P.args, **named: P.kwargs) -> Iterator[R | LoadProblem]:
        try:
            yield from read(*given, **named)
        except UnreadableFileError as error:
            yield error.problem

    return reading


def read_bytes(tree: FileTree, path: str) -> bytes:
    """The file's bytes, or UnreadableFileError."""
    try:
        return tree.read(path)
    except SourceError as error:
        raise UnreadableFileError(
            path, _WHOLE_FILE, str(error.args[0])
        ) from error


def read_text(tree: FileTree, path: str) -> str:
    """The file's UTF-8 text exactly as it is, byte order mark and line ends included, or UnreadableFileError."""
    data = read_bytes(tree, path)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UnreadableFileError(
            path, f"byte {error.start}", "it is not UTF-8"
        ) from error


def read_json(tree: FileTree, path: str) -> Any:
    """The file's JSON document, or UnreadableFileError. A byte order mark is tolerated."""
    return parse_json(read_bytes(tree, path), path, _WHOLE_FILE)


def parse_json(data: bytes, path: str, place: str) -> Any:
    """JSON from UTF-8 bytes, or UnreadableFileError for `place`."""
    try:
        refuse_json_bomb(data)
        document = json.loads(data.decode("utf-8-sig"))
        # Only an escape can spell half of a surrogate pair; searching for one is cheap.
        if b"\\u" in data:
            refuse_lone_surrogates(document)
    except (ValueError, RecursionError) as error:
        raise UnreadableFileError(
            path, place, f"it is not JSON in UTF-8: {error}"
        ) from error
    return document


def read_json_list(tree: FileTree, path: str) -> list[Any]:
    """The file's JSON list, or UnreadableFileError."""
    document = read_json(tree, path)
    if not isinstance(document, list):
        raise UnreadableFileError(
            path, _WHOLE_FILE, f"expected a list, not {type(document).__name__}"
        )
    return document


def refuse_lone_surrogates(document: Any) -> None:
    """Raise ValueError if a text in it cannot be stored: JSON can spell half of a surrogate pair."""
    json.dumps(document, ensure_ascii=False).encode("utf-8")


DUPLICATE = "is a duplicate"
CONTRADICTION = "is given again with another answer; the first is kept"


class Statements:
    """What was stated about each key, kept as hashes: a source may hold millions of answers."""

    def __init__(self) -> None:
        self._stated: dict[Hashable, int] = {}

    def problem(
        self,
        key: Hashable,
        stated: Hashable,
        *,
        path: str,
        place: str,
        what: str,
    ) -> LoadProblem | None:
        """None for the first statement about a key. what: the key in words, such as "run 1 of pandas_1_fixed"."""
        if key not in self._stated:
            self._stated[key] = hash(stated)
            return None
        if self._stated[key] == hash(stated):
            return LoadProblem(path, place, f"{what} {DUPLICATE}")
        return LoadProblem(
            path, place, f"{what} {CONTRADICTION}", ProblemKind.CONTRADICTION
        )
