"""Methods of estimators: fit, predict, transform and what goes with them, one after the other as a notebook calls them.

What they refuse of data says the library itself. This file says what is certain without it: methods before fit.
"""

from typing import Final

from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.answer import UNCHANGED, UNKNOWN, Answer
from crane_core.detectors.rules.asking_sklearn import sent_to_fit
from crane_core.detectors.rules.families import sklearn_data as data
from crane_core.detectors.rules.families import sklearn_estimators
from crane_core.detectors.rules.families.sklearn_classes import (
    KnownClass,
    known_class,
)
from crane_core.detectors.rules.families.sklearn_limits import refuse_settings
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.heap import reachable
from crane_core.detectors.rules.operation import Operation
from crane_core.detectors.rules.shapes import differ

RULES: Final = Family("scikit-learn: fit, predict and score")
# FeatureUnion fits the very objects that it was given; most others fit clones.
_FITS_ITS_PARTS: Final = ("FeatureUnion", "FrozenEstimator")
# FunctionTransformer calls a function of the notebook, which may change anything.
_RUNS_OTHERS: Final = ("FunctionTransformer",)
_LOOKS_AT_NO_FEATURE: Final = (
    "Pipeline",
    "ColumnTransformer",
    "CalibratedClassifierCV",
    "TransformedTargetRegressor",
)
"""Classes that give their data, as they are, to others, of which their table of refusals does not speak."""
_ASKS: Final = (
    *(
        "predict",
        "predict_proba",
        "predict_log_proba",
        "decision_function",
        "transform",
        "score_samples",
        "apply",
    ),
    *("kneighbors", "score"),
)
# CountVectorizer(vocabulary=...), SelectFromModel(prefit=True) and SparseCoder work unfitted.
_MAY_NEED_NO_FIT: Final = (
    "vocabulary",
    "prefit",
    "cv",
    "estimator",
    "estimators",
    "dictionary",
)
_NOTHING: Final = AbstractValue("NoneType", literal=None)


@RULES.method("sklearn.*", "fit", "partial_fit")
def fitting(operation: Operation) -> Answer:
    """fit returns the estimator itself, fitted."""
    return operation.receiver if _fit(operation) is not None else UNKNOWN


@RULES.method("sklearn.*", "fit_transform", "fit_predict", "fit_resample")
def fitting_at_once(operation: Operation) -> Answer:
    """fit, and what transform or predict give of the same data, which the library says."""
    return (
        UNCHANGED
        # StandardScaler(copy=False) writes its result into the data that it got.
        if _fit(operation) is not None
        and sklearn_estimators.value_of(operation.receiver, "copy") is not False
        else UNKNOWN
    )


def _fit(operation: Operation) -> AbstractValue | None:
    """Fits the receiver to X and y, or to y alone; the data that it learns from, None if nothing is known of that."""
    estimator, known = operation.receiver, known_class(operation.receiver)
    given = operation.arguments.bound(
        "X=None, y=None, sample_weight=None, **others"
    )
    if known is None or not given or not (given.keys() & {"X", "y"}):
        return None
    # LabelEncoder.fit(y) takes labels alone.
    x = given.get("X", given.get("y", _NOTHING))
    # _fit_context of scikit-learn checks parameters before fit looks at the data.
    refuse_settings(operation, estimator, known)
    # partial_fit adds to earlier batches: these data alone do not say what it learnt.
    fit_on = sent_to_fit(given) if operation.name != "partial_fit" else None
    # Asked first, as parts that are fitted are forgotten.
    may_write = _may_write(estimator)
    may_change = may_write or _may_run_notebook(estimator, known)
    _fit_parts(operation, estimator, known)
    sklearn_estimators.fit_to(estimator, x, fit_on)
    if may_write:
        x.forget()
    return None if may_change else x


def _may_run_notebook(estimator: AbstractValue, known: KnownClass) -> bool:
    # SVC(kernel=f) calls f while fitting, and so may a step of a pipeline.
    return known.name in _RUNS_OTHERS or any(
        part.definition is not None or part.class_name in _RUNS_OTHERS
        for part in reachable(estimator.attributes.values())
    )


