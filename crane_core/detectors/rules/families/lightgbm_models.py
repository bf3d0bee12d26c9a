"""LightGBM's estimators: names of features that JSON would misread, lengths, texts, and asking before fitting."""

from __future__ import annotations

from typing import Final

from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.answer import UNCHANGED, UNKNOWN, Answer
from crane_core.detectors.rules.families import sklearn_data as data
from crane_core.detectors.rules.families.pandas_frames import is_frame
from crane_core.detectors.rules.families.sklearn_estimators import not_fitted
from crane_core.detectors.rules.families.sklearn_models import refuse_lengths
from crane_core.detectors.rules.families.versions import version_of
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation

RULES: Final = Family("LightGBM")
_KINDS: Final = ("LGBMClassifier", "LGBMRegressor")
EARLY_STOPPING: Final = "lightgbm.callback._EarlyStoppingCallback"
_LEARNT: Final = (
    *("n_features_", "n_features_in_", "best_score_", "best_iteration_", "objective_", "booster_", "evals_result_"),
    *("feature_importances_", "feature_name_", "n_estimators_", "classes_", "n_classes_"),
)
"""Properties that ask whether the model is fitted first."""
_WENT_IN_4: Final = ("early_stopping_rounds", "verbose")
_OF_JSON: Final = '",:[]{}'


def _construct(operation: Operation) -> Answer:
    name = operation.function_name
    return AbstractValue(f"lightgbm.{name}", {"class_name": name, "is_fitted": False}) if name in _KINDS else UNCHANGED


RULES.function(*[f"lightgbm.{name}" for name in _KINDS], *[f"lightgbm.sklearn.{name}" for name in _KINDS])(_construct)


@RULES.method("lightgbm.*", "fit")
def fitting(operation: Operation) -> Answer:
    model = operation.receiver
    given = operation.arguments.bound("X, y=None, **others")
    if model.class_name not in _KINDS or given is None or not given.keys() >= {"X", "y"}:
        return UNKNOWN
    _refuse_old_arguments(operation)
    x, y = given["X"], given["y"]
    refuse_texts(operation, x)
    refuse_lengths(operation, x, y, "LightGBMError")
    _refuse_targets(operation, model, y)
    refuse_names(operation, x)
    stops_without_data(operation, given.get("callbacks"), is_given=given.get("eval_set", AbstractValue("NoneType")))
    model.facts = {"class_name": model.class_name, "is_fitted": True}
    if (n_features := data.n_features(x)) is not None:
        model.facts["fitted_attributes"] = {"n_features_in_": n_features}
    return model


def _refuse_old_arguments(operation: Operation) -> None:
    """What `fit` took before LightGBM 4."""
    gone = [name for name in _WENT_IN_4 if name in operation.arguments.keywords]
    version = version_of(operation, "lightgbm")
    if gone and version is not None and version[0] >= 4:
        callback = "early_stopping(50)" if gone[0] == "early_stopping_rounds" else "log_evaluation(0)"
        operation.crash(
            "TypeError",
            f"fit of LightGBM {version[0]} has no argument {gone[0]}",
            fact=f"it is given {gone[0]}, which LightGBM 4 removed",
            remedy=f"write callbacks=[lightgbm.{callback}]",
        )


def stops_without_data(operation: Operation, callbacks: AbstractValue | None, *, is_given: AbstractValue) -> None:
    """Early stopping needs something to evaluate on."""
    items = (callbacks.items if callbacks is not None else None) or ()
    if is_given.type == "NoneType" and any(item.type == EARLY_STOPPING for item in items):
        operation.crash(
            "ValueError",
            "for early stopping, at least one dataset and eval metric is required for evaluation",
            fact="callbacks has early_stopping, and no validation data is given",
            remedy="give eval_set=[(X_valid, y_valid)] to fit, valid_sets=[...] to train",
        )


def refuse_texts(operation: Operation, x: AbstractValue) -> None:
    """Columns of texts; categories are welcome."""
    for label, dtype in data.dtypes_of(x).items() if is_frame(x) else ():
        if str(dtype) in ("object", "str", "string"):
            operation.crash(
                "ValueError",
                "DataFrame.dtypes for data must be int, float or bool (or categories)",
                fact=f"column {label!r} of {x.named('X')} has dtype {dtype}",
                remedy="convert it to categories: astype('category')",
            )


def _refuse_targets(operation: Operation, model: AbstractValue, y: AbstractValue) -> None:
    if model.class_name == "LGBMClassifier" and data.is_continuous(y):
        operation.crash(
            "ValueError",
            "Unknown label type: LGBMClassifier needs classes, not continuous values",
            fact=f"{y.named('y')} holds {data.fraction_in(data.values_of(y))}",
            remedy="use LGBMRegressor, or convert the values to classes",
        )


def refuse_names(operation: Operation, x: AbstractValue) -> None:
    odd = [name for name in data.names_of(x) or () if any(letter in name for letter in _OF_JSON)]
    if odd:
        operation.crash(
            "LightGBMError",
            "Do not support special JSON characters in feature name",
            fact=f"{x.named('X')} has the column {odd[0]!r}",
            remedy="rename the columns: use letters, digits and _",
        )


@RULES.method("lightgbm.*", "predict", "predict_proba", "score")
def asking(operation: Operation) -> Answer:
    model = operation.receiver
    if model.class_name not in _KINDS:
        return UNKNOWN
    if model.fact("is_fitted") is False:
        not_fitted(operation, model, model.class_name)
    known = model.fact("fitted_attributes")
    refuse_width(operation, known.get("n_features_in_") if isinstance(known, dict) else None)
    return UNCHANGED


def refuse_width(operation: Operation, fitted: object) -> None:
    """Other features than the model was fitted with; keywords may switch the check off."""
    given = operation.first
    n_given = data.n_features(given)
    if isinstance(fitted, int) and n_given is not None and n_given != fitted and not operation.arguments.keywords:
        is_booster = operation.receiver.class_name == "Booster"
        operation.crash(
            "LightGBMError" if is_booster or is_frame(given) else "ValueError",
            f"the number of features of the input is {n_given}, but the model was fitted with {fitted}",
            fact=f"{given.named('X')} has {n_given} columns",
            remedy="pass the same features as in fit",
        )


@RULES.attribute("lightgbm.*", *_LEARNT)
def learnt(operation: Operation) -> Answer:
    """What a model has only after fitting."""
    model = operation.receiver
    if model.class_name not in _KINDS or model.fact("is_fitted") is not False:
        return UNKNOWN
    operation.crash(
        "NotFittedError",
        f"{operation.name} exists only after fitting",
        fact=f"{model.named('the model')} has not been fitted",
        remedy="call fit on this object first",
    )
