"""Parameters that do not fit the data, or that no fit accepts: more neighbours than samples, solvers without a penalty.

Where the library that runs here is the kernel's version, its own constraints are asked about plain values; else only
what is written here, which holds in every version.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Final

from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.families import sklearn_data as data
from crane_core.detectors.rules.families.sklearn_classes import KnownClass, is_of_table, is_since
from crane_core.detectors.rules.families.sklearn_estimators import value_of
from crane_core.detectors.rules.operation import Operation

_PENALTIES: Final[Mapping[str, tuple[str, ...]]] = {
    "lbfgs": ("l2",),
    "newton-cg": ("l2",),
    "newton-cholesky": ("l2",),
    "sag": ("l2",),
    "liblinear": ("l1", "l2"),
}
_PUBLIC: Final = re.compile(r"sklearn\.(?!.*\._)(?!(?:conftest|experimental|tests)\b)[a-z][a-z_.]*[a-z]\.[A-Za-z]\w*")
"""Modules that are imported to ask; importing others reads files or changes the library."""
_LONGEST_MESSAGE = 250
_AT_LEAST_ONE: Final = ("n_estimators", "n_neighbors", "n_clusters")
_OPTIONS: Final[Mapping[tuple[str, str], tuple[str, ...]]] = {
    ("SVC", "kernel"): ("linear", "poly", "rbf", "sigmoid", "precomputed"),
    ("SVR", "kernel"): ("linear", "poly", "rbf", "sigmoid", "precomputed"),
    ("KNeighborsClassifier", "weights"): ("uniform", "distance"),
    ("KNeighborsRegressor", "weights"): ("uniform", "distance"),
    ("SimpleImputer", "strategy"): ("mean", "median", "most_frequent", "constant"),
    ("LogisticRegression", "solver"): ("lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga"),
    ("KMeans", "init"): ("k-means++", "random"),
    ("AgglomerativeClustering", "linkage"): ("ward", "complete", "average", "single"),
}
"""All texts that a parameter may be, in every version since 1.2."""


def refuse_settings(
    operation: Operation, estimator: AbstractValue, known: KnownClass, x: AbstractValue, y: AbstractValue | None
) -> None:
    """Raise where fitting refuses the estimator's own parameters, for these data or for any."""
    _refuse_options(operation, estimator, known)
    refuse_constraints(operation, estimator, known)
    if known.name == "LogisticRegression":
        _refuse_penalty(operation, estimator)
    if known.name in ("SelectKBest", "SelectPercentile"):
        _refuse_negative(operation, estimator, known, x)
    n_samples, n_features = data.n_samples(x), data.n_features(x)
    if n_samples is None:
        return
    if known.name in ("KMeans", "MiniBatchKMeans", "AgglomerativeClustering"):
        _refuse_more(operation, estimator, known, "n_clusters", n_samples, x)
    if known.name in ("GaussianMixture",):
        _refuse_more(operation, estimator, known, "n_components", n_samples, x)
    if known.name == "PCA" and n_features is not None:
        _refuse_components(operation, estimator, n_samples, n_features, x)


def _refuse_options(operation: Operation, estimator: AbstractValue, known: KnownClass) -> None:
    if not is_since(operation, 1, 2):
        return
    for name, default in known.parameters.items():
        value, options = value_of(estimator, name), _OPTIONS.get((known.name, name))
        if options is not None and isinstance(value, str) and value not in options:
            _refuse_value(operation, known, name, value, f"one of {', '.join(options)}")
        if name in _AT_LEAST_ONE and type(value) is type(default) is int and value < 1:
            _refuse_value(operation, known, name, value, "a number of 1 or more")


def _refuse_value(operation: Operation, known: KnownClass, name: str, value: Any, expected: str) -> None:
    operation.crash(
        "InvalidParameterError",
        f"{name} of {known.name} must be {expected}",
        fact=f"it is {value!r}",
        remedy=f"set {name} to {expected}",
    )


def refuse_constraints(operation: Operation, estimator: AbstractValue, known: KnownClass) -> None:
    """Ask the library's own class about parameters that are plain values; no code of the notebook takes part."""
    if not is_of_table(operation):
        return
    given = {each: value_of(estimator, each) for each in known.parameters}
    plain = {
        each: value
        for each, value in given.items()
        if value is None or type(value) in (bool, int, float, str) and value != known.parameters[each]
    }
    refuse_parameters(operation, known.path, "fit", plain)


