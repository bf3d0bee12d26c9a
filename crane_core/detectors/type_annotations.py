"""Types of the kernel state as annotations before the target, in the names that the notebook would use for them.

Knows how a type is spelled: its public name (public_types.toml), through an import of the executed cells where one
leads there, else with its own import. Refuses to know what an analyzer makes of it.
"""

import ast
import builtins
import keyword
import re
import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from crane_core.detectors.rules.bindings import written_paths
from crane_core.domain import KernelState
from crane_core.runtime.kernel_side.crane_probe.syntax import magics

FILE = Path(__file__).with_name("public_types.toml")
OF_THE_NOTEBOOK = "__main__."
"""Classes that the cells define are not written: their definition, and the line that makes the object, are there."""

_CLASS = re.compile(r"<class '(?P<path>[^']*)'>")
_PATH = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_LONGEST = 300
MOST_NAMES = 500


class PublicNames(NamedTuple):
    """What public_types.toml says, by internal name. `merged` are modules whose submodules are internal, too."""

    types: dict[str, str]
    modules: dict[str, str]
    merged: dict[str, str]
    classes: dict[str, str]
    unnamed: frozenset[str]


@cache
def public_names() -> PublicNames:
    """What public_types.toml says; read once."""
    listed = tomllib.loads(FILE.read_text("utf-8"))
    modules = {"modules": {}, "merged": {}, "classes": {}}  # type: dict[str, dict[str, str]]
    for entry in listed["module"]:
        kind = (
            "merged"
            if entry.get("merges")
            else "classes"
            if entry.get("is_class")
            else "modules"
        )
        modules[kind][entry["internal"]] = entry["public"]
    types = {entry["internal"]: entry["public"] for entry in listed["type"]}
    unnamed = frozenset(
        name for entry in listed["unnamed"] for name in entry["types"]
    )
    return PublicNames(types, **modules, unnamed=unnamed)


def annotation_lines(executed: Sequence[str], state: KernelState) -> list[str]:
    """The lines: imports that the names need, an empty line after them, then `name: type` in the order of names.

    Left out are names that only called functions need, types that public_types.toml calls unnamed, classes of the
    notebook, and dunder names, which no cell assigns.
    """
    bound = imported_names(executed)
    imports: list[str] = []
    lines = []
    for name in sorted(state.variables)[:MOST_NAMES]:
        variable = state.variables[name]
        public = public_name(variable.type)
        if public is None or variable.via or not _is_name(name):
            continue
        known = spelling(public, bound)
        spelled = public if known is None else known
        # After `pd = pd.DataFrame()` the annotation `df: pd.DataFrame` would be an error by itself.
        if _is_taken(
            spelled.partition(".")[0], state, is_imported=known is not None
        ):
            continue
        if known is None:
            imports.append(f"import {public.rpartition('.')[0]}")
        lines.append(f"{name}: {spelled}")
    needed = list(dict.fromkeys(imports))
    return [*needed, *([""] if needed else []), *lines]


def _is_taken(name: str, state: KernelState, *, is_imported: bool) -> bool:
    """Whether an object has the name now, so that no annotation can use it; an import may only replace a module."""
    held = state.variables.get(name)
    harmless = public_names().unnamed if is_imported else {"module"}
    return held is not None and _path(held.type) not in harmless


def _is_name(name: str) -> bool:
    return (
        name.isidentifier()
        and not keyword.iskeyword(name)
        and not (name.startswith("__") and name.endswith("__"))
    )


def public_name(type_text: str) -> str | None:
    """The dotted public name of a type as a state has it; None if there is none to write."""
    path = _path(type_text)
    if (
        # The text comes from the kernel: `int]\nimport os` must not become a line of code.
        len(path) > _LONGEST
        or not _PATH.fullmatch(path)
        or any(map(keyword.iskeyword, path.split(".")))
    ):
        return None
    known = public_names()
    if path in known.unnamed or path.startswith(OF_THE_NOTEBOOK):
        return None
    if path in known.types:
        return known.types[path]
    module, _, name = path.rpartition(".")
    if module:
        return _of_module(module, name, known)
    return name if isinstance(getattr(builtins, name, None), type) else None


def _path(type_text: str) -> str:
    # Published states write a type as Python prints it.
    found = _CLASS.fullmatch(type_text)
    return (found["path"] if found else type_text).removeprefix("builtins.")


def _of_module(module: str, name: str, known: PublicNames) -> str:
    if module in known.modules:
        return f"{known.modules[module]}.{name}"
    parts = module.split(".")
    for n in range(len(parts), 0, -1):
        parent = ".".join(parts[:n])
        if parent in known.merged:
            return f"{known.merged[parent]}.{name}"
        if parent in known.classes:
            return known.classes[parent]
    internal = next(
        (n for n, part in enumerate(parts) if part.startswith("_")), len(parts)
    )
    # Libraries mark internal modules by an underscore; `_io.TextIOWrapper` stays
    # whole, as its first part has one.
    return ".".join([*parts[: internal or len(parts)], name])


def imported_names(executed: Sequence[str]) -> dict[str, str]:
    """What names of the cells stand for: `np` for numpy, `SVC` for sklearn.svm.SVC. Later imports replace earlier."""
    bound: dict[str, str] = {}
    for code in executed:
        # Top level alone: an import inside a function gives the notebook no name.
        for node in magics.parsed(code).tree.body:
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                bound |= written_paths(node)
    return bound


def spelling(public: str, bound: dict[str, str]) -> str | None:
    """The type in names that are bound: the shortest; None if no import leads to it."""
    if "." not in public:
        return public
    ways = [
        name + public[len(path) :]
        for name, path in bound.items()
        if path == public or public.startswith(f"{path}.")
    ]
    return min(ways, key=lambda way: (way.count("."), len(way)), default=None)
