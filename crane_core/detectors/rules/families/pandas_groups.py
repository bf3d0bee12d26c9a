"""Groups of rows: keys and columns that the frame does not have, aggregations of texts, columns of the result."""

from __future__ import annotations

from typing import Any, Final

from crane_core.detectors.rules.abstract_value import AbstractValue, known_facts
from crane_core.detectors.rules.answer import UNCHANGED, UNKNOWN, Answer
from crane_core.detectors.rules.families.numpy_arrays import literal_of
from crane_core.detectors.rules.families.pandas_frames import (
    FRAME,
    at_most,
    column,
    dtype_of_column,
    frame,
    is_frame,
    is_numeric,
    is_pandas,
    label_set,
    labels_of,
    lacking,
    lacks_key,
    may_be_values,
    n_rows,
    need_column,
    need_columns,
    series,
    whole_labels,
)
from crane_core.detectors.rules.families.pandas_values import bad_text
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation

RULES = Family("pandas: groups")
GROUPED: Final = "pandas.DataFrameGroupBy"
ONE: Final = "pandas.SeriesGroupBy"
_FLOATS: Final = ("mean", "median", "std", "var", "sem")
_AGGREGATIONS: Final = (*_FLOATS, "sum", "min", "max", "first", "last", "prod", "count", "nunique")


@RULES.method(FRAME, "groupby")
def groupby(operation: Operation) -> Answer:
    given = operation.arguments.bound(
        "by=None, axis=0, level=None, as_index=True, sort=True, group_keys=True, observed=True, dropna=True"
    )
    old = operation.receiver
    if given is None or "axis" in given:
        return UNCHANGED
    by = given.get("by", AbstractValue())
    if by.type != "list" or not may_be_values(old, by):
        need_columns(operation, old, by, lacks_key)
    elif label_set(old) is not None and lacking(old, by, lacks_key):
        return AbstractValue(GROUPED)
    keys = whole_labels(by) if "level" not in given and by.type != "tuple" else None
    as_index = literal_of(given.get("as_index"), True)
    name = f"the groups of {old.words}" if old.words else "the groups"
    return AbstractValue(GROUPED, known_facts(frame=old, keys=keys, as_index=as_index), words=name)


def _frame_of(groups: AbstractValue | None) -> AbstractValue:
    held = groups.fact("frame") if groups is not None else None
    return held if isinstance(held, AbstractValue) else AbstractValue()


@RULES.item(GROUPED)
def select(operation: Operation) -> Answer:
    groups, asked = operation.receiver, operation.first
    old = _frame_of(groups)
    if groups.fact("chosen") is not None:
        return UNCHANGED
    if asked.type in ("str", "int", "list"):
        need_columns(operation, old, asked)
    if asked.type == "tuple":
        _is_of_one(operation, asked)
    if asked.type == "list":
        labels = whole_labels(asked)
        facts = dict(groups.facts, chosen=() if labels is None else labels)
        return AbstractValue(GROUPED, facts, words=groups.words)
    if asked.type == "str" and asked.is_literal:
        return AbstractValue(ONE, dict(groups.facts, column=asked.literal), words=groups.words)
    return UNCHANGED


def _is_of_one(operation: Operation, asked: AbstractValue) -> None:
    """Before pandas 2.0 a tuple was taken for a list."""
    if is_pandas(operation, 2, 0) and len(asked.items or ()) > 1:
        operation.crash(
            "ValueError",
            "Cannot subset columns with a tuple with more than one element; use a list instead",
            fact=f"the index is the tuple {asked.literal!r}" if asked.is_literal else "the index is a tuple",
            remedy="use double brackets: [[...]]",
        )


@RULES.attribute(GROUPED)
def as_attribute(operation: Operation) -> Answer:
    groups = operation.receiver
    labels = labels_of(_frame_of(groups))
    if (
        labels is None
        or operation.name not in labels
        or operation.name in (*_AGGREGATIONS, "size", "apply", "agg", "groups")
    ):
        return UNKNOWN
    return AbstractValue(ONE, dict(groups.facts, column=operation.name), words=groups.words)


def _result_columns(groups: AbstractValue) -> list[Any] | None:
    """The columns that are aggregated: all but the keys."""
    old, keys, chosen = _frame_of(groups), groups.fact("keys"), groups.fact("chosen")
    if chosen is not None:
        return list(chosen) or None
    order = labels_of(old)
    return [label for label in order if label not in keys] if order is not None and keys is not None else None


@RULES.method(GROUPED, *_AGGREGATIONS)
def aggregate(operation: Operation) -> Answer:
    groups = operation.receiver
    old, keys = _frame_of(groups), groups.fact("keys")
    labels, as_index = _result_columns(groups), groups.fact("as_index")
    is_plain = not operation.arguments.keywords and not operation.arguments.positional
    is_strict = is_plain and is_pandas(operation, 2, 0)  # before, columns that cannot be aggregated were left out
    for label in labels or () if is_strict else ():
        _is_no_text(operation, column(old, label), label)
    if labels is None or keys is None or as_index not in (True, False):
        return AbstractValue(FRAME)
    return (
        _of_labels(operation, groups, labels) if is_strict else at_most(labels if as_index and not is_plain else None)
    )


