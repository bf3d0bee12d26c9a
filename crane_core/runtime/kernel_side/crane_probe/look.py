"""The look at a namespace: what the target asks for, each of these variables in the paper's three groups, what lacks.

    look(namespace, {"target": code, "cells": [...], "limits": {...}}) -> JSON text

Knows the order of the work. What is looked at in a value is in looking.py, what the target needs in
chains/relevance.py.
"""

from __future__ import annotations

import gc
import platform
import sys
import time
import types
from itertools import islice
from typing import Any, Iterator, Mapping

from . import bounds, shared
from .absences import absent
from .anatomy import Names, is_kind, module_dict, mro_of, package_of
from .bounds import Facts
from .callables.docs import documented
from .chains import relevance
from .chains.following import METHOD
from .limits import LookLimits, limits_from
from .looking import GROUPS, Look
from .session import session
from .syntax.sources import Sources

SCHEMA_VERSION = 2
_WITH_ARRAYS = frozenset(["keras", "pandas", "tensorflow", "torch"])
"""Packages whose objects give and take arrays of NumPy."""
_FIRST_PARTS = 8


def look(namespace: dict[str, Any], request: Mapping[str, Any]) -> str:
    """The state of `namespace` before the target, as JSON text."""
    started = time.perf_counter()
    document = _without_collecting(namespace, request)
    document["captured"]["seconds"] = round(time.perf_counter() - started, 6)
    return bounds.dumps(bounds.safe(document, LookLimits().variable_chars))


def _without_collecting(
    namespace: dict[str, Any], request: Mapping[str, Any]
) -> Facts:
    """The document, with the cyclic garbage collector held: a collection would run finalizers of the notebook."""
    was_enabled = gc.isenabled()
    # A weak reference's callback or a __del__ of the notebook would run in the middle of the look.
    gc.disable()
    try:
        return _document(namespace, request)
    finally:
        if was_enabled:
            gc.enable()


def _document(namespace: dict[str, Any], request: Mapping[str, Any]) -> Facts:
    limits = limits_from(dict(request.get("limits") or {}))
    sources = Sources(list(request.get("cells") or ()))
    unavailable: dict[str, str] = {}
    needs = _needs(request["target"], namespace, sources, limits, unavailable)
    seen = Look(limits, needs.asked, needs.mentioned)
    # In the order in which the target uses them, so that what is cut is used last.
    found = {name: namespace[name] for name in needs.names if name in namespace}
    entries = _entries(seen, found, unavailable)
    # After the variables, as they share the time that is left.
    accesses = absent.accesses(seen, namespace, needs, unavailable)
    absences = absent.absences(namespace, needs, sources, unavailable)
    # Docs belong to a variable where it is called itself, and to the access where it is a method.
    for text, docs in documented(needs.chains, namespace, unavailable).items():
        (
            entries[text]
            if text in entries
            else accesses.setdefault(text, {"type": METHOD})
        )["docs"] = docs
    document = {
        "schema_version": SCHEMA_VERSION,
        "captured": {
            "python": platform.python_version(),
            "packages": _versions(found),
            **_shared(found, namespace, unavailable),
            **session.facts(namespace, unavailable),
        },
        "variables": {
            name: _placed(entry, name, needs, sources)
            for name, entry in entries.items()
        },
        "accesses": accesses,
        "absent": absences,
        "unavailable": unavailable,
    }
    # What cannot be parsed is told with what is known all the same.
    return dict(
        document,
        **({"syntax_error": needs.syntax_error} if needs.syntax_error else {}),
    )


def _shared(
    found: Mapping[str, Any], namespace: Names, unavailable: dict[str, str]
) -> Facts:
    """Where it is unknown, everything counts as held."""
    try:
        return shared.shared(found, namespace)
    except Exception as error:  # noqa: BLE001 - the rest of the state is told all the same
        unavailable["what else holds the variables"] = bounds.why(error)
        # Said to be held, not unknown: then no change through one name is taken for the only one.
        return {"held": sorted(found)}


