"""LightGBM's estimators, and what `lightgbm.train` finds wrong with a Dataset and its parameters.

Knows that a Dataset looks at its data only when training asks for it. Refuses Datasets that were read from files, or
that are parts of others.
"""

from __future__ import annotations

from typing import Final

from crane_core.detectors.rules.abstract_value import AbstractValue, known_facts
from crane_core.detectors.rules.answer import UNCHANGED, UNKNOWN, Answer
from crane_core.detectors.rules.families import sklearn_data as data
from crane_core.detectors.rules.families.numpy_arrays import is_array
from crane_core.detectors.rules.families.pandas_frames import is_frame, is_series
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation, is_at_least
from crane_core.detectors.rules.shapes import differ

RULES: Final = Family("LightGBM")
_KINDS: Final = ("LGBMClassifier", "LGBMRegressor")
_DATASET: Final = "lightgbm.basic.Dataset"
_BOOSTER: Final = "lightgbm.basic.Booster"
_EARLY_STOPPING: Final = "lightgbm.callback._EarlyStoppingCallback"
_LEARNT: Final = (
    *(
        "n_features_",
        "n_features_in_",
        "best_score_",
        "best_iteration_",
        "objective_",
        "booster_",
        "evals_result_",
    ),
    *(
        "feature_importances_",
        "feature_name_",
        "n_estimators_",
        "classes_",
        "n_classes_",
    ),
)
"""Properties that ask whether the model is fitted first."""
# LightGBM writes feature names into JSON, and refuses characters that would break it.
_OF_JSON: Final = '",:[]{}'
_NUMBERS: Final = ("int8", "int16", "int32", "int64", "uint", "float", "bool")
# Other names of the two objectives, from LightGBM's list of parameters.
_MANY: Final = (
    "multiclass",
    "softmax",
    "multiclassova",
    "multiclass_ova",
    "ova",
    "ovr",
)


# Estimators


@RULES.function(
    *[f"lightgbm.{name}" for name in _KINDS],
    *[f"lightgbm.sklearn.{name}" for name in _KINDS],
)
def made(operation: Operation) -> Answer:
    """A new estimator of LightGBM, not fitted."""
    name = operation.function_name
    return AbstractValue(f"lightgbm.{name}", {"class_name": name, "is_fitted": False})


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
        data.fraction_in(data.values_of(y)) if is_array(y) or is_series(y) else None
    )
    if model.class_name == "LGBMClassifier" and fraction is not None:
        operation.crash(
            "ValueError",
            "Unknown label type: LGBMClassifier needs classes, not continuous values",
            fact=f"{y.named('y')} holds {fraction:g}",
            remedy="use LGBMRegressor, or convert the values to classes",
        )
    _refuse_stopping(operation, given, "eval_set")
    # A second fit replaces all that the first one learnt.
    model.facts = {"class_name": model.class_name, "is_fitted": True}
    if (n_features := data.n_features(x)) is not None:
        model.facts["fitted_attributes"] = {"n_features_in_": n_features}
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
    if operation.name in _LEARNT:
        return UNKNOWN
    _refuse_width(operation, model.mapping("fitted_attributes").get("n_features_in_"))
    return UNCHANGED


# Datasets and boosters


