"""Which variables are one object, and which are also held by another: what is changed through one name is seen by both.

Knows Python's own containers and the dicts of objects, looked through to a bounded depth and length. Refuses to run any
code of theirs; where there is more than it looks through, everything counts as held.
"""

from __future__ import annotations

import itertools
import types
from typing import Any, Iterable, Mapping

from .anatomy import (
    Names,
    instance_dict,
    module_of,
    name_of,
    package_of,
    type_name,
)
from .bounds import Facts
from .kinds import Kinds

# These cannot be changed, or not by what a cell does with their value.
_FIXED = Kinds(
    int,
    float,
    complex,
    bool,
    str,
    bytes,
    range,
    type(None),
    type,
    types.ModuleType,
    types.FunctionType,
    types.BuiltinFunctionType,
)
# Looked through in milliseconds; beyond, the answer "held" is always safe.
_MOST_OBJECTS = 20_000
_DEEPEST = 4
_LONGEST = 1_000
_WALKED = Kinds(list, tuple, dict, set, frozenset)
_CHANGED = Kinds(list, dict, set, bytearray)
# Of other classes two ways to one object are usual (dtypes, fonts), and changing one is not.
_CHANGED_NAMES = (
    "ndarray",
    "DataFrame",
    "Series",
    "Tensor",
    "deque",
    "defaultdict",
    "OrderedDict",
    "Counter",
)
ANY_TYPE = "*"
"""All types, where there is more than is looked through."""
_OF_IPYTHON = ("In", "Out", "exit", "quit", "get_ipython")
_SHELL = ("IPython", "ipykernel")
"""The shell holds every variable of the notebook."""


def shared(found: Mapping[str, Any], namespace: Names) -> Facts:
    """Which names share objects: {"same", "held", "doubled"}.

    "same" are groups of names of one object, "held" names of objects that another object of the namespace holds, and
    "doubled" by name the types of objects inside that are there a second time, or inside the object of another name.
    """
    names: dict[int, list[str]] = {}
    for name, value in found.items():
        # Small integers and texts are one object under many names, which means nothing.
        if type(value) not in _FIXED:
            names.setdefault(id(value), []).append(name)
    if not names:
        return {}
    roots = [
        value
        for name, value in namespace.items()
        # IPython's own: `_` and `Out` hold what cells showed, which is hardly ever changed through
        # them.
        if not name.startswith("_") and name not in _OF_IPYTHON
    ]
    # An object may hold the namespace itself, and so everything.
    held = _held(names, roots, {id(namespace)})
    told = {
        "same": [group for group in names.values() if len(group) > 1],
        "held": sorted(held),
        "doubled": _doubled(found),
    }
    return {key: value for key, value in told.items() if value}


def _held(
    names: Mapping[int, list[str]], roots: Iterable[Any], seen: set[int]
) -> set[str]:
    held: set[str] = set()
    layer = list(roots)
    n_objects = 0
    for _ in range(_DEEPEST):
        inner: list[Any] = []
        for value in layer:
            # Each object once: containers may hold each other.
            if (
                id(value) in seen
                or type(value) in _FIXED
                or package_of(type(value)) in _SHELL
            ):
                continue
            seen.add(id(value))
            parts = _parts(value)
            n_objects += len(parts)
            if n_objects > _MOST_OBJECTS:
                # Too many to look through: then every name may be held.
                return {name for group in names.values() for name in group}
            for part in parts:
                if id(part) in names:
                    held.update(names[id(part)])
            inner += parts
        layer = inner
    return held


def _doubled(found: Mapping[str, Any]) -> Facts:
    """After `rows = [[0]] * 2`, `rows[0].append(1)` is seen through `rows[1]`: types of such objects, by name."""
    # Names of one object and objects that another holds are told as that.
    named = {id(value) for value in found.values()}
    owners: dict[int, str] = {}
    types_met: dict[str, set[str]] = {}
    n_left = _MOST_OBJECTS
    for name, root in dict(
        zip(map(id, found.values()), found.items())
    ).values():
        layer = [root]
        for _ in range(_DEEPEST):
            parts = [part for each in layer for part in _owned(each)]
            layer = []
            for part in parts:
                owner = owners.get(id(part))
                if owner is not None:
                    for each in (owner, name):
                        types_met.setdefault(each, set()).add(
                            type_name(type(part))
                        )
                elif id(part) not in named:
                    layer.append(part)
                    # A tuple stays as it is, and what it holds is looked at each time.
                    if _can_be_changed(part):
                        owners[id(part)] = name
            n_left -= len(parts)
        if n_left < 0:
            return {name: [ANY_TYPE] for name in found}
    return {name: sorted(types) for name, types in types_met.items()}


def _owned(value: Any) -> list[Any]:
    """The parts of a container of Python or an object of the notebook that may be changed, or hold what may be."""
    is_own = module_of(type(value)) == "__main__"
    if type(value) not in _WALKED and not is_own:
        return []
    return [part for part in _parts(value) if type(part) not in _FIXED]


def _can_be_changed(value: Any) -> bool:
    kind = type(value)
    return (
        kind in _CHANGED
        or module_of(kind) == "__main__"
        or name_of(kind) in _CHANGED_NAMES
    )


def _parts(value: Any) -> list[Any]:
    """What a container or object holds; of a long one its first parts, which tell whether it holds numbers."""
    kind = type(value)
    if kind is list or kind is tuple:
        return list(value[:_LONGEST])
    if kind is dict:
        return list(itertools.islice(value.values(), _LONGEST))
    if kind is set or kind is frozenset:
        return list(itertools.islice(value, _LONGEST))
    return list(itertools.islice(instance_dict(value).values(), _LONGEST))