def _may_write(estimator: AbstractValue) -> bool:
    """Whether it, or a part of it, may write its result into the data that it is given."""
    return any(
        sklearn_estimators.value_of(part, name) is False
        for part in reachable([estimator])
        if known_class(part) is not None
        for name in ("copy", "copy_X", "copy_x")
    )


def _fit_parts(
    operation: Operation, estimator: AbstractValue, known: KnownClass
) -> None:
    """Parts that are fitted themselves; others are copied. A state may tell of them under whatever other name."""
    parts = (
        sklearn_estimators.steps(estimator)
        if known.name == "Pipeline"
        else None
    )
    if parts is not None:
        _fit_steps(operation, estimator, [part for _, part in parts])
    elif known.name in (*_FITS_ITS_PARTS, "Pipeline"):
        for part in reachable(estimator.attributes.values()):
            part.forget()


def _fit_steps(
    operation: Operation, pipeline: AbstractValue, parts: list[AbstractValue]
) -> None:
    for part in parts:
        inner = known_class(part)
        if inner is not None:
            # Without memory= a pipeline fits its steps themselves, and not clones of them.
            _fit_parts(operation, part, inner)
            sklearn_estimators.fit_to(part, AbstractValue())
        elif not part.is_literal:
            part.forget()
    if "steps" in pipeline.facts:
        sklearn_estimators.forget_namesakes(operation, parts)


@RULES.method("sklearn.*", *_ASKS)
def asking(operation: Operation) -> Answer:
    """predict, transform and others with data; what they give says the library."""
    estimator, known = operation.receiver, known_class(operation.receiver)
    given = operation.arguments.bound("X=None, **others")
    if known is None or not given:
        return UNKNOWN
    if _needs_fit(estimator, known, operation.name):
        operation.crash(
            "NotFittedError",
            f"This {known.name} instance is not fitted yet",
            fact=f"{estimator.named('it')} has not been fitted",
            remedy="call fit first, or use the object that was fitted; cross_val_score and searches fit only copies",
        )
    if known.name not in _LOOKS_AT_NO_FEATURE:
        _refuse_count(
            operation, estimator, known, given.get("X", AbstractValue())
        )
    if _may_write(estimator):
        given.get("X", AbstractValue()).forget()
        return UNKNOWN
    return UNKNOWN if _may_run_notebook(estimator, known) else UNCHANGED


def _needs_fit(
    estimator: AbstractValue, known: KnownClass, method: str
) -> bool:
    """Whether it was not fitted and a method refuses that; of a pipeline, whether none of its steps was."""
    if known.name == "Pipeline":
        parts = [
            part
            for _, part in sklearn_estimators.steps(estimator) or ()
            if not part.is_literal
        ]
        fresh = [
            inner
            for part in parts
            if (inner := known_class(part))
            and sklearn_estimators.is_fitted(part) is False
        ]
        # A pipeline calls transform of its first step before anything else.
        first = "transform" if len(parts) > 1 else method
        return (
            len(fresh) == len(parts) > 0
            and first in fresh[0].unfitted
            and method in fresh[-1].unfitted
        )
    ready = [name for name in _MAY_NEED_NO_FIT if name in known.parameters]
    # Set otherwise, each of these may make a fit unnecessary.
    is_usual = all(
        sklearn_estimators.value_of(estimator, name) == known.parameters[name]
        for name in ready
    )
    return (
        is_usual
        and sklearn_estimators.is_fitted(estimator) is False
        and method in known.unfitted
    )


@RULES.method("sklearn.*", "set_output", "staged_predict", "get_n_splits")
def other_methods(operation: Operation) -> Answer:
    """They change nothing that is kept here."""
    if known_class(operation.receiver) is None:
        return UNKNOWN
    return operation.receiver if operation.name == "set_output" else UNCHANGED


def _refuse_count(
    operation: Operation,
    estimator: AbstractValue,
    known: KnownClass,
    x: AbstractValue,
) -> None:
    fitted, given = (
        sklearn_estimators.features_fitted(estimator),
        data.n_features(x),
    )
    if differ(fitted, given) and operation.name in known.counts_features:
        operation.crash(
            "ValueError",
            f"X has {given} features, but {known.name} is expecting {fitted} features as input",
            fact=f"{x.named('X')} has {given} columns, {estimator.named('the estimator')} expects {fitted}",
            remedy="pass the same features as in fit",
        )