def refuse_parameters(operation: Operation, path: str, step: str, given: Mapping[str, Any]) -> None:
    """Crash where a "fit" of this class, or "call" of this function, does not take one of these plain values."""
    if not _PUBLIC.fullmatch(path):
        return
    refused = operation.refused_parameter(path, step, given)
    if refused is None:
        return
    name, value, options = refused.name, given[refused.name], refused.options
    short = f"the {name!r} parameter of {path.rpartition('.')[2]} does not accept {value!r}"
    operation.crash(
        refused.exception,
        refused.message if len(refused.message) <= _LONGEST_MESSAGE else short,
        fact=f"it accepts {', '.join(options[:12])}{' and others' * (len(options) > 12)}"
        if options
        else f"{name} is {value!r}",
        remedy=_nearest_option(value, options),
    )


def _nearest_option(value: Any, options: Sequence[str]) -> str:
    near = get_close_matches(repr(value), options, n=1, cutoff=0.7)
    return f"write {near[0]}" if near else "use one of the accepted values"


def _refuse_penalty(operation: Operation, estimator: AbstractValue) -> None:
    solver, penalty = value_of(estimator, "solver"), value_of(estimator, "penalty")
    if not isinstance(solver, str) or not isinstance(penalty, str) or penalty not in ("l1", "l2", "elasticnet"):
        return
    if solver in _PENALTIES and penalty not in _PENALTIES[solver]:
        operation.crash(
            "ValueError",
            f"Solver {solver} supports only {', '.join(_PENALTIES[solver])} penalties",
            fact=f"penalty is {penalty!r}",
            remedy="use the solver saga" if penalty == "elasticnet" else "use the solver liblinear or saga",
        )


def _refuse_negative(operation: Operation, estimator: AbstractValue, known: KnownClass, x: AbstractValue) -> None:
    """chi2 is for counts and shares."""
    measure = estimator.attributes.get("score_func")
    flaw = next((flaw for flaw in data.flaws(x) if flaw.name == "negative"), None)
    if (
        measure is not None
        and measure.path.startswith("sklearn.")
        and measure.path.endswith(".chi2")
        and flaw is not None
    ):
        operation.crash(
            "ValueError",
            f"Input X must be non-negative: {known.name} with chi2",
            fact=flaw.fact,
            remedy="scale the values to 0 or more, or use another score function",
        )


def _refuse_more(
    operation: Operation, estimator: AbstractValue, known: KnownClass, name: str, n_samples: int, x: AbstractValue
) -> None:
    wanted = value_of(estimator, name)
    if type(wanted) is int and wanted > n_samples > 0:
        operation.crash(
            "ValueError",
            f"{wanted} {name.removeprefix('n_')} need at least {wanted} samples",
            fact=f"{x.named('X')} has {n_samples} samples",
            remedy=f"set {name} to {n_samples} or less",
        )


def _refuse_components(
    operation: Operation, estimator: AbstractValue, n_samples: int, n_features: int, x: AbstractValue
) -> None:
    wanted, most = value_of(estimator, "n_components"), min(n_samples, n_features)
    if type(wanted) is int and wanted > most and value_of(estimator, "svd_solver") in ("auto", "full", "randomized"):
        operation.crash(
            "ValueError",
            f"n_components must be at most min(n_samples, n_features) = {most}",
            fact=f"{x.named('X')} has {n_samples} samples and {n_features} features; n_components is {wanted}",
            remedy=f"set n_components to {most} or less",
        )


def _told_learnt(estimator: AbstractValue, name: str) -> Any:
    """A plain value that fitting learnt, as a state tells it."""
    learnt = estimator.fact("learnt")
    known = learnt.get(name) if isinstance(learnt, Mapping) else None
    return known.get("value") if isinstance(known, Mapping) else None


def refuse_neighbors(operation: Operation, estimator: AbstractValue, known: KnownClass, n_asked: Any) -> None:
    """More neighbours than the estimator has samples: refused when it is asked."""
    n_fit = estimator.fact("n_samples_fit", _told_learnt(estimator, "n_samples_fit_"))
    if known.name not in ("KNeighborsClassifier", "KNeighborsRegressor", "NearestNeighbors"):
        return
    if type(n_asked) is int and type(n_fit) is int and n_asked > n_fit > 0:
        operation.crash(
            "ValueError",
            f"Expected n_neighbors <= n_samples_fit, but n_neighbors = {n_asked}, n_samples_fit = {n_fit}",
            fact=f"{estimator.named('it')} was fitted on {n_fit} samples",
            remedy=f"set n_neighbors to {n_fit} or less",
        )
