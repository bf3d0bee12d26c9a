"""Searches over parameters: names that the estimator lacks, and what every copy refuses of the data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from crane_core.detectors.rules.abstract_value import AbstractValue, literal
from crane_core.detectors.rules.families import sklearn_data as data
from crane_core.detectors.rules.families.sklearn_classes import KnownClass, is_of_table, known_class
from crane_core.detectors.rules.families.sklearn_estimators import NAMED_PARTS, steps, unfitted_copy
from crane_core.detectors.rules.families.sklearn_fitting import refuse_lengths
from crane_core.detectors.rules.families.sklearn_limits import refuse_constraints
from crane_core.detectors.rules.finding import Crash
from crane_core.detectors.rules.operation import Operation

FitAny = Callable[[Operation, AbstractValue, KnownClass, AbstractValue, AbstractValue | None], None]
_GRIDS: Final = ("param_grid", "param_distributions")
_CAME_AND_WENT: Final = (
    *("base_estimator", "normalize", "affinity", "sparse", "n_jobs", "presort", "min_impurity_split", "multi_class"),
    *("penalty", "precompute_distances", "n_iter", "min_impurity_decrease", "max_features", "algorithm"),
)


def refuse_search(
    operation: Operation, search: AbstractValue, x: AbstractValue, y: AbstractValue | None, fit_any: FitAny
) -> None:
    """Raise where the search certainly fails."""
    inner = search.attributes.get("estimator", AbstractValue())
    if (of_search := known_class(search)) is not None:
        refuse_constraints(operation, search, of_search)
    for name in _asked_names(search):
        _refuse_name(operation, inner, name)
    if y is not None:
        refuse_lengths(operation, x, y)
    known = known_class(inner)
    if known is not None and data.n_samples(x) and _has_usual_folds(search) and not _searched_values_matter(search):
        fit_copy(operation, inner, known, x, y, fit_any)


def fit_copy(
    operation: Operation,
    estimator: AbstractValue,
    known: KnownClass,
    x: AbstractValue,
    y: AbstractValue | None,
    fit_any: FitAny,
) -> None:
    """Every copy learns from at least half of the rows; where all fail, so does the whole."""
    n_least = (data.n_samples(x) or 0) // 2
    x_part = data.rows_of(x, n_least, is_least=True)
    y_part = None if y is None else data.rows_of(y, n_least, is_least=True)
    try:
        fit_any(operation, unfitted_copy(estimator), known, x_part, y_part)
    except Crash as crash:
        operation.crash("ValueError", f"{crash.why}; all fits fail", fact=crash.fact, remedy=crash.remedy)


def _has_usual_folds(search: AbstractValue) -> bool:
    folds = search.attributes.get("cv", literal(None))
    return folds.is_literal and (folds.literal is None or type(folds.literal) is int and folds.literal >= 2)


def _searched_values_matter(search: AbstractValue) -> bool:
    """Whether values that are tried may change which data or settings are accepted."""
    names = list(_asked_names(search))
    return (
        not names
        or any(
            word in name
            for name in names
            for word in ("penalty", "solver", "kernel", "metric", "strategy", "criterion", "missing", "handle")
        )
        or any("__" not in name and name in ("steps", "transformers", "estimator") for name in names)
    )


def _asked_names(search: AbstractValue) -> Iterator[str]:
    for grid in _GRIDS:
        held = search.attributes.get(grid)
        parts = [] if held is None else held.items if held.items is not None else [held]
        for part in parts:
            yield from _keys(part)


def _keys(part: AbstractValue) -> Iterator[str]:
    keys: Any = part.members if part.members is not None else part.literal if part.is_literal else ()
    if isinstance(keys, Mapping):
        yield from (key for key in keys if isinstance(key, str))


def _refuse_name(operation: Operation, estimator: AbstractValue, name: str) -> None:
    """`step__param` goes to a part, `param` must be one of the estimator's own."""
    known = known_class(estimator)
    if known is None or not known.parameters:
        return
    head, _, rest = name.partition("__")
    parts = steps(estimator) if known.name == "Pipeline" else None
    if parts is not None:
        _refuse_step(operation, head, rest, parts, name)
        return
    if known.name in NAMED_PARTS:
        return
    if head not in known.parameters:
        if is_of_table(operation) or head not in _CAME_AND_WENT:
            _refuse(operation, name, f"{known.name} has the parameters {', '.join(known.parameters)}")
    elif rest and head in estimator.attributes:
        _refuse_name(operation, estimator.attributes[head], rest)


def _refuse_step(operation: Operation, head: str, rest: str, parts: list[tuple[str, AbstractValue]], name: str) -> None:
    named = dict(parts)
    if any(each.startswith("step ") for each in named) or head in ("memory", "verbose", "steps", "transform_input"):
        return
    if head not in named:
        _refuse(operation, name, f"the pipeline has the steps {', '.join(named)}")
    elif rest:
        _refuse_name(operation, named[head], rest)


def _refuse(operation: Operation, name: str, fact: str) -> None:
    operation.crash(
        "ValueError",
        f"Invalid parameter {name}",
        fact=fact,
        remedy="use a parameter of the estimator; in a pipeline, step__parameter",
    )
