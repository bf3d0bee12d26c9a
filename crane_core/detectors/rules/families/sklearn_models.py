"""Methods of estimators: fit, predict, transform and what goes with them, one after the other as a notebook calls them.

What they refuse of data says the library itself where it is the kernel's version. Here stands what is certain without
it: methods before fit, other numbers of features, values that the table of classes says are refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from crane_core.detectors.rules.abstract_value import NOT_KNOWN, AbstractValue
from crane_core.detectors.rules.answer import UNCHANGED, UNKNOWN, Answer
from crane_core.detectors.rules.asking_sklearn import sent_to_fit
from crane_core.detectors.rules.families import sklearn_data as data
from crane_core.detectors.rules.families.sklearn_classes import KnownClass, is_of_table, is_since, known_class
from crane_core.detectors.rules.families.sklearn_estimators import (
    accepts_as_by_default,
    features_fitted,
    fit_to,
    forget_namesakes,
    is_fitted,
    not_fitted,
    steps,
    value_of,
)
from crane_core.detectors.rules.families.sklearn_limits import refuse_settings
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.heap import reachable
from crane_core.detectors.rules.operation import Operation
from crane_core.detectors.rules.shapes import differ

RULES: Final = Family("scikit-learn: fit, predict and score")
_FITS_ITS_PARTS: Final = ("FeatureUnion", "FrozenEstimator")
_RUNS_OTHERS: Final = ("FunctionTransformer",)
_LOOKS_AT_NO_FEATURE: Final = ("Pipeline", "ColumnTransformer", "CalibratedClassifierCV", "TransformedTargetRegressor")
"""Classes that give their data, as they are, to others, of which their table of refusals does not speak."""
_ASKS: Final = (
    *("predict", "predict_proba", "predict_log_proba", "decision_function", "transform", "score_samples", "apply"),
    *("kneighbors", "score"),
)
_OFFERED_BY: Final[Mapping[str, tuple[str, tuple[object, ...]]]] = {
    **dict.fromkeys(["SVC", "NuSVC"], ("probability", (True,))),
    "SGDClassifier": ("loss", ("log_loss", "modified_huber")),
    "LocalOutlierFactor": ("novelty", (True,)),
}
"""Classes of which a parameter decides whether they have a method, and the values with which they do."""
_MAY_NEED_NO_FIT: Final = ("vocabulary", "prefit", "cv", "estimator", "estimators", "dictionary")
_NOTHING: Final = AbstractValue("NoneType", literal=None)


@RULES.method("sklearn.*", "fit", "partial_fit")
def fitting(operation: Operation) -> Answer:
    """fit gives the estimator itself, fitted."""
    return operation.receiver if _fit(operation) is not None else UNKNOWN


@RULES.method("sklearn.*", "fit_transform", "fit_predict", "fit_resample")
def fitting_at_once(operation: Operation) -> Answer:
    """fit, and what transform or predict give of the same data, which the library says."""
    return UNCHANGED if _fit(operation) is not None and value_of(operation.receiver, "copy") is not False else UNKNOWN


def _fit(operation: Operation) -> AbstractValue | None:
    """Fits the receiver to X and y, or to y alone; the data that it learns from, None if nothing is known of that."""
    estimator, known = operation.receiver, known_class(operation.receiver)
    given = operation.arguments.bound("X=None, y=None, sample_weight=None, **others")
    if known is None or not given or not (given.keys() & {"X", "y"}):
        return None
    _refuse_method(operation, estimator, known)
    x = given.get("X", given.get("y", _NOTHING))
    refuse_settings(operation, estimator, known)
    _refuse_values(operation, estimator, known, "fit", x)
    if "y" in given and known.learns_from_y and (exception := known.raises.get("y:short")):
        refuse_lengths(operation, x, given["y"], exception)
    fit_on = sent_to_fit(given) if operation.name != "partial_fit" else None
    _fit_parts(operation, estimator, known)
    fit_to(estimator, x, fit_on)
    return None if _may_run_notebook(estimator, known) else x


def _may_run_notebook(estimator: AbstractValue, known: KnownClass) -> bool:
    parts = estimator.attributes.values()
    return known.name in _RUNS_OTHERS or any(part.definition is not None for part in parts)


def _fit_parts(operation: Operation, estimator: AbstractValue, known: KnownClass) -> None:
    """Parts that are fitted themselves; others are copied. A state may tell of them under whatever other name."""
    parts = steps(estimator) if known.name == "Pipeline" else None
    if parts is not None:
        _fit_steps(operation, estimator, [part for _, part in parts])
    elif known.name in (*_FITS_ITS_PARTS, "Pipeline"):
        for part in reachable(estimator.attributes.values()):
            part.forget()


def _fit_steps(operation: Operation, pipeline: AbstractValue, parts: list[AbstractValue]) -> None:
    for part in parts:
        inner = known_class(part)
        if inner is not None:
            _fit_parts(operation, part, inner)
            fit_to(part, AbstractValue())
        elif not part.is_literal:
            part.forget()
    if "steps" in pipeline.facts:
        forget_namesakes(operation, parts)


@RULES.method("sklearn.*", *_ASKS)
def asking(operation: Operation) -> Answer:
    """predict, transform and others with data; what they give says the library."""
    estimator, known, method = operation.receiver, known_class(operation.receiver), operation.name
    given = operation.arguments.bound("X=None, **others")
    if known is None or given is None:
        return UNKNOWN
    _refuse_method(operation, estimator, known)
    _refuse_unfitted(operation, estimator, known, method)
    x = given.get("X", AbstractValue())
    if known.name == "Pipeline" and (parts := steps(estimator)):
        estimator, method = parts[0][1], "transform" if len(parts) > 1 else method
        known = known_class(estimator) or known
    _refuse_values(operation, estimator, known, method, x)
    if known.name not in _LOOKS_AT_NO_FEATURE:
        _refuse_count(operation, estimator, known, method, x)
    return UNCHANGED if known.name not in _RUNS_OTHERS else UNKNOWN


@RULES.method("sklearn.*", "inverse_transform", "get_feature_names_out", "get_support", "sample", "decision_path")
def learnt_answers(operation: Operation) -> Answer:
    """Other methods that need what fitting learns."""
    estimator, known = operation.receiver, known_class(operation.receiver)
    if known is None:
        return UNKNOWN
    # Its inverse_transform looks at the data, and may refuse those, before it misses what it has not learnt.
    if known.name != "TruncatedSVD":
        _refuse_unfitted(operation, estimator, known, operation.name)
    return UNCHANGED


@RULES.method("sklearn.*", "get_params", "set_output", "staged_predict", "get_n_splits")
def other_methods(operation: Operation) -> Answer:
    """They change nothing that is kept here; parameters are the estimator's own parts."""
    if known_class(operation.receiver) is None:
        return UNKNOWN
    if operation.name == "get_params":
        return AbstractValue("", {"part_of": [operation.receiver]})
    return operation.receiver if operation.name == "set_output" else UNCHANGED


