"""Making estimators: arguments that no version takes, or not this one; parameters that fitting refuses.

Knows the parameters of every public class, and when some came and went. A name that is in no table is refused only
where the kernel's version is the table's.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, Final

from crane_core.detectors.rules.abstract_value import NOT_KNOWN, AbstractValue, literal
from crane_core.detectors.rules.answer import UNCHANGED, UNKNOWN, Answer
from crane_core.detectors.rules.families.sklearn_classes import (
    KnownClass,
    classes,
    is_of_table,
    is_since,
    known_class,
    refuse_positional,
)
from crane_core.detectors.rules.families.sklearn_estimators import (
    NAMED_PARTS,
    features_fitted,
    parameter,
    unfitted_copy,
)
from crane_core.detectors.rules.families.sklearn_fitting import refuse_probabilities
from crane_core.detectors.rules.families.versions import version_of
from crane_core.detectors.rules.family import Family, Rule
from crane_core.detectors.rules.operation import Operation

RULES: Final = Family("scikit-learn: making estimators")
_GONE: Final[Mapping[tuple[str, str], tuple[tuple[int, int], str]]] = {
    ("OneHotEncoder", "sparse"): ((1, 4), "sparse_output"),
    ("AdaBoostClassifier", "base_estimator"): ((1, 4), "estimator"),
    ("AdaBoostRegressor", "base_estimator"): ((1, 4), "estimator"),
    ("BaggingClassifier", "base_estimator"): ((1, 4), "estimator"),
    ("BaggingRegressor", "base_estimator"): ((1, 4), "estimator"),
    ("CalibratedClassifierCV", "base_estimator"): ((1, 4), "estimator"),
    ("AgglomerativeClustering", "affinity"): ((1, 4), "metric"),
    ("LinearRegression", "normalize"): ((1, 2), "a StandardScaler before it"),
    ("Ridge", "normalize"): ((1, 2), "a StandardScaler before it"),
    ("Lasso", "normalize"): ((1, 2), "a StandardScaler before it"),
    ("ElasticNet", "normalize"): ((1, 2), "a StandardScaler before it"),
    ("KMeans", "n_jobs"): ((1, 0), "nothing: it uses all cores"),
    ("KMeans", "precompute_distances"): ((1, 0), "nothing"),
}
"""Parameters that were taken away: since which version, and what stands in their place."""
_OTHERS_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "LinearRegression": (
        *("normalise", "alpha", "C", "max_iter", "random_state", "n_estimators", "learning_rate", "solver"),
    ),
    "LogisticRegression": ("n_estimators", "max_depth", "alpha", "kernel", "learning_rate", "n_neighbors"),
    "RandomForestClassifier": ("learning_rate", "n_neighbors", "kernel", "C", "n_estimator", "num_trees", "max_dept"),
    "RandomForestRegressor": ("learning_rate", "n_neighbors", "kernel", "C", "n_estimator", "num_trees", "max_dept"),
    "DecisionTreeClassifier": ("n_estimators", "learning_rate", "n_neighbors", "n_jobs", "C"),
    "DecisionTreeRegressor": ("n_estimators", "learning_rate", "n_neighbors", "n_jobs", "C"),
    "KNeighborsClassifier": ("k", "n_neighbours", "random_state", "n_clusters", "neighbors"),
    "KNeighborsRegressor": ("k", "n_neighbours", "random_state", "n_clusters", "neighbors"),
    "SVC": ("n_estimators", "n_jobs", "max_depth", "penalty", "loss", "alpha"),
    "SVR": ("n_estimators", "n_jobs", "max_depth", "penalty", "loss", "alpha", "random_state"),
    "GaussianNB": ("random_state", "alpha", "n_jobs", "n_estimators"),
    "KMeans": ("k", "n_cluster", "n_neighbors", "metric", "eps"),
    "StandardScaler": ("feature_range", "with_scaling", "n_components", "random_state"),
    "MinMaxScaler": ("with_mean", "with_std", "range", "random_state"),
    "PCA": ("n_component", "n_clusters", "components", "n_features"),
    "Pipeline": ("step", "n_jobs", "estimators"),
    "GridSearchCV": ("params", "grid", "random_state", "n_iter", "parameters"),
    "LabelEncoder": ("handle_unknown", "categories", "sparse", "classes"),
}
"""Names that people write and no version of the class ever took."""


def _construct(known: KnownClass) -> Rule:
    def constructed(operation: Operation) -> Answer:
        given = _given(operation, known)
        if given is None:
            return UNCHANGED
        facts: dict[str, Any] = {
            "class_name": known.name,
            "is_fitted": False,
            "parameters_set": {},
            "n_parameters_set": 0,
        }
        return AbstractValue(known.path, facts, attributes=given, words="")

    constructed.__name__ = f"construct_{known.name}"
    return constructed


def _given(operation: Operation, known: KnownClass) -> dict[str, AbstractValue] | None:
    """Arguments by parameter. Raises Crash where they do not fit; None if they are not all known."""
    names = list(known.parameters)
    for name in operation.arguments.keywords:
        _refuse_name(operation, known, name)
    positional = operation.arguments.positional
    if is_of_table(operation):
        refuse_positional(operation, known.name, known.n_positional)
    if not operation.arguments.is_complete or len(positional) > known.n_positional:
        return None
    return dict(zip(names, positional, strict=False)) | dict(operation.arguments.keywords)


def _refuse_name(operation: Operation, known: KnownClass, name: str) -> None:
    gone = _GONE.get((known.name, name))
    is_never = name in _OTHERS_NAMES.get(known.name, ()) and name not in known.parameters
    if gone is not None and version_of(operation, "sklearn") is not None and is_since(operation, *gone[0]):
        why = f"{known.name} has no parameter {name} since version {gone[0][0]}.{gone[0][1]}"
        remedy = f"it was replaced by {gone[1]}"
    elif name not in known.parameters and (is_never or is_of_table(operation)) and known.parameters:
        why = f"{known.name} has no parameter {name}"
        remedy = _similar(name, known)
    else:
        return
    operation.crash("TypeError", why, fact=f"its parameters are {', '.join(known.parameters) or 'none'}", remedy=remedy)


def _similar(name: str, known: KnownClass) -> str:
    found = get_close_matches(name, known.parameters, 1)
    return f"use {found[0]} if that is meant" if found else "remove it"


for _each in classes().values():
    RULES.function(_each.path)(_construct(_each))


@RULES.function("sklearn.base.clone")
def cloned(operation: Operation) -> Answer:
    """An unfitted copy."""
    return unfitted_copy(operation.first) if known_class(operation.first) is not None else UNKNOWN


@RULES.method("sklearn.*", "set_params")
def set_parameters(operation: Operation) -> Answer:
    """New parameters; those that the class lacks are refused."""
    estimator = operation.receiver
    known = known_class(estimator)
    if known is None:
        return UNKNOWN
    names = [name for name in operation.arguments.keywords if "__" not in name]
    is_judged = known.parameters and is_of_table(operation) and known.name not in NAMED_PARTS
    unknown = next((name for name in names if name not in known.parameters), None)
    if is_judged and unknown is not None:
        operation.crash(
            "ValueError",
            f"{known.name} has no parameter {unknown}",
            fact=f"its parameters are {', '.join(known.parameters)}",
            remedy=_similar(unknown, known),
        )
    if len(names) < len(operation.arguments.keywords) or not operation.arguments.is_complete:
        return UNKNOWN
    estimator.attributes.update(operation.arguments.keywords)
    return estimator


@RULES.attribute("sklearn.*")
def attribute(operation: Operation) -> Answer:
    """A parameter; what fitting learns, of an estimator that is not fitted."""
    estimator = operation.receiver
    known = known_class(estimator)
    if known is None or operation.name in estimator.attributes:
        return UNKNOWN
    _refuse_unlearnt(operation, estimator, known)
    if operation.name == "feature_importances_" and operation.name in known.learnt | known.public:
        n_features = features_fitted(estimator)
        return (
            UNKNOWN
            if n_features is None
            else AbstractValue("numpy.ndarray", {"shape": (n_features,), "dtype": "float64"})
        )
    if operation.name in known.parameters and (value := parameter(estimator, operation.name)).literal is not NOT_KNOWN:
        return literal(value.literal)
    return UNKNOWN


def _refuse_unlearnt(operation: Operation, estimator: AbstractValue, known: KnownClass) -> None:
    name, words = operation.name, estimator.named("it")
    if estimator.fact("is_fitted") is False and known.learnt and _is_learnt(name, known):
        exception = known.unfitted_attributes.get(name, "AttributeError")
        operation.crash(
            exception,
            f"{name} exists only after fitting",
            fact=f"{words}, of class {known.name}, has not been fitted",
            remedy="call fit first, or use the object that was fitted",
        )
    refuse_probabilities(operation, estimator, known, operation.name)
    if name in _NEVER.get(known.name, ()):
        operation.crash(
            "AttributeError",
            f"{known.name} has no {name}",
            fact=f"{words} is of class {known.name}",
            remedy=_INSTEAD.get(name, "use an attribute of this class"),
        )


def _is_learnt(name: str, known: KnownClass) -> bool:
    return name in known.learnt and name not in known.readable_unfitted


_WITHOUT_IMPORTANCES: Final = (
    *("LinearRegression", "Ridge", "Lasso", "ElasticNet", "LogisticRegression", "SVC", "SVR", "LinearSVC", "LinearSVR"),
    *("KNeighborsClassifier", "KNeighborsRegressor", "GaussianNB", "MultinomialNB", "MLPClassifier", "MLPRegressor"),
    *("BaggingClassifier", "BaggingRegressor", "HistGradientBoostingClassifier", "HistGradientBoostingRegressor"),
    *("VotingClassifier", "VotingRegressor", "StackingClassifier", "GridSearchCV", "RandomizedSearchCV", "Pipeline"),
)
_WITHOUT_WEIGHTS: Final = (
    *("RandomForestClassifier", "RandomForestRegressor", "DecisionTreeClassifier", "DecisionTreeRegressor"),
    *("KNeighborsClassifier", "KNeighborsRegressor", "GradientBoostingClassifier", "GradientBoostingRegressor"),
    *("AdaBoostClassifier", "AdaBoostRegressor", "ExtraTreesClassifier", "ExtraTreesRegressor", "Pipeline"),
    *("HistGradientBoostingClassifier", "HistGradientBoostingRegressor", "KMeans", "GridSearchCV"),
)
_WITHOUT_PROBABILITIES: Final = (
    *("LinearRegression", "Ridge", "Lasso", "ElasticNet", "SVR", "LinearSVC", "RidgeClassifier", "Perceptron"),
    *("RandomForestRegressor", "DecisionTreeRegressor", "GradientBoostingRegressor", "KNeighborsRegressor"),
    *("PassiveAggressiveClassifier", "KMeans"),
)
_NEVER: Final[Mapping[str, frozenset[str]]] = {
    name: frozenset(
        [
            attribute
            for attribute, without in (
                ("feature_importances_", _WITHOUT_IMPORTANCES),
                ("coef_", _WITHOUT_WEIGHTS),
                ("predict_proba", _WITHOUT_PROBABILITIES),
            )
            if name in without
        ]
    )
    for name in {*_WITHOUT_IMPORTANCES, *_WITHOUT_WEIGHTS, *_WITHOUT_PROBABILITIES}
}
"""What the class has in no version and with no parameters, and what people ask it for."""
_INSTEAD: Final = {
    "feature_importances_": "use coef_ of a linear model, or sklearn.inspection.permutation_importance",
    "coef_": "use feature_importances_ of trees, or sklearn.inspection.permutation_importance",
    "predict_proba": "use predict, or a classifier with predict_proba",
}
