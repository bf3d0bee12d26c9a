"""What each class of scikit-learn takes and learns, as tools/sklearn_classes.py found it by trying.

The table is of one version of the library. Where older ones are not the same (parameters), the version is checked.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.operation import Operation, numbers, version_of

_TABLE = Path(__file__).with_suffix(".json")


@dataclass(frozen=True, slots=True)
class KnownClass:
    """One class. `unfitted` are the methods that raise NotFittedError before fitting.

    `parameters` are the defaults by name, those that are not plain values as {"repr": ...}, {"required": True}.
    `learnt` are the attributes after fitting with default parameters; before, reading one raises AttributeError, or
    what `unfitted_attributes` says. `counts_features` are the methods that raise ValueError for fewer features than
    fitted. Of a class that needs arguments only path, kind, parameters and public names are known.
    """

    name: str
    path: str
    kind: str
    parameters: Mapping[str, Any]
    n_positional: int
    public: frozenset[str]
    unfitted: frozenset[str] = frozenset()
    learnt: frozenset[str] = frozenset()
    readable_unfitted: frozenset[str] = frozenset()
    unfitted_attributes: Mapping[str, str] = field(default_factory=dict)
    counts_features: frozenset[str] = frozenset()


def _by_name(by_exception: Mapping[str, list[str]]) -> dict[str, str]:
    return {
        name: exception
        for exception, names in by_exception.items()
        for name in names
    }


_READ: Final[Mapping[str, Callable[[Any], Any]]] = {
    **dict.fromkeys(
        [
            "public",
            "unfitted",
            "learnt",
            "readable_unfitted",
            "counts_features",
        ],
        frozenset,
    ),
    # In trees and forests feature_importances_ raises NotFittedError; most
    # other learnt names raise AttributeError.
    "unfitted_attributes": _by_name,
}


@cache
def _table() -> Mapping[str, Any]:
    read: dict[str, Any] = json.loads(_TABLE.read_text("utf-8"))
    return read


@cache
def classes() -> Mapping[str, KnownClass]:
    """All classes by name."""
    return {
        name: KnownClass(
            name,
            **{
                key: _READ[key](fact) if key in _READ else fact
                for key, fact in facts.items()
            },
        )
        for name, facts in _table()["classes"].items()
    }


def version_of_table() -> str:
    """The version of scikit-learn that the table was made with."""
    return str(_table()["version"])


def known_class(value: AbstractValue | None) -> KnownClass | None:
    """The class of an estimator of scikit-learn; None for subclasses and for what is not an estimator."""
    return (
        # By the class alone: a state names the module that defines it, such as
        # sklearn.linear_model._base, and code the public one.
        classes().get(value.class_name)
        if value is not None and value.package == "sklearn"
        else None
    )


def is_of_table(operation: Operation) -> bool:
    """Whether the kernel's version is certainly the one that the table was made with."""
    # Parameters change with releases: in 1.9 the default of penalty in
    # LogisticRegression is "deprecated".
    return version_of(operation, "sklearn") == numbers(version_of_table())
