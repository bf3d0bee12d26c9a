"""Targets and predictions: what `type_of_target` says of them, their classes, as far as that is certain."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.families import sklearn_data as data
from crane_core.detectors.rules.families.numpy_arrays import is_array
from crane_core.detectors.rules.families.pandas_frames import is_frame, is_series

_NO_FLOATS = ("int", "uint", "bool")


@dataclass(frozen=True, slots=True)
class Target:
    """`kind` is a word of `type_of_target`, "" where it is not certain. `classes` are exactly the values that occur.

    `classes_if_whole` are so unless there are missing values among them, which most steps refuse.
    """

    kind: str = ""
    classes: frozenset[Any] | None = None
    has_nan: bool = False
    has_inf: bool = False
    has_numbers: bool = False
    text: str | None = None
    example: str = ""
    n_columns: int | None = None
    n_samples: int | None = None
    classes_if_whole: frozenset[Any] | None = None


def target_of(value: AbstractValue) -> Target:
    shape = data.shape_as_array(value)
    if is_frame(value):
        return _of_frame(value)
    if shape is None or not (is_series(value) or is_array(value) or value.type in ("list", "tuple", "")):
        return Target(n_samples=data.n_samples(value))
    n_columns = (*shape, 1)[1] if len(shape) in (1, 2) else None
    facts = data.values_of(value)
    dtype = str(value.fact("dtype", ""))
    values = _values(value, facts) if n_columns == 1 else None
    flaws = {flaw.name for flaw in data.flaws(value)}
    fraction = _fraction(values, facts, dtype)
    text = data.no_number(facts, dtype) if value.type not in ("list", "tuple") else _text(values)
    kind = _kind(values, facts, fraction, text, n_columns)
    return Target(
        kind,
        values if kind in ("binary", "multiclass") else None,
        bool(flaws & {"nan", "nan?"}),
        "inf" in flaws,
        dtype.startswith(("float", *_NO_FLOATS)),
        text,
        "" if fraction in (None, True) else f", {fraction} among them",
        n_columns,
        shape[0],
        _values(value, {"has_nan": False, **facts}) if n_columns == 1 else None,
    )


def _of_frame(value: AbstractValue) -> Target:
    n_columns = data.n_features(value)
    flaws = {flaw.name for flaw in data.flaws(value)}
    columns = data.per_column(value)
    dtypes = data.dtypes_of(value)
    fractions = {_fraction(None, facts, str(dtypes.get(label, ""))) for label, facts in columns.items()} - {None}
    is_whole = len(dtypes) == n_columns and all(
        str(each).startswith(("float", *_NO_FLOATS)) for each in dtypes.values()
    )
    kind = ""
    if fractions and is_whole and not flaws & {"nan", "nan?", "inf"}:
        kind = "continuous" if n_columns == 1 else "continuous-multioutput"
    return Target(
        kind,
        None,
        bool(flaws & {"nan", "nan?"}),
        "inf" in flaws,
        is_whole,
        n_columns=n_columns,
        n_samples=data.n_samples(value),
    )


def _kind(
    values: frozenset[Any] | None,
    facts: Mapping[str, Any],
    fraction: float | None,
    text: str | None,
    n_columns: int | None,
) -> str:
    if n_columns != 1:
        return "continuous-multioutput" if fraction is not None and (n_columns or 0) > 1 else ""
    if fraction is not None:
        return "continuous"
    if values is None:
        return _kind_by_count(facts, str(facts.get("dtype", "")), text)
    if any(value != value for value in values):
        return ""
    return "binary" if len(values) <= 2 else "multiclass"


def _kind_by_count(facts: Mapping[str, Any], dtype: str, text: str | None) -> str:
    n_unique = facts.get("num_unique", facts.get("num_unique_at_least"))
    is_whole = dtype.startswith(_NO_FLOATS) or text is not None and facts.get("has_nan") is False
    return "multiclass" if isinstance(n_unique, int) and n_unique > 2 and is_whole else ""


def _values(abstract: AbstractValue, facts: Mapping[str, Any]) -> frozenset[Any] | None:
    """All values, where they are all known."""
    if abstract.type in ("list", "tuple"):
        found = abstract.literal
    else:
        may_be_missing = facts.get("has_nan") is not False and not _has_plain_items(facts)
        found = None if may_be_missing else data.all_values(facts)
    return frozenset(found) if isinstance(found, Sequence) and all(map(_is_whole_value, found)) else None


def _is_whole_value(value: Any) -> bool:
    """A number or a string that no limit has cut."""
    if isinstance(value, str):
        return "\u2026" not in value and len(value) <= 100
    return isinstance(value, (int, float))


def _has_plain_items(facts: Mapping[str, Any]) -> bool:
    """Whether none of the objects in an array can be a missing value."""
    types = facts.get("item_types")
    return isinstance(types, Mapping) and bool(types) and set(types) <= {"str", "int", "bool"}


def _fraction(values: frozenset[Any] | None, facts: Mapping[str, Any], dtype: str) -> float | None:
    """A fraction that is certainly among the values."""
    if dtype and not dtype.lower().startswith("float"):
        return None
    known = list(values or ())
    for name in ("unique_values", "items", "value_range"):
        known += row if isinstance(row := facts.get(name), (list, tuple)) else ()
    found = next(filter(_has_decimals, known), None)
    return facts.get("fraction", True) if found is None and facts.get("n_fractions") else found


def _has_decimals(value: Any) -> bool:
    return isinstance(value, float) and math.isfinite(value) and value != int(value)


def _text(values: frozenset[Any] | None) -> str | None:
    return next((value for value in sorted(values or (), key=str) if isinstance(value, str)), None)
