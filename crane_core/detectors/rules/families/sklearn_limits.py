"""Parameters that scikit-learn refuses: the library's own constraints are checked for plain values."""

import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Final

from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.families.sklearn_classes import (
    KnownClass,
    is_of_table,
)
from crane_core.detectors.rules.families.sklearn_estimators import (
    parameter,
    value_of,
)
from crane_core.detectors.rules.operation import Operation

# saga takes every penalty, so it is not in the list.
_PENALTIES: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(["lbfgs", "newton-cg", "newton-cholesky", "sag"], ("l2",)),
    "liblinear": ("l1", "l2"),
}
_PUBLIC: Final = re.compile(
    r"sklearn\.(?!.*\._)(?!(?:conftest|experimental|tests)\b)[a-z][a-z_.]*[a-z]\.[A-Za-z]\w*"
)
"""Modules that are imported to ask; importing others reads files or changes the library."""
_LONGEST_MESSAGE = 250


def refuse_settings(
    operation: Operation, estimator: AbstractValue, known: KnownClass
) -> None:
    """Raise where fitting refuses the estimator's own parameters, whatever the data."""
    # Constraints belong to one release: 1.3 removed max_features="auto" of forests.
    if is_of_table(operation):
        given = {name: parameter(estimator, name) for name in known.parameters}
        # Defaults pass by definition: only what the notebook chose is checked.
        changed = {
            name: value
            for name, value in given.items()
            if value.literal != known.parameters[name]
        }
        refuse_parameters(operation, known.path, "fit", changed)
    solver, penalty = (
        value_of(estimator, "solver"),
        value_of(estimator, "penalty"),
    )
    # Each constraint is for one parameter; a solver and its penalty are refused as a pair.
    if known.name == "LogisticRegression" and penalty in (
        "l1",
        "l2",
        "elasticnet",
    ):
        taken = (
            _PENALTIES.get(solver, (penalty,))
            if isinstance(solver, str)
            else (penalty,)
        )
        if penalty not in taken:
            operation.crash(
                "ValueError",
                f"Solver {solver} supports only {', '.join(taken)} penalties",
                fact=f"penalty is {penalty!r}",
                remedy="use the solver saga"
                if penalty == "elasticnet"
                else "use the solver liblinear or saga",
            )


def refuse_parameters(
    operation: Operation,
    path: str,
    step: str,
    given: Mapping[str, AbstractValue],
) -> None:
    """Crash where a "fit" of this class, or "call" of this function, does not take one of the plain values."""
    plain = {
        name: value.literal
        for name, value in given.items()
        # Other values, such as scorers, are objects that no question can hold.
        if type(value.literal) in (type(None), bool, int, float, str)
    }
    refused = (
        operation.refused_parameter(path, step, plain)
        if _PUBLIC.fullmatch(path)
        else None
    )
    if refused is None:
        return
    name, value, options = refused.name, plain[refused.name], refused.options
    short = f"the {name!r} parameter of {path.rpartition('.')[2]} does not accept {value!r}"
    accepted = f"it accepts {', '.join(options[:12])}{' and others' * (len(options) > 12)}"
    operation.crash(
        refused.exception,
        refused.message if len(refused.message) <= _LONGEST_MESSAGE else short,
        fact=accepted if options else f"{name} is {value!r}",
        remedy=_nearest_option(value, options),
    )


def _nearest_option(value: object, options: Sequence[str]) -> str:
    near = get_close_matches(repr(value), options, n=1, cutoff=0.7)
    return f"write {near[0]}" if near else "use one of the accepted values"
