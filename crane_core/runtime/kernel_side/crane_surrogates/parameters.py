"""Values that scikit-learn refuses for a parameter of a function or class: its own constraints, checked by itself.

Knows `_parameter_constraints`, which scikit-learn has since 1.2; no estimator is made and no function is called.
"""

from __future__ import annotations

import importlib
from typing import Any, Mapping, Sequence

from . import signatures
from .made import refusal

_HELD = {"call": "_skl_parameter_constraints", "fit": "_parameter_constraints"}
"""A function checks what it is called with; an estimator what it was made with, but when it is fitted."""


def refused(path: str, step: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The first of these plain values that a "call" or "fit" refuses: {"raised", "message", "name", "options"}."""
    # Other packages have no such constraints.
    owner = signatures.found(path) if path.startswith("sklearn.") else None
    constraints = getattr(owner, _HELD[step], None)
    # The mark of a function on a class, or the other way round, is of something else.
    if not isinstance(constraints, Mapping) or isinstance(owner, type) != (
        step == "fit"
    ):
        return {"unknown": "no constraints"}
    checks = importlib.import_module("sklearn.utils._param_validation")
    for name in constraints:
        # In the library's own order: the first that is refused is the one that is told.
        if name not in given:
            continue
        try:
            checks.validate_parameter_constraints(
                {name: constraints[name]},
                {name: given[name]},
                caller_name=path.rpartition(".")[2],
            )
        except checks.InvalidParameterError as error:
            return {
                **refusal(error),
                "name": name,
                "options": _options(constraints[name]),
            }
    return {"unknown": "nothing is refused"}


def _options(constraints: Sequence[Any] | str) -> list[str]:
    """What a parameter may be, in words and in order: strings, None, and ranges of numbers."""
    # Ranges and strings alone: other constraints are classes of the library.
    texts: list[str] = []
    others: list[str] = []
    for each in constraints if not isinstance(constraints, str) else ():
        options = getattr(each, "options", None)
        if isinstance(options, (set, frozenset)):
            texts += sorted(
                repr(option) for option in options if isinstance(option, str)
            )
        elif each is None or type(each).__name__ == "Interval":
            others.append(str(each))
    return texts + others
