"""Searches over parameters: names that the estimator lacks, and what every copy refuses of the data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from crane_core.detectors.rules.families import sklearn_data as data
from crane_core.detectors.rules.families.sklearn_classes import KnownClass, is_of_table, known_class
from crane_core.detectors.rules.families.sklearn_estimators import steps, unfitted_copy
from crane_core.detectors.rules.families.sklearn_limits import refuse_constraints
from crane_core.detectors.rules.finding import Crash
from crane_core.detectors.rules.site import Site
from crane_core.detectors.rules.thing import Thing, literal

FitAny = Callable[[Site, Thing, KnownClass, Thing, Thing | None], None]
_GRIDS: Final = ("param_grid", "param_distributions")
_CAME_AND_WENT: Final = (
    *("base_estimator", "normalize", "affinity", "sparse", "n_jobs", "presort", "min_impurity_split", "multi_class"),
    *("penalty", "precompute_distances", "n_iter", "min_impurity_decrease", "max_features", "algorithm"),
)


def refuse_search(site: Site, search: Thing, x: Thing, y: Thing | None, fit_any: FitAny) -> None:
    """Raise where the search certainly fails."""
    inner = search.attributes.get("estimator", Thing())
    if (of_search := known_class(search)) is not None:
        refuse_constraints(site, search, of_search)
    for name in _asked_names(search):
        _refuse_name(site, inner, name)
    n_x, n_y = data.n_samples(x), None if y is None else data.n_samples(y)
    if n_x is not None and n_y is not None and y is not None and n_x != n_y:
        site.crash(
            "ValueError",
            f"Found input variables with inconsistent numbers of samples: [{n_x}, {n_y}]",
            fact=f"{data.named(x, 'X')} has {n_x} samples, {data.named(y, 'y')} has {n_y}",
            remedy="select both from the same rows",
        )
    known = known_class(inner)
    if known is not None and n_x and _has_usual_folds(search) and not _searched_values_matter(search):
        _fit_copy(site, inner, known, x, y, fit_any)


def _fit_copy(site: Site, inner: Thing, known: KnownClass, x: Thing, y: Thing | None, fit_any: FitAny) -> None:
    n_least = (data.n_samples(x) or 0) // 2
    x_part = data.rows_of(x, n_least, is_least=True)
    y_part = None if y is None else data.rows_of(y, n_least, is_least=True)
    try:
        fit_any(site, unfitted_copy(inner), known, x_part, y_part)
    except Crash as crash:
        site.crash("ValueError", f"{crash.why}; all fits fail", fact=crash.fact, remedy=crash.remedy)


def _has_usual_folds(search: Thing) -> bool:
    folds = search.attributes.get("cv", literal(None))
    return folds.is_literal and (folds.literal is None or type(folds.literal) is int and folds.literal >= 2)


def _searched_values_matter(search: Thing) -> bool:
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


def _asked_names(search: Thing) -> Iterator[str]:
    for grid in _GRIDS:
        held = search.attributes.get(grid)
        parts = [] if held is None else held.items if held.items is not None else [held]
        for part in parts:
            yield from _keys(part)


def _keys(part: Thing) -> Iterator[str]:
    keys: Any = part.members if part.members is not None else part.literal if part.is_literal else ()
    if isinstance(keys, Mapping):
        yield from (key for key in keys if isinstance(key, str))


def _refuse_name(site: Site, estimator: Thing, name: str) -> None:
    """`step__param` goes to a part, `param` must be one of the estimator's own."""
    known = known_class(estimator)
    if known is None or not known.parameters:
        return
    head, _, rest = name.partition("__")
    parts = steps(estimator) if known.name == "Pipeline" else None
    if parts is not None:
        _refuse_step(site, head, rest, parts, name)
        return
    if known.name in ("ColumnTransformer", "FeatureUnion", "VotingClassifier", "VotingRegressor", "Pipeline"):
        return
    if known.name in ("StackingClassifier", "StackingRegressor"):
        return
    is_certain = is_of_table(site) or head not in _CAME_AND_WENT
    if head not in known.parameters and is_certain:
        _refuse(site, name, f"{known.name} has the parameters {', '.join(known.parameters)}")
    inner = estimator.attributes.get(head)
    if rest and inner is not None and head in known.parameters:
        _refuse_name(site, inner, rest)


def _refuse_step(site: Site, head: str, rest: str, parts: list[tuple[str, Thing]], name: str) -> None:
    named = dict(parts)
    if any(each.startswith("step ") for each in named) or head in ("memory", "verbose", "steps", "transform_input"):
        return
    if head not in named:
        _refuse(site, name, f"the pipeline has the steps {', '.join(named)}")
    elif rest:
        _refuse_name(site, named[head], rest)


def _refuse(site: Site, name: str, fact: str) -> None:
    site.crash(
        "ValueError",
        f"Invalid parameter {name}",
        fact=fact,
        remedy="use a parameter of the estimator; in a pipeline, step__parameter",
    )