def _refuse_method(operation: Operation, estimator: AbstractValue, known: KnownClass) -> None:
    """Raise where the class has no such method."""
    if is_of_table(operation) and known.kind and known.public and operation.name not in known.public:
        operation.crash(
            "AttributeError",
            f"'{known.name}' object has no attribute '{operation.name}'",
            fact=f"{estimator.named('it')} is of class {known.name}",
            remedy="use one of its own methods, or another class",
        )


def _refuse_unfitted(operation: Operation, estimator: AbstractValue, known: KnownClass, method: str) -> None:
    """Raise where it has not been fitted; a pipeline where none of its steps has."""
    if known.name == "Pipeline":
        _refuse_unfitted_steps(operation, estimator, method)
        return
    exception = _unfitted(operation, estimator, known, method)
    ready = [name for name in _MAY_NEED_NO_FIT if name in known.parameters]
    if is_fitted(estimator) is not False or exception is None:
        return
    if all(value_of(estimator, name) == known.parameters[name] for name in ready):
        not_fitted(operation, estimator, known.name, exception)


def _refuse_unfitted_steps(operation: Operation, pipeline: AbstractValue, method: str) -> None:
    asked = [part for _, part in steps(pipeline) or () if not part.is_literal]
    needing = [inner for part in asked if (inner := known_class(part)) and is_fitted(part) is False]
    last = "transform" if len(asked) > 1 else method
    if len(needing) == len(asked) > 0 and needing[0].unfitted.get(last):
        not_fitted(operation, pipeline, "Pipeline")


