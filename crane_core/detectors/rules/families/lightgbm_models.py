"""LightGBM's estimators, and what `lightgbm.train` finds wrong with a Dataset and its parameters.

Knows that a Dataset looks at its data only when training asks for it. Refuses Datasets that were read from files, or
that are parts of others.
"""

from typing import Final

from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.answer import UNCHANGED, UNKNOWN, Answer
from crane_core.detectors.rules.families import sklearn_data as data
from crane_core.detectors.rules.families.numpy_arrays import is_array
from crane_core.detectors.rules.families.pandas_frames import (
    is_frame,
    is_series,
)
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation
from crane_core.detectors.rules.shapes import differ

RULES: Final = Family("LightGBM")
_KINDS: Final = ("LGBMClassifier", "LGBMRegressor")
_DATASET: Final = "lightgbm.basic.Dataset"
_BOOSTER: Final = "lightgbm.basic.Booster"
_LEARNT_TEXT: Final = (
    "n_features_ n_features_in_ best_score_ best_iteration_ objective_ booster_ evals_result_ feature_importances_"
    " feature_name_ n_estimators_ classes_ n_classes_"
)
_LEARNT: Final = tuple(_LEARNT_TEXT.split())
"""Properties that ask whether the model is fitted first."""
# LightGBM writes feature names into JSON, and refuses characters that would break it.
_OF_JSON: Final = frozenset('",:[]{}')
# Other names of the two objectives, from LightGBM's list of parameters.


# Estimators


@RULES.function(
    *[f"lightgbm.{name}" for name in _KINDS],
    *[f"lightgbm.sklearn.{name}" for name in _KINDS],
)
def made(operation: Operation) -> Answer:
    """A new estimator of LightGBM, not fitted."""
    name = operation.function_name
    return AbstractValue(
        f"lightgbm.{name}", {"class_name": name, "is_fitted": False}
    )


@RULES.method("lightgbm.LGBMClassifier", "fit")
@RULES.method("lightgbm.LGBMRegressor", "fit")
def fitting(operation: Operation) -> Answer:
    """fit returns the estimator; raises Crash for data, targets and callbacks that it refuses."""
    model = operation.receiver
    given = operation.arguments.bound("X, y, **others")
    if given is None:
        return UNKNOWN
    x, y = given["X"], given["y"]
    _refuse_data(operation, x, y)
    # LGBMClassifier.fit calls scikit-learn's check_classification_targets.
    fraction = (
        data.fraction_in(data.values_of(y))
        if is_array(y) or is_series(y)
        else None
    )
    if model.class_name == "LGBMClassifier" and fraction is not None:
        operation.crash(
            "ValueError",
            "Unknown label type: LGBMClassifier needs classes, not continuous values",
            fact=f"{y.named('y')} holds {fraction:g}",
            remedy="use LGBMRegressor, or convert the values to classes",
        )
    # A second fit replaces all that the first one learnt.
    model.facts = {"class_name": model.class_name, "is_fitted": True}
    return model


@RULES.method("lightgbm.LGBMClassifier", "predict", "predict_proba", "score")
@RULES.method("lightgbm.LGBMRegressor", "predict", "score")
@RULES.attribute("lightgbm.LGBMClassifier", *_LEARNT)
@RULES.attribute("lightgbm.LGBMRegressor", *_LEARNT)
def asking(operation: Operation) -> Answer:
    """What a model has, and can do, only after fitting."""
    model = operation.receiver
    if model.fact("is_fitted") is False:
        operation.crash(
            "NotFittedError",
            f"This {model.class_name} instance is not fitted yet",
            fact=f"{model.named('the model')} has not been fitted",
            remedy="call fit on this object first",
        )
    return UNKNOWN if operation.name in _LEARNT else UNCHANGED


# Datasets and boosters


@RULES.function("lightgbm.Dataset", _DATASET)
def dataset_made(operation: Operation) -> Answer:
    """A Dataset keeps data and label as they are: it checks neither before training."""
    bound = operation.arguments.bound("data, label=None, **others")
    if bound is None:
        return UNKNOWN
    return AbstractValue(
        _DATASET,
        attributes={
            name: bound[name] for name in ("data", "label") if name in bound
        },
    )


@RULES.function("lightgbm.train", "lightgbm.engine.train")
def trained(operation: Operation) -> Answer:
    """lgb.train returns a Booster; raises Crash for what training refuses."""
    bound = operation.arguments.bound(
        "params, train_set, num_boost_round=100, valid_sets=None, **others"
    )
    if bound is None:
        return UNKNOWN
    given = bound["train_set"]
    if (
        given.is_a("numpy")
        or given.is_a("pandas")
        or given.type in ("list", "tuple")
    ):
        operation.crash(
            "TypeError",
            "lightgbm.train only accepts a Dataset object",
            fact=f"{given.named('train_set')} is of type {given.type}",
            remedy="create one: lgb.Dataset(X, label=y)",
        )
    if not given.is_a("lightgbm", "Dataset"):
        return UNKNOWN
    x, y = (
        given.attributes.get(name, AbstractValue())
        for name in ("data", "label")
    )
    _refuse_data(operation, x, y)
    return AbstractValue(_BOOSTER, words=operation.text)


# What both refuse


def _refuse_data(
    operation: Operation, x: AbstractValue, y: AbstractValue
) -> None:
    """What training refuses, in the order of its checks."""
    _refuse_texts(operation, x)
    _refuse_lengths(operation, x, y)
    _refuse_names(operation, x)


def _refuse_texts(operation: Operation, x: AbstractValue) -> None:
    for label, dtype in data.dtypes_of(x).items() if is_frame(x) else ():
        # Columns of dtype category are taken as they are.
        if str(dtype) in ("object", "str", "string"):
            why = "DataFrame.dtypes for data must be int, float or bool (or categories)"
            fact = f"column {label!r} of {x.named('X')} has dtype {dtype}"
            operation.crash(
                "ValueError",
                why,
                fact=fact,
                remedy="convert it to categories: astype('category')",
            )


def _refuse_lengths(
    operation: Operation, x: AbstractValue, y: AbstractValue
) -> None:
    n_x, n_y = data.n_samples(x), data.n_samples(y)
    # Only tables and arrays are counted: a Dataset may also be made from a file or a list of parts.
    are_counted = (is_frame(x) or is_array(x)) and (is_array(y) or is_series(y))
    if differ(n_x, n_y) and are_counted:
        operation.crash(
            # scikit-learn counts the rows of an array in fit; a frame goes to LightGBM as it is.
            "ValueError"
            if operation.name == "fit" and is_array(x)
            else "LightGBMError",
            f"Length of labels differs from the length of data: {n_y} and {n_x}",
            fact=f"{x.named('the data')} has {n_x} rows, {y.named('the label')} has {n_y}",
            remedy="select both from the same rows",
        )


def _refuse_names(operation: Operation, x: AbstractValue) -> None:
    for name in data.names_of(x) or ():
        if not _OF_JSON.isdisjoint(name):
            operation.crash(
                "LightGBMError",
                "Do not support special JSON characters in feature name",
                fact=f"{x.named('X')} has the column {name!r}",
                remedy="rename the columns: use letters, digits and _",
            )
