"""The look at a namespace: what the target asks for, each of these variables in the paper's three groups, what lacks.

    look(namespace, {"target": code, "cells": [...], "limits": {...}, "probes": [...]}) -> JSON text

Knows the order of the work and its limits. What a value of a library is stands in `for_<package>.py`; a summarizer
that fails, or that takes too long, becomes the reason why its variable is unavailable.
"""

from __future__ import annotations

import gc
import platform
import sys
import time
from typing import Any, Iterable, Iterator, Mapping

from . import absent, bounds, probes, relevance
from .anatomy import module_dict, package_of, type_name
from .asked import Asked
from .budget import Budget, OverBudgetError
from .dispatch import hook_of, summarizer_of
from .limits import Limits, limits_from
from .sources import Sources

SCHEMA_VERSION = 2
GROUPS = ("structure", "representation", "values")


def look(namespace: dict[str, Any], request: Mapping[str, Any]) -> str:
    """The state of `namespace` before the target, as JSON text; the probes are evaluated before and after the look."""
    expressions = list(request.get("probes", ()))
    before = [probes.evaluated(text, namespace) for text in expressions]
    started = time.perf_counter()
    document = _without_collecting(namespace, request)
    document["captured"]["seconds"] = round(time.perf_counter() - started, 6)
    if expressions:
        after = [probes.evaluated(text, namespace) for text in expressions]
        document["probes"] = [
            {"expression": text, "before": a, "after": b} for text, a, b in zip(expressions, before, after)
        ]
    return bounds.dumps(bounds.safe(document, Limits().variable_chars))


def _without_collecting(namespace: dict[str, Any], request: Mapping[str, Any]) -> dict[str, Any]:
    """The document, with the cyclic garbage collector held: a collection would run finalizers of the notebook."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return _document(namespace, request)
    finally:
        if was_enabled:
            gc.enable()


def _document(namespace: dict[str, Any], request: Mapping[str, Any]) -> dict[str, Any]:
    limits = limits_from(dict(request.get("limits") or {}))
    sources = Sources(list(request.get("cells") or ()))
    needs = relevance.needs(request["target"], namespace, sources, limits)
    seen = Look(limits, needs.asked, needs.mentioned)
    found = {name: namespace[name] for name in needs.names if name in namespace}
    variables, unavailable = _variables(seen, found)
    document = {
        "schema_version": SCHEMA_VERSION,
        "captured": {"python": platform.python_version(), "packages": _versions(found)},
        "variables": {name: dict(entry, **_origin(name, needs, sources)) for name, entry in variables.items()},
        "accesses": absent.accesses(seen, namespace, needs),
        "absent": absent.absences(namespace, needs, sources),
        "unavailable": unavailable,
    }
    return dict(document, **({"syntax_error": needs.syntax_error} if needs.syntax_error else {}))


def _origin(name: str, needs: relevance.Needs, sources: Sources) -> dict[str, Any]:
    """Where the variable was given its value, and through which functions it is needed where not directly."""
    place = sources.assigned(name)
    origin: dict[str, Any] = {"assigned": place.to_json()} if place is not None else {}
    return dict(origin, via=list(needs.via[name])) if name in needs.via else origin


def _variables(seen: Look, found: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Entries by name, and the reasons why others have none."""
    variables: dict[str, Any] = {}
    unavailable: dict[str, str] = {}
    deadline = time.perf_counter() + seen.limits.total_seconds
    chars = 0
    for name, value in found.items():
        if len(variables) >= seen.limits.variables or chars > seen.limits.state_chars:
            unavailable[name] = "the state is full"
        elif time.perf_counter() > deadline:
            unavailable[name] = f"looking took more than {seen.limits.total_seconds:g} s in all"
        else:
            variables[name] = seen.entry(name, value)
            unavailable.update({name: variables[name]["unavailable"]} if "unavailable" in variables[name] else {})
            chars += len(bounds.dumps(variables[name]))
    return variables, unavailable


def _versions(found: Mapping[str, Any]) -> dict[str, str]:
    """The versions of the packages that the variables come from, as far as they are loaded and state one."""
    tops = {_top_package(value) for value in found.values()}
    versions = {top: module_dict(sys.modules.get(top)).get("__version__") for top in sorted(tops)}
    return {top: bounds.text(version, 40) for top, version in versions.items() if type(version) is str}


def _top_package(value: Any) -> str:
    own_name = module_dict(value).get("__name__")
    if type(own_name) is str:
        return own_name.partition(".")[0]
    return package_of(value if type(value) is type else type(value))


