"""Groups of rows: keys and columns that the frame does not have, aggregations of texts, columns of the result."""

from __future__ import annotations

from typing import Any, Final

from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.answer import UNCHANGED, UNKNOWN, Answer
from crane_core.detectors.rules.families.numpy_arrays import is_none
from crane_core.detectors.rules.families.pandas_frames import (
    FRAME,
    SERIES,
    at_most,
    column,
    dtype_of_column,
    frame,
    is_frame,
    is_numeric,
    is_pandas,
    is_whole_list_of_labels,
    label_set,
    labels_in,
    labels_of,
    lacks_key,
    may_be_values,
    missing_column,
    n_rows,
    need_column,
    need_columns,
    series,
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
    by = given.get("by")
    missing = [label for label in labels_in(by) or () if lacks_key(old, label)]
    are_values = by is not None and by.type == "list" and may_be_values(old, by)
    if missing and not are_values:
        missing_column(operation, old, missing[0])
    if are_values and label_set(old) is not None and missing:
        return AbstractValue(GROUPED)
    is_plain = "level" not in given and by is not None and is_whole_list_of_labels(by) and by.type != "tuple"
    as_index = given["as_index"].literal if "as_index" in given else True
    facts = {"frame": old, "keys": labels_in(by) if is_plain else None, "as_index": as_index}
    name = f"the groups of {old.words}" if old.words else "the groups"
    return AbstractValue(GROUPED, {key: fact for key, fact in facts.items() if fact is not None}, words=name)


def _frame_of(groups: AbstractValue | None) -> AbstractValue:
    held = groups.fact("frame") if groups is not None else None
    return held if isinstance(held, AbstractValue) else AbstractValue()


@RULES.item(GROUPED)
def select(operation: Operation) -> Answer:
    groups, asked = operation.receiver, operation.first
    old = _frame_of(groups)
    chosen = groups.fact("chosen")
    if chosen is not None:
        return UNCHANGED
    if asked.type in ("str", "int", "list"):
        need_columns(operation, old, asked)
    if asked.type == "tuple" and is_pandas(operation, 2, 0) and len(asked.items or ()) > 1:
        operation.crash(
            "ValueError",
            "Cannot subset columns with a tuple with more than one element; use a list instead",
            fact=f"the index is the tuple {asked.literal!r}" if asked.is_literal else "the index is a tuple",
            remedy="use double brackets: [[...]]",
        )
    if asked.type == "list":
        facts = dict(groups.facts, chosen=labels_in(asked) if is_whole_list_of_labels(asked) else ())
        return AbstractValue(GROUPED, facts, words=groups.words)
    if asked.type == "str" and asked.is_literal:
        return AbstractValue(ONE, dict(groups.facts, column=asked.literal), words=groups.words)
    return UNCHANGED


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
    labels = _result_columns(groups)
    given = operation.arguments
    is_plain = not given.keywords and not given.positional
    if is_plain and is_pandas(operation, 2, 0):
        for label in labels or ():
            _is_no_text(operation, column(old, label), label)
    as_index = groups.fact("as_index")
    if labels is not None and keys is not None and as_index is True and not is_plain:
        return at_most(labels)
    if labels is None or keys is None or as_index not in (True, False) or not (is_plain and is_pandas(operation, 2, 0)):
        return AbstractValue(FRAME)
    dtypes = {
        label: "float64" for label in labels if operation.name in _FLOATS and is_numeric(dtype_of_column(old, label))
    }
    made = frame(labels if as_index else [*keys, *labels], None, dtypes=dtypes)
    made.facts["index_names"] = tuple(keys) if as_index else ()
    return made


def _is_no_text(operation: Operation, one: AbstractValue, label: Any) -> None:
    """Texts have no mean."""
    if operation.name not in ("mean", "median", "std", "var") or not n_rows(one):
        return
    dtype = one.fact("dtype")
    is_bad = dtype == "str" or (dtype == "object" and bad_text(one) is not None and _is_all_text(one))
    if is_bad and one.fact("has_nan") is False:
        operation.crash(
            "TypeError",
            f"the column {label!r} holds strings, which do not support {operation.name}",
            fact=f"{one.words} has dtype {dtype}",
            remedy="select the numeric columns: .groupby(...)[[...]], or pass numeric_only=True",
        )


def _is_all_text(one: AbstractValue) -> bool:
    types = one.fact("item_types")
    return isinstance(types, dict) and set(types) == {"str"}


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
    if as_index is False and keys is not None:
        return frame([*keys, label], None, dtypes={label: dtype} if dtype else None)
    made = series(None, dtype, label)
    if keys is not None:
        made.facts["index_names"] = tuple(keys)
    return made


@RULES.method(GROUPED, "agg", "aggregate")
def agg(operation: Operation) -> Answer:
    groups, given = operation.receiver, operation.arguments
    old = _frame_of(groups)
    asked = given.positional[0] if given.positional else given.keywords.get("func")
    keys = groups.fact("keys")
    if asked is not None and asked.type == "dict":
        for label in asked.members or ():
            need_column(operation, old, label)
        return _agg_of_dict(groups, asked)
    for made in given.keywords.values() if asked is None else ():
        source = made.items[0].literal if made.type == "tuple" and made.items else None
        if isinstance(source, str):
            need_column(operation, old, source)
    is_named = asked is None and given.keywords and given.is_complete
    if is_named and keys is not None and groups.fact("as_index") is True:
        named = frame(list(given.keywords))
        named.facts["index_names"] = tuple(keys)
        return named
    return AbstractValue(FRAME)


def _agg_of_dict(groups: AbstractValue, asked: AbstractValue) -> AbstractValue:
    keys = groups.fact("keys")
    is_single = asked.members is not None and all(part.type == "str" for part in asked.members.values())
    if not is_single or keys is None or groups.fact("as_index") is not True:
        return AbstractValue(FRAME)
    made = frame(list(asked.members or ()))
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
    return AbstractValue("tuple", items=[AbstractValue(), _one_group(groups)]) if _has_groups(groups) else UNCHANGED


@RULES.method(GROUPED, "apply", "filter")
def applied(operation: Operation) -> Answer:
    groups, given = operation.receiver, operation.arguments
    if not given.is_complete or len(given.positional) != 1 or operation.first.type != "function":
        return UNKNOWN
    if set(given.keywords) - {"include_groups"} or not _has_groups(groups):
        return UNKNOWN
    operation.call(operation.first, [_one_group(groups)], {})
    return UNCHANGED


@RULES.method(GROUPED, "size", "ngroup", "cumcount")
@RULES.method(ONE, "size", "cumsum", "rank", "shift", "diff", "transform", "cumcount", "value_counts", "unique")
def one_line(operation: Operation) -> Answer:
    groups = operation.receiver
    if operation.name == "size" and groups.fact("as_index") is False:
        return AbstractValue(FRAME)
    made = series()
    if operation.name == "size" and groups.fact("keys") is not None:
        made.facts["index_names"] = tuple(groups.fact("keys"))
    return made


@RULES.method(FRAME, "agg", "aggregate")
def agg_of_frame(operation: Operation) -> Answer:
    asked = operation.first
    for label in (asked.members or ()) if asked.type == "dict" else ():
        need_column(operation, operation.receiver, label)
    return UNCHANGED


@RULES.method(SERIES, "reset_index")
def reset_index(operation: Operation) -> Answer:
    """The index becomes columns, the values a column by the name of the series."""
    old = operation.receiver
    given = operation.arguments.bound("level=None, *, drop=False, name=None, inplace=False, allow_duplicates=False")
    if given is None or {"level", "inplace", "allow_duplicates"} & given.keys():
        return UNKNOWN
    if "drop" in given:
        return series(n_rows(old)) if given["drop"].literal is True else UNCHANGED
    names = old.fact("index_names")
    name = old.fact("name") if is_none(given.get("name")) else given["name"].literal
    if not isinstance(names, tuple) or not names or None in names or not isinstance(name, str) or name in names:
        return AbstractValue(FRAME)
    return frame([*names, name])