def _needs(
    target: str,
    namespace: Names,
    sources: Sources,
    limits: LookLimits,
    unavailable: dict[str, str],
) -> relevance.Needs:
    try:
        return relevance.needs(target, namespace, sources, limits)
    except Exception as error:  # noqa: BLE001 - a target that cannot be read is told as such
        unavailable["the target"] = bounds.why(error)
        return relevance.Needs()


def _entries(
    seen: Look, found: Mapping[str, Any], unavailable: dict[str, str]
) -> Facts:
    """Entries by name; the reasons why others have none are added to `unavailable`."""
    entries: Facts = {}
    chars = 0
    for name, value in found.items():
        # Counted as text, since one frame can be larger than a hundred numbers.
        if (
            len(entries) >= seen.limits.variables
            or chars > seen.limits.state_chars
        ):
            unavailable[name] = "the state is full"
            continue
        entries[name] = seen.entry(name, value)
        unavailable.update(
            {name: entries[name]["unavailable"]}
            if "unavailable" in entries[name]
            else {}
        )
        chars += len(bounds.dumps(entries[name]))
    return entries


def _placed(
    entry: Facts, name: str, needs: relevance.Needs, sources: Sources
) -> Facts:
    """The entry with the place where the variable was given its value.

    A variable that only functions of the notebook need is an addition to what the published extractor shows, with all
    its facts; `via` names the functions.
    """
    place = sources.assigned(name)
    placed = dict(
        entry, **({"assigned": place.to_json()} if place is not None else {})
    )
    # The paper's prompts show only what the target names itself.
    if name not in needs.via:
        return placed
    if "unavailable" in entry:
        return dict(placed, via=list(needs.via[name]))
    plus = {
        group: dict(
            entry.get(group, {}), **entry.get("plus", {}).get(group, {})
        )
        for group in GROUPS
    }
    return dict(
        placed,
        **{key: {} for key in GROUPS},
        plus=plus,
        via=list(needs.via[name]),
    )


def _versions(found: Mapping[str, Any]) -> dict[str, str]:
    """The versions of the packages that the variables and their classes come from, as far as they state one."""
    values = [part for value in found.values() for part in _with_parts(value)]
    tops = {top for value in values for top in _top_packages(value)}
    # Facts of arrays depend on numpy's release even where no array is a variable.
    tops |= {"numpy"} if tops & _WITH_ARRAYS else set()
    versions = {top: _version_of(top) for top in sorted(tops)}
    # torch's version is of its own class.
    return {
        top: bounds.text(str.__str__(version), 40)
        for top, version in versions.items()
        if is_kind(version, str)
    }


def _with_parts(value: Any) -> Iterator[Any]:
    """The value, and the first parts of a container: an array of two Axes is of matplotlib, too."""
    yield value
    kind = type(value)
    if kind is list or kind is tuple:
        yield from value[:_FIRST_PARTS]
    elif kind is dict:
        yield from islice(value.values(), _FIRST_PARTS)
    # By identity, as a class of the notebook may call itself numpy.ndarray.
    elif (
        kind is module_dict(sys.modules.get("numpy")).get("ndarray")
        and value.dtype.kind == "O"
    ):
        yield from islice(value.flat, _FIRST_PARTS)


def _version_of(package: str) -> Any:
    """What the package states, or the module in which its build wrote it (matplotlib, which answers by code)."""
    stated = module_dict(sys.modules.get(package)).get("__version__")
    return (
        stated
        if stated is not None
        else module_dict(sys.modules.get(f"{package}._version")).get("version")
    )


def _top_packages(value: Any) -> set[str]:
    own_name = module_dict(value).get("__name__")
    # A module is of its own package, not of `types`.
    if type(own_name) is str:
        return {own_name.partition(".")[0]}
    if type(value) is types.FunctionType and type(value.__module__) is str:
        return {value.__module__.partition(".")[0]}
    # A class of the notebook may derive from one of a library, so all parents count.
    return {
        package_of(kind)
        for kind in mro_of(value if is_kind(value, type) else type(value))
    }
