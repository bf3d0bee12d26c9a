"""What each class of scikit-learn refuses, learns and gives, as tools/sklearn_classes.py found it by trying.

The table is of one version of the library. What it refuses there, older versions refuse too: releases have accepted
more (NaN in trees), not less. Where that is not so (names of features, parameters) the version is asked for.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.families.versions import numbers, version_of
from crane_core.detectors.rules.operation import Operation

_TABLE = Path(__file__).with_suffix(".json")


@dataclass(frozen=True, slots=True)
class KnownClass:
    """One class. `raises` gives the exception by flaw ("fit:nan"), `unfitted` by method; no entry: it is accepted.

    `parameters` are the defaults by name, those that are not plain values as {"repr": ...}, {"required": True}.
    `learnt` are the attributes after fitting with default parameters; before, reading one raises AttributeError, or
    what `unfitted_attributes` says. Of a class that needs arguments only path, kind,
    parameters and public names are known.
    """

    name: str
    path: str
    kind: str
    parameters: Mapping[str, Any]
    n_positional: int
    public: frozenset[str]
    learns_from_y: bool | None = None
    unfitted: Mapping[str, str] = field(default_factory=dict)
    learnt: frozenset[str] = frozenset()
    readable_unfitted: frozenset[str] = frozenset()
    unfitted_attributes: Mapping[str, str] = field(default_factory=dict)
    raises: Mapping[str, str] = field(default_factory=dict)
    gives: Mapping[str, tuple[str, tuple[int, ...]]] = field(default_factory=dict)


@cache
def classes() -> Mapping[str, KnownClass]:
    """All classes by name."""
    read: dict[str, Any] = json.loads(_TABLE.read_text("utf-8"))["classes"]
    return {name: _known(name, facts) for name, facts in read.items()}


@cache
def version_of_table() -> str:
    version: str = json.loads(_TABLE.read_text("utf-8"))["version"]
    return version


def _known(name: str, facts: Mapping[str, Any]) -> KnownClass:
    return KnownClass(
        name,
        facts["path"],
        facts["kind"],
        facts["parameters"],
        facts["n_positional"],
        frozenset(facts["public"]),
        facts.get("learns_from_y"),
        _by_name(facts.get("unfitted", {})),
        frozenset(facts.get("learnt", ())),
        frozenset(facts.get("readable_unfitted", ())),
        _by_name(facts.get("unfitted_attributes", {})),
        _by_name(facts.get("raises", {})),
        {method: (kind, tuple(shape)) for method, (kind, shape) in facts.get("gives", {}).items()},
    )


def _by_name(by_exception: Mapping[str, list[str]]) -> dict[str, str]:
    return {name: exception for exception, names in by_exception.items() for name in names}


def known_class(value: AbstractValue | None) -> KnownClass | None:
    """The class of an estimator of scikit-learn; None for subclasses and for what is not an estimator."""
    return classes().get(value.class_name) if value is not None and value.package == "sklearn" else None


def refuse_positional(operation: Operation, name: str, n_most: int) -> None:
    given = operation.arguments.positional
    if len(given) > n_most:
        operation.crash(
            "TypeError",
            f"{name} takes {n_most} positional arguments, the others only by name",
            fact=f"{len(given)} are positional",
            remedy="pass the others by name",
        )


def is_since(operation: Operation, *version: int) -> bool:
    """Whether the kernel's version is certainly not older; one that is not told is taken for 1.2 (2022)."""
    return (version_of(operation, "sklearn") or (1, 2)) >= version


def parameter_error(operation: Operation) -> str:
    """What a function raises of a wrong parameter; before version 1.3 only estimators checked theirs."""
    return "InvalidParameterError" if is_since(operation, 1, 3) else "ValueError"


def is_of_table(operation: Operation) -> bool:
    """Whether the kernel's version is certainly the one that the table was made with."""
    return version_of(operation, "sklearn") == numbers(version_of_table())