def _of_labels(operation: Operation, groups: AbstractValue, labels: list[Any]) -> AbstractValue:
    """A frame with the columns that were aggregated; the keys are its index, or its first columns."""
    old, keys, as_index = _frame_of(groups), groups.fact("keys"), groups.fact("as_index")
    numeric = [label for label in labels if operation.name in _FLOATS and is_numeric(dtype_of_column(old, label))]
    made = frame(labels if as_index else [*keys, *labels], None, dtypes=dict.fromkeys(numeric, "float64"))
    made.facts["index_names"] = tuple(keys) if as_index else ()
    return made


def _is_no_text(operation: Operation, one: AbstractValue, label: Any) -> None:
    """Texts have no mean."""
    if operation.name not in ("mean", "median", "std", "var") or not n_rows(one):
        return
    dtype = one.fact("dtype")
    is_bad = dtype == "str" or (dtype == "object" and bad_text(one) is not None and one.item_types == {"str"})
    if is_bad and one.fact("has_nan") is False:
        operation.crash(
            "TypeError",
            f"the column {label!r} holds strings, which do not support {operation.name}",
            fact=f"{one.words} has dtype {dtype}",
            remedy="select the numeric columns: .groupby(...)[[...]], or pass numeric_only=True",
        )


@RULES.method(ONE, *_AGGREGATIONS)
def aggregate_one(operation: Operation) -> Answer:
    groups = operation.receiver
    old, label = _frame_of(groups), groups.fact("column")
    if not is_frame(old) or label is None:
        return UNCHANGED
    one = column(old, label)
    if is_pandas(operation, 2, 0) and not operation.arguments.keywords:
        _is_no_text(operation, one, label)
    keys, as_index = groups.fact("keys"), groups.fact("as_index")
    dtype = "float64" if operation.name in _FLOATS and is_numeric(one.fact("dtype")) else None
    if keys is None:
        return series(None, dtype, label)
    if as_index is False:
        return frame([*keys, label], None, dtypes={label: dtype} if dtype else None)
    return series(None, dtype, label, index_names=tuple(keys))


@RULES.method(GROUPED, "agg", "aggregate")
def agg(operation: Operation) -> Answer:
    groups, given = operation.receiver, operation.arguments
    old = _frame_of(groups)
    asked = given.positional[0] if given.positional else given.keywords.get("func")
    if asked is not None:
        _need_keys(operation, old, asked)
        return _aggregated_by(groups, asked)
    for made in given.keywords.values():
        source = made.items[0].literal if made.type == "tuple" and made.items else None
        if isinstance(source, str):
            need_column(operation, old, source)
    return _aggregated(groups, list(given.keywords)) if given.keywords and given.is_complete else AbstractValue(FRAME)


def _aggregated_by(groups: AbstractValue, asked: AbstractValue) -> AbstractValue:
    """By one function for each column; several of them give columns of two levels."""
    members = asked.members if asked.type == "dict" else None
    if members is None or any(part.type != "str" for part in members.values()):
        return AbstractValue(FRAME)
    return _aggregated(groups, list(members))


def _need_keys(operation: Operation, old: AbstractValue, asked: AbstractValue) -> None:
    """Columns that are named by the keys of a dict."""
    for label in (asked.members or ()) if asked.type == "dict" else ():
        need_column(operation, old, label)


def _aggregated(groups: AbstractValue, labels: list[Any]) -> AbstractValue:
    """A frame with these columns, and the keys as its index."""
    keys = groups.fact("keys")
    if keys is None or groups.fact("as_index") is not True:
        return AbstractValue(FRAME)
    made = frame(labels)
    made.facts["index_names"] = tuple(keys)
    return made


def _one_group(groups: AbstractValue) -> AbstractValue:
    """The rows of a group; with or without the keys, as the version has it."""
    old = _frame_of(groups)
    labels = label_set(old)
    return at_most(labels) if groups.fact("chosen") is None else AbstractValue(FRAME)


def _has_groups(groups: AbstractValue) -> bool:
    """Whether there certainly is a group: rows, and keys that are not all missing."""
    old, keys = _frame_of(groups), groups.fact("keys")
    return bool(n_rows(old)) and bool(keys) and all(column(old, key).fact("has_nan") is False for key in keys)


@RULES.element(GROUPED)
def one_of_groups(operation: Operation) -> Answer:
    groups = operation.receiver
    return AbstractValue("tuple", items=[AbstractValue(), _one_group(groups)]) if _has_groups(groups) else UNKNOWN


@RULES.method(GROUPED, "apply", "filter")
def applied(operation: Operation) -> Answer:
    groups, given = operation.receiver, operation.arguments
    if not given.is_complete or len(given.positional) != 1 or operation.first.type != "function":
        return UNKNOWN
    if set(given.keywords) - {"include_groups"} or not _has_groups(groups):
        return UNKNOWN
    operation.call(operation.first, [_one_group(groups)], {})
    return UNCHANGED