def _unfitted(operation: Operation, estimator: AbstractValue, known: KnownClass, method: str) -> str | None:
    """The exception of a method before fitting; other ones than NotFittedError are those of the table's version."""
    exception = known.unfitted.get(method)
    if exception in (None, "NotFittedError"):
        return exception
    if known.name in _OFFERED_BY:
        name, values = _OFFERED_BY[known.name]
        value = value_of(estimator, name)
        return None if value is NOT_KNOWN else "NotFittedError" if value in values else exception
    return exception if is_of_table(operation) else None


def refuse_lengths(
    operation: Operation, x: AbstractValue, y: AbstractValue, exception: str, names: tuple[str, str] = ("X", "y")
) -> None:
    """Raise where both certainly have other numbers of samples."""
    n_x, n_y = data.n_samples(x), data.n_samples(y)
    if differ(n_x, n_y):
        operation.crash(
            exception,
            f"Found input variables with inconsistent numbers of samples: [{n_x}, {n_y}]",
            fact=f"{x.named(names[0])} has {n_x} samples, {y.named(names[1])} has {n_y}",
            remedy="select both from the same rows",
        )


def _refuse_values(
    operation: Operation, estimator: AbstractValue, known: KnownClass, method: str, x: AbstractValue
) -> None:
    """Raise where values are certainly in a table that the class refuses: texts, NaN, infinity."""
    takes_columns = len(data.shape_as_array(x) or ()) == 1 and f"{method}:series" not in known.raises
    is_told = known.name not in (*_LOOKS_AT_NO_FEATURE, "MultiLabelBinarizer") and not takes_columns
    if not is_told or data.n_samples(x) == 0:
        return
    _refuse_mixed_names(operation, known, method, x)
    for flaw in data.flaws(x) if accepts_as_by_default(estimator, known) else ():
        exception = known.raises.get(f"{method}:{flaw.name}")
        also = {"text": f"{method}:text_column", "nan": "fit:none"}.get(flaw.name, f"fit:{flaw.name}")
        if exception is not None and {also, f"fit:{flaw.name}"} <= known.raises.keys():
            why = _WHY[flaw.name].format(flaw.value, known.name)
            operation.crash(exception, why, fact=flaw.fact, remedy=_REMEDIES[flaw.name])


def _refuse_mixed_names(operation: Operation, known: KnownClass, method: str, x: AbstractValue) -> None:
    mixed = known.raises.get(f"{method}:mixed_names") if is_since(operation, 1, 2) else None
    if mixed is not None and set(x.mapping("column_index").get("label_types", ())) == {"str", "int"}:
        operation.crash(
            mixed,
            "Feature names are only supported if all input features have string names",
            fact=f"{x.named('X')} mixes string and numeric column names",
            remedy="convert all column names to strings: X.columns = X.columns.astype(str)",
        )


_WHY: Final = {
    "text": "could not convert string to float: {0!r}",
    "nan": "Input X contains NaN: {1} does not accept missing values",
    "inf": "Input X contains infinity: {1} does not accept it",
}
_REMEDIES: Final = {
    "text": "encode the strings as numbers first (OneHotEncoder, pandas.get_dummies), or drop these columns",
    "nan": "fill or drop the missing values first",
    "inf": "replace or drop the infinite values first",
}


def _refuse_count(
    operation: Operation, estimator: AbstractValue, known: KnownClass, method: str, x: AbstractValue
) -> None:
    fitted, given = features_fitted(estimator), data.n_features(x)
    if differ(fitted, given) and f"{method}:fewer" in known.raises:
        operation.crash(
            known.raises[f"{method}:fewer"],
            f"X has {given} features, but {known.name} is expecting {fitted} features as input",
            fact=f"{x.named('X')} has {given} columns, {estimator.named('the estimator')} expects {fitted}",
            remedy="pass the same features as in fit",
        )