@RULES.function("lightgbm.Dataset", _DATASET)
def dataset_made(operation: Operation) -> Answer:
    """A Dataset keeps data and label as they are: it checks neither before training."""
    bound = operation.arguments.bound("data, label=None, **others")
    if bound is None:
        return UNKNOWN
    return AbstractValue(
        _DATASET,
        attributes={name: bound[name] for name in ("data", "label") if name in bound},
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
    if given.is_a("numpy") or given.is_a("pandas") or given.type in ("list", "tuple"):
        operation.crash(
            "TypeError",
            "lightgbm.train only accepts a Dataset object",
            fact=f"{given.named('train_set')} is of type {given.type}",
            remedy="create one: lgb.Dataset(X, label=y)",
        )
    if not given.is_a("lightgbm", "Dataset"):
        return UNKNOWN
    settings = bound["params"].members or {}
    objective = settings.get("objective", AbstractValue()).literal
    # num_classes is LightGBM's other name for num_class: either is enough.
    if objective in _MANY and settings.keys().isdisjoint({"num_class", "num_classes"}):
        operation.crash(
            "LightGBMError",
            "Number of classes should be specified and greater than 1 for multiclass training",
            fact=f"objective is {objective!r}, and num_class is not set",
            remedy="set num_class in the parameters",
        )
    x, y = (
        given.attributes.get("data", AbstractValue()),
        given.attributes.get("label", AbstractValue()),
    )
    _refuse_data(operation, x, y)
    _refuse_stopping(operation, bound, "valid_sets")
    return AbstractValue(
        _BOOSTER, known_facts(n_features=data.n_features(x)), words=operation.text
    )


@RULES.method("lightgbm.Booster", "predict")
def asked(operation: Operation) -> Answer:
    """predict of a Booster; raises Crash for another number of features than in training."""
    _refuse_width(operation, operation.receiver.fact("n_features"))
    return UNCHANGED


@RULES.function("lightgbm.early_stopping", "lightgbm.callback.early_stopping")
def early_stopping(operation: Operation) -> Answer:
    """The callback, so that training without validation data is recognised."""
    return AbstractValue(_EARLY_STOPPING, words=operation.text)


# What both refuse


def _refuse_stopping(
    operation: Operation, given: dict[str, AbstractValue], name: str
) -> None:
    """Early stopping needs something to evaluate on."""
    callbacks = given.get("callbacks", AbstractValue()).items or ()
    # The callback itself raises in the first iteration, when there is no result to compare.
    if given.get(name, AbstractValue("NoneType")).type == "NoneType" and any(
        each.type == _EARLY_STOPPING for each in callbacks
    ):
        why = "for early stopping, at least one dataset and eval metric is required for evaluation"
        remedy = "give eval_set=[(X_valid, y_valid)] to fit, valid_sets=[...] to train"
        fact = "callbacks has early_stopping, and no validation data is given"
        operation.crash("ValueError", why, fact=fact, remedy=remedy)


def _refuse_data(operation: Operation, x: AbstractValue, y: AbstractValue) -> None:
    """Columns of texts, where categories are welcome; another number of labels; names that JSON would misread."""
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
    n_x, n_y = data.n_samples(x), data.n_samples(y)
    # Only tables and arrays are counted: a Dataset may also be made from a file or a list of parts.
    if (
        differ(n_x, n_y)
        and (is_frame(x) or is_array(x))
        and (is_array(y) or is_series(y))
    ):
        operation.crash(
            # scikit-learn counts the rows of an array in fit; a frame goes to LightGBM as it is.
            "ValueError"
            if operation.name == "fit" and is_array(x)
            else "LightGBMError",
            f"Length of labels differs from the length of data: {n_y} and {n_x}",
            fact=f"{x.named('the data')} has {n_x} rows, {y.named('the label')} has {n_y}",
            remedy="select both from the same rows",
        )
    odd = [
        name
        for name in data.names_of(x) or ()
        if any(letter in name for letter in _OF_JSON)
    ]
    if odd:
        operation.crash(
            "LightGBMError",
            "Do not support special JSON characters in feature name",
            fact=f"{x.named('X')} has the column {odd[0]!r}",
            remedy="rename the columns: use letters, digits and _",
        )


def _refuse_width(operation: Operation, fitted: object) -> None:
    """Other features than the model was fitted with; keywords may switch the check off."""
    given = operation.first
    n_given = data.n_features(given)
    # predict_disable_shape_check=True accepts other widths. Columns of texts or categories are
    # refused for their dtype before they are counted.
    if operation.arguments.keywords or is_frame(given) and not _are_numbers(given):
        return
    if isinstance(fitted, int) and n_given is not None and n_given != fitted:
        is_of_library = is_frame(given) and is_at_least(
            operation, "lightgbm", 4, 6
        )  # before, its wrapper counted
        operation.crash(
            "LightGBMError"
            if is_of_library or operation.receiver.class_name == "Booster"
            else "ValueError",
            f"the number of features of the input is {n_given}, but the model was fitted with {fitted}",
            fact=f"{given.named('X')} has {n_given} columns",
            remedy="pass the same features as in fit",
        )


def _are_numbers(table: AbstractValue) -> bool:
    """Whether the table has nothing but columns of numbers, for certain."""
    dtypes = [str(dtype).lower() for dtype in data.dtypes_of(table).values()]
    return len(dtypes) == data.n_features(table) and all(
        dtype.startswith(_NUMBERS) for dtype in dtypes
    )
