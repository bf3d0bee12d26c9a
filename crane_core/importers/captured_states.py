"""States that `capture` wrote: a JSON file each, with the state of one notebook of a pair before its target.

Knows the members of such a file. Refuses to invent whose state it is: a notebook that is not half of a pair is
reported and left out.
"""

from collections.abc import Iterator
from typing import Any

from crane_core import domain
from crane_core.importers.filetree import FileTree
from crane_core.importers.instance_ids import JUNOBENCH
from crane_core.importers.published_detectors import slug
from crane_core.importers.reading import UnreadableFileError, read_json

KIND = "captured-states"
ORIGIN = "capture"
SCHEMA_VERSION = 2
_SUFFIX = ".json"
_MARK = b'"schema_version"'
_LOOKED_AT = 200
"""Bytes at the beginning of a file within which a captured state names its format."""
_GROUPS = ("structure", "representation", "values")
_OBJECTS = ("variables", "accesses", "absent", "unavailable", "captured")


def recognises(tree: FileTree) -> float:
    """Confidence (0..1): only JSON files, and the first begins as `capture` begins one."""
    if not tree.paths or not all(path.endswith(_SUFFIX) for path in tree.paths):
        return 0.0
    # The members of a file come in the order in which `capture` writes them, so its beginning is enough.
    return 0.95 if _MARK in tree.read(tree.paths[0])[:_LOOKED_AT] else 0.0


def read(tree: FileTree) -> Iterator[domain.Record]:
    """A KernelState per file, with all that was seen; it waits for its instance where that is not loaded yet."""
    yield from tree.problems
    for path in tree.paths:
        if not path.endswith(_SUFFIX):
            continue
        try:
            yield state_of(read_json(tree, path))
        except UnreadableFileError as error:
            yield error.problem
        except ValueError as error:
            yield domain.LoadProblem(path, "file", str(error))


def state_of(document: Any) -> domain.KernelState:
    """The record of a captured file; ValueError, in words for the user, when it is none."""
    if (
        not isinstance(document, dict)
        or document.get("schema_version") != SCHEMA_VERSION
    ):
        raise ValueError(
            f"expected a captured state of schema {SCHEMA_VERSION}"
        )
    for name in _OBJECTS:
        _object(document, name)
    for name, entry in (document["variables"] | document["accesses"]).items():
        _check_entry(name, entry)
    return domain.KernelState.from_json(
        document,
        benchmark=slug(_text(document, "benchmark", JUNOBENCH.benchmark)),
        instance_id=_instance(_text(document, "notebook")),
        # A capture holds everything that can be shown; a narrower setting is cut out of it when a prompt is
        # made.
        setting=domain.Setting.RUNTIME_PLUS,
        origin=ORIGIN,
    )


def _instance(notebook: str) -> str:
    name = notebook.removesuffix(".ipynb")
    if not name.endswith(tuple(f"_{version}" for version in domain.Version)):
        raise ValueError(
            f"{notebook} is not called <case>_reproduced.ipynb or <case>_fixed.ipynb"
        )
    return name


def _check_entry(name: str, entry: Any) -> None:
    if not isinstance(entry, dict):
        raise ValueError(f"the entry {name!r} is not an object")
    _text(entry, "type")
    for group in (*_GROUPS, "plus"):
        if group in entry:
            _object(entry, group)


def _object(document: domain.JsonObject, name: str) -> None:
    value = document.get(name)
    if not isinstance(value, dict):
        raise ValueError(
            f"{name} is missing"
            if value is None
            else f"{name} must be an object"
        )


def _text(
    document: domain.JsonObject, name: str, default: str | None = None
) -> str:
    value = document.get(name, default)
    if not isinstance(value, str) or not value:
        raise ValueError(
            f"{name} is missing"
            if value is None
            else f"{name} must be a string"
        )
    return value
