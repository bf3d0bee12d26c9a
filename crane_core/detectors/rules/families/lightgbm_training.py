"""LightGBM's own interface: what `lightgbm.train` finds wrong with a Dataset and its parameters.

Knows that a Dataset looks at its data only when training asks for it. Refuses Datasets that were read from files, or
that are parts of others.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from crane_core.detectors.rules.abstract_value import NOT_KNOWN, AbstractValue
from crane_core.detectors.rules.answer import UNCHANGED, UNKNOWN, Answer
from crane_core.detectors.rules.families import sklearn_data as data
from crane_core.detectors.rules.families.lightgbm_models import (
    EARLY_STOPPING,
    refuse_names,
    refuse_texts,
    refuse_width,
    stops_without_data,
)
from crane_core.detectors.rules.families.numpy_arrays import is_array
from crane_core.detectors.rules.families.pandas_frames import is_frame, is_series
from crane_core.detectors.rules.families.sklearn_models import refuse_lengths
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation

RULES: Final = Family("LightGBM training")
_DATASET: Final = "lightgbm.basic.Dataset"
_BOOSTER: Final = "lightgbm.basic.Booster"
_OBJECTIVE: Final = ("objective", "objective_type", "app", "application", "loss")
_NUM_CLASS: Final = ("num_class", "num_classes")
_ONE_OF_MANY: Final = ("multiclass", "softmax")
_MANY: Final = (*_ONE_OF_MANY, "multiclassova", "multiclass_ova", "ova", "ovr")
_ONE: Final = ("binary", "regression", "regression_l2", "l2", "mse", "regression_l1", "l1", "mae", "huber", "poisson")
_TRAIN: Final = (
    "params, train_set, num_boost_round=100, valid_sets=None, valid_names=None, feval=None, init_model=None, **others"
)


@RULES.function("lightgbm.Dataset", _DATASET)
def dataset_made(operation: Operation) -> Answer:
    bound = operation.arguments.bound("data, label=None, **others")
    if bound is None:
        return UNKNOWN
    return AbstractValue(_DATASET, attributes={name: bound[name] for name in ("data", "label") if name in bound})


@RULES.function("lightgbm.train", "lightgbm.engine.train")
def trained(operation: Operation) -> Answer:
    bound = operation.arguments.bound(_TRAIN)
    if bound is None or not bound.keys() >= {"params", "train_set"}:
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
    settings = bound["params"].members
    _refuse_classes(operation, settings)
    x, y = given.attributes.get("data", AbstractValue()), given.attributes.get("label", AbstractValue())
    _refuse_data(operation, x, y)
    _refuse_labels(operation, settings, y)
    stops_without_data(operation, bound.get("callbacks"), is_given=bound.get("valid_sets", AbstractValue("NoneType")))
    n_features = data.n_features(x)
    return AbstractValue(_BOOSTER, {"n_features": n_features} if n_features is not None else {}, words=operation.text)


def _setting(settings: Mapping[Any, AbstractValue] | None, names: tuple[str, ...]) -> Any:
    """The value of a parameter by any of its names; None if it is not set, NOT_KNOWN where that is not certain."""
    if settings is None:
        return NOT_KNOWN
    found = [settings[name].literal for name in names if name in settings]
    return found[0] if len(found) == 1 else NOT_KNOWN if found else None


def _refuse_classes(operation: Operation, settings: Mapping[Any, AbstractValue] | None) -> None:
    objective, n_classes = _setting(settings, _OBJECTIVE), _setting(settings, _NUM_CLASS)
    if objective in _MANY and n_classes in (None, 1):
        operation.crash(
            "LightGBMError",
            "Number of classes should be specified and greater than 1 for multiclass training",
            fact=f"objective is {objective!r}, and num_class is {n_classes or 'not set'}",
            remedy="set num_class in the parameters",
        )
    if objective in _ONE and type(n_classes) is int and n_classes > 1:
        operation.crash(
            "LightGBMError",
            "Number of classes must be 1 for non-multiclass training",
            fact=f"objective is {objective!r}, and num_class is {n_classes}",
            remedy="remove num_class, or use the objective 'multiclass'",
        )


def _refuse_data(operation: Operation, x: AbstractValue, y: AbstractValue) -> None:
    refuse_texts(operation, x)
    if (is_frame(x) or is_array(x)) and (is_array(y) or is_series(y)):
        refuse_lengths(operation, x, y, "LightGBMError", names=("data", "label"))
    refuse_names(operation, x)


def _refuse_labels(operation: Operation, settings: Mapping[Any, AbstractValue] | None, y: AbstractValue) -> None:
    """Classes are counted from 0."""
    n_classes = _setting(settings, _NUM_CLASS)
    if _setting(settings, _OBJECTIVE) not in _ONE_OF_MANY or type(n_classes) is not int:
        return
    beyond = [end for end in data.range_of(data.values_of(y)) if end is not None and not 0 <= end < n_classes]
    if beyond and (is_array(y) or is_series(y)):
        operation.crash(
            "LightGBMError",
            f"Label must be in [0, {n_classes})",
            fact=f"{y.named('label')} holds {beyond[0]:g}",
            remedy="set num_class to the number of classes, and number them from 0 (LabelEncoder)",
        )


@RULES.method("lightgbm.Booster", "predict")
def asked(operation: Operation) -> Answer:
    booster = operation.receiver
    refuse_width(operation, booster.fact("n_features"))
    return UNCHANGED


@RULES.function("lightgbm.early_stopping", "lightgbm.callback.early_stopping")
def early_stopping(operation: Operation) -> Answer:
    return AbstractValue(EARLY_STOPPING, words=operation.text)