class Look:
    """What a summarizer may ask while it looks at one variable: limits, what the target wants, and nested summaries."""

    def __init__(self, limits: Limits, asked: Mapping[str, Asked], mentioned: Iterable[str] = ()) -> None:
        self.limits = limits
        self.mentioned = frozenset(mentioned)
        """Texts that the target spells, or reads from plain variables: names of columns among them."""
        self._asked = asked
        self._name = ""
        self._depth = 0
        self._path: list[int] = []
        self._budget = self._fresh_budget()

    def _fresh_budget(self) -> Budget:
        limits = self.limits
        return Budget(steps=limits.variable_steps, nodes=limits.nodes, seconds=limits.variable_seconds)

    def asked(self, name: str = "") -> Asked:
        """What the target asks of a name; without one, of the variable being looked at (nothing for what is inside)."""
        if name:
            return self._asked.get(name, Asked(name))
        return Asked() if self._depth > 1 else self._asked.get(self._name, Asked(self._name))

    @property
    def is_nested(self) -> bool:
        """True while something inside the variable is looked at."""
        return self._depth > 1

    def affords(self, steps: int) -> bool:
        """Takes elementary steps (about a nanosecond each) off the variable's budget; False when too few are left."""
        return self._budget.affords(int(steps))

    def check(self) -> None:
        """Ends looking at the variable when its time is up; for long loops."""
        self._budget.check()

    def scalar(self, value: Any) -> Any:
        """A number, text, truth value or None as JSON, a library's scalar likewise; else the name of the type."""
        if package_of(type(value)) != "builtins":
            convert = hook_of(value, "SCALAR")
            value = convert(value) if convert is not None else value
        return bounds.scalar(value, self.limits.text)

    def label(self, key: Any) -> str:
        """A key as the text under which its entry is shown."""
        return key if type(key) is str and len(key) <= self.limits.text else bounds.key_text(key, self.limits.text)

    def text(self, value: str) -> str:
        return bounds.text(value, self.limits.text)

    def entry(self, name: str, value: Any) -> dict[str, Any]:
        """The whole entry of a variable: type and groups, safe and bounded; or why there is none."""
        self._name, self._budget = name, self._fresh_budget()
        self._depth, self._path = 0, []
        entry = self.summary(value)
        return bounds.fitted(bounds.safe(entry, self.limits.variable_chars), self.limits.variable_chars)

    def summary(self, value: Any) -> dict[str, Any]:
        """{"type", "structure", "representation", "values", "plus"} of any value, as deep as the limits allow."""
        entry: dict[str, Any] = {"type": type_name(type(value))}
        if any(value_id == id(value) for value_id in self._path):
            return dict(entry, values={"cycle": "an object that holds it"})
        if self._depth > self.limits.depth or not self._budget.enters():
            return dict(entry, unavailable="deeper than is looked")
        self._depth += 1
        self._path.append(id(value))
        try:
            return _grouped(entry, self._summarized(value))
        except OverBudgetError as late:
            return dict(entry, unavailable=str(late))
        except Exception as error:  # noqa: BLE001 - whatever a summarizer meets becomes the reason
            return dict(entry, unavailable=bounds.why(error))
        finally:
            self._depth -= 1
            self._path.pop()

    def _summarized(self, value: Any) -> dict[str, Any]:
        summarizer = summarizer_of(value)
        return {} if summarizer is None else summarizer(value, self)

    def inside(self, parts: Iterable[tuple[str, Any]]) -> dict[str, dict[str, Any]]:
        """Summaries of labelled parts, turned so that each group holds its facts by label.

        {"structure": {label: {...}}, "representation": {label: {"type", ...}}, "values": {label: {...}}}; empty facts
        are left out. A summarizer puts these where they belong: what is inside goes under `plus`.
        """
        groups: dict[str, dict[str, Any]] = {group: {} for group in GROUPS}
        for label, part in parts:
            for group, facts in _by_group(self.summary(part)):
                groups[group][label] = facts
        return groups


def _grouped(entry: dict[str, Any], summary: Mapping[str, Any]) -> dict[str, Any]:
    """The entry with all three groups, and with `plus` where it says something."""
    if "unavailable" in summary:
        return dict(entry, unavailable=summary["unavailable"])
    groups = {group: summary.get(group, {}) for group in GROUPS}
    plus = {group: facts for group, facts in summary.get("plus", {}).items() if facts}
    return dict(entry, **groups, **({"plus": plus} if plus else {}))


def _by_group(entry: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """A nested entry's facts, those of `plus` among them; its type is part of the representation."""
    plus = entry.get("plus", {})
    for group in GROUPS:
        facts = dict(entry.get(group, {}), **plus.get(group, {}))
        if group == "representation":
            facts = dict({"type": entry["type"]}, **facts)
        if group == "values" and "unavailable" in entry:
            facts = {"unavailable": entry["unavailable"]}
        if facts:
            yield group, facts
