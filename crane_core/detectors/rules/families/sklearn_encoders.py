"""Encoders of categories: one dimension or two, labels that were not there at fit time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.families import sklearn_data as data
from crane_core.detectors.rules.families.sklearn_classes import KnownClass
from crane_core.detectors.rules.families.sklearn_estimators import (
    are_plain,
    classes_fitted,
    fit_to,
    is_fitted,
    value_of,
)
from crane_core.detectors.rules.families.sklearn_fitting import ask, refuse_unfitted, refuse_x
from crane_core.detectors.rules.families.sklearn_results import array, as_many_rows, gives_arrays
from crane_core.detectors.rules.families.sklearn_targets import target_of
from crane_core.detectors.rules.operation import Operation
from crane_core.detectors.rules.shapes import shown

_OF_LABELS: Final = ("LabelEncoder", "LabelBinarizer")


def fit_encoder(operation: Operation, estimator: AbstractValue, known: KnownClass, x: AbstractValue) -> None:
    if known.name in _OF_LABELS:
        _refuse_table(operation, known, x)
        fit_to(estimator, x)
        if (classes := target_of(x).classes) is not None:
            estimator.facts["classes_"] = sorted(classes, key=str)
        return
    refuse_x(operation, estimator, known, "fit", x)
    fit_to(estimator, x)
    if (found := _categories_in(x)) is not None:
        estimator.facts["categories_"] = found


def _refuse_table(operation: Operation, known: KnownClass, x: AbstractValue) -> None:
    shape = data.shape_as_array(x)
    if known.name == "LabelEncoder" and shape is not None and len(shape) == 2 and (shape[1] or 0) > 1:
        operation.crash(
            "ValueError",
            "y should be a 1d array: LabelEncoder encodes one column of labels",
            fact=f"{x.named('it')} has the shape {shown(shape)}",
            remedy="encode column by column, or use OrdinalEncoder for features",
        )


def _categories_in(x: AbstractValue) -> list[list[Any]] | None:
    """The values of each column, where all are known."""
    columns = data.columns_of(x)
    if columns is None:
        return None
    found = [_all_values(data.per_column(x).get(label, {})) for label in columns]
    return [values for values in found if values is not None] if all(values is not None for values in found) else None


def _all_values(facts: Any) -> list[Any] | None:
    values = facts.get("unique_values")
    is_whole = isinstance(values, list) and facts.get("num_unique") == len(values) and facts.get("has_nan") is False
    return values if is_whole and are_plain(values) else None


def transform_encoder(
    operation: Operation, estimator: AbstractValue, known: KnownClass, x: AbstractValue
) -> AbstractValue:
    refuse_unfitted(operation, estimator, known, "transform")
    if known.name in _OF_LABELS:
        _refuse_table(operation, known, x)
        if known.name != "LabelEncoder":
            return AbstractValue()
        _refuse_unseen_label(operation, estimator, x)
        shape = data.shape_as_array(x) or ()
        return array(shape, operation.result_words) if len(shape) == 1 else AbstractValue()
    ask(operation, estimator, known, "transform", x)
    refuse_unseen_category(operation, estimator, known, x)
    if known.name == "OrdinalEncoder" and gives_arrays(operation):
        return array((data.n_samples(x), data.n_features(x)), operation.result_words)
    return as_many_rows(operation, x)


def _refuse_unseen_label(operation: Operation, estimator: AbstractValue, x: AbstractValue) -> None:
    classes, given = classes_fitted(estimator), target_of(x).classes
    if classes is None or given is None or not are_plain(classes):
        return
    unseen = [value for value in sorted(given, key=str) if value not in classes]
    if unseen and _are_alike([*given, *classes]):
        operation.crash(
            "ValueError",
            f"LabelEncoder has not seen {unseen[0]!r}",
            fact=f"it was fitted on {', '.join(map(repr, classes[:10]))}",
            remedy="fit it on all labels that occur",
        )


def _are_alike(values: Sequence[Any]) -> bool:
    """All texts, or all numbers: then the comparison is the library's own."""
    return len({isinstance(value, str) for value in values}) == 1


def _unseen(given: Sequence[Any], seen: Any) -> list[Any]:
    """Values that are not among those seen; none where a limit may have cut one, or texts meet numbers."""
    if not isinstance(seen, list) or not are_plain([*seen, *given]) or not _are_alike([*seen, *given]):
        return []
    return [value for value in given if value not in seen]


def refuse_unseen_category(operation: Operation, estimator: AbstractValue, known: KnownClass, x: AbstractValue) -> None:
    """Raise where a column holds a category that a fitted encoder has not seen, and it was told to refuse those."""
    if is_fitted(estimator) is not True or value_of(estimator, "handle_unknown") != "error":
        return
    categories, columns = estimator.fact("categories_"), data.columns_of(x)
    if not isinstance(categories, list) or columns is None or len(categories) != len(columns):
        return
    for label, seen in zip(columns, categories, strict=True):
        if unseen := _unseen(data.per_column(x).get(label, {}).get("unique_values") or [], seen):
            operation.crash(
                "ValueError",
                f"{known.name} has not seen {unseen[0]!r} in column {label!r}",
                fact=f"it was fitted on {', '.join(map(repr, seen[:10]))}",
                remedy="set handle_unknown='ignore', or fit it on all categories",
            )
