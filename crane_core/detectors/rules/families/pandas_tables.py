"""Frames made of others: constructors, merge, join, concat, pivot, melt; keys that the frames do not have."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.answer import UNCHANGED, UNKNOWN, Answer
from crane_core.detectors.rules.families.numpy_arrays import (
    describe,
    is_array,
    is_none,
    is_number,
    kind_of,
    literal_of,
    taken_shape,
)
from crane_core.detectors.rules.families.pandas_frames import (
    FRAME,
    SERIES,
    frame,
    is_frame,
    is_numeric,
    is_pandas,
    is_series,
    labels_in,
    n_rows,
    need_columns,
    range_index,
    series,
    whole_labels,
)
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation
from crane_core.detectors.rules.shapes import Length, Shape, differ, only_length

RULES = Family("pandas: tables")
_ONE_LENGTH: Final = "give all columns the same number of values"


@RULES.function("pandas.DataFrame")
def new_frame(operation: Operation) -> Answer:
    given = operation.arguments.bound("data=None, index=None, columns=None, dtype=None, copy=None")
    if given is None:
        return AbstractValue(FRAME)
    data, columns, index = given.get("data"), given.get("columns"), given.get("index")
    if {given[name].type for name in given.keys() & {"columns", "index"}} & {"int", "float", "bool", "str"}:
        return UNKNOWN  # no labels: pandas refuses it
    if data is None:
        return _of_labels(columns, index)
    if data.type == "dict":
        return _of_dict(operation, data, columns, index)
    if is_array(data) or data.type == "list":
        return _of_rows(operation, data, columns, index)
    is_copy = is_frame(data) and columns is index is None
    return AbstractValue(FRAME, data.facts if is_copy else None)


def _of_labels(columns: AbstractValue | None, index: AbstractValue | None) -> AbstractValue:
    """A frame of nothing but labels."""
    labels = [] if columns is None else whole_labels(columns)
    return AbstractValue(FRAME) if labels is None else frame(labels, _length(index))


def _length(value: AbstractValue | None) -> int | None:
    if value is not None and value.is_a("pandas", *_INDEXES):
        length = value.fact("length")
        return length if type(length) is int else None
    return only_length(taken_shape(value)) if value is not None else None


def _of_dict(
    operation: Operation, data: AbstractValue, columns: AbstractValue | None, index: AbstractValue | None
) -> AbstractValue:
    if not data.members:
        return AbstractValue(FRAME)
    if columns is not None:
        labels = whole_labels(columns)
        return AbstractValue(FRAME) if labels is None else frame(labels)
    lengths = {key: _length(value) for key, value in data.members.items() if _is_line(value)}
    known = {length for length in lengths.values() if length is not None}
    _meet_lines(operation, lengths, known)
    _meet_index(operation, data, known, index)
    if index is None:
        _meet_series(operation, data.members, known)
    rows = next(iter(known), None) if len(lengths) == len(data.members) else None
    return _counted(frame(data.members, rows, dtypes=_dtypes(data.members)), rows, index)


def _counted(made: AbstractValue, rows: int | None, index: AbstractValue | None) -> AbstractValue:
    """With the index that counts the rows, where none was given."""
    if rows is not None and index is None:
        made.facts["index"] = range_index(rows)
    return made


def _meet_lines(operation: Operation, lengths: Mapping[Any, int | None], known: set[int]) -> None:
    """Lists and arrays are as long as each other."""
    if len(known) > 1:
        parts = [f"{key!r}: {length}" for key, length in lengths.items()]
        operation.crash(
            "ValueError", "All arrays must be of the same length", fact=", ".join(parts[:8]), remedy=_ONE_LENGTH
        )


def _meet_index(operation: Operation, data: AbstractValue, known: set[int], index: AbstractValue | None) -> None:
    """Single values need an index, and lists and arrays are as long as it."""
    given = _length(index)
    if is_none(index) and all(is_number(value) or value.type == "str" for value in (data.members or {}).values()):
        operation.crash(
            "ValueError",
            "If using all scalar values, you must pass an index",
            fact=f"{data.named('the dict')} holds only scalar values",
            remedy="put each value in a list, or pass index=[0]",
        )
    if given is not None and known and given not in known:
        operation.crash(
            "ValueError",
            f"{next(iter(known))} values are given for an index of length {given}",
            fact=f"the index has {given} labels",
            remedy=_ONE_LENGTH,
        )


def _meet_series(operation: Operation, members: Mapping[Any, AbstractValue], known: set[int]) -> None:
    """Beside series with one index, lists and arrays are as long as that index; a series alone brings it."""
    held = [value for value in members.values() if is_series(value)]
    indexes = {json.dumps(value.fact("index"), sort_keys=True, default=str) for value in held}
    is_one = len(held) == 1 or len(indexes) == 1 and "range" in indexes.pop()
    if not is_one or len(known) != 1 or not _are_plain(members):
        return
    if (length := n_rows(held[0])) is not None and length not in known:
        operation.crash(
            "ValueError",
            f"{next(iter(known))} values are given for a Series of length {length}",
            fact=f"{held[0].named('the series')} has {length} values",
            remedy="give all columns the same number of values: predict for the same rows",
        )


def _are_plain(members: Mapping[Any, AbstractValue]) -> bool:
    """Whether every other member is a single value, which stands in every row."""
    return all(
        is_series(value) or _is_line(value) or is_number(value) or value.type in ("str", "bool", "NoneType")
        for value in members.values()
    )


def _is_line(value: AbstractValue) -> bool:
    """A list, tuple, range, index or array: no series, which is aligned by its index."""
    return value.type in ("list", "tuple", "range") or is_array(value) or value.is_a("pandas", *_INDEXES)


_INDEXES: Final = ("Index", "RangeIndex", "DatetimeIndex")


def _dtypes(members: Mapping[Any, AbstractValue]) -> dict[Any, str]:
    found: dict[Any, str] = {}
    for key, value in members.items():
        dtype = value.fact("dtype")
        if is_array(value) and kind_of(dtype) in ("i", "u", "f", "b"):
            found[key] = dtype
        elif value.items and {item.type for item in value.items} <= {"int"}:
            found[key] = "int64"
        elif value.items and {item.type for item in value.items} <= {"int", "float"}:
            found[key] = "float64"
    return found


def _of_rows(
    operation: Operation, data: AbstractValue, columns: AbstractValue | None, index: AbstractValue | None
) -> AbstractValue:
    shape = taken_shape(data)
    labels = whole_labels(columns)
    if shape is None:
        return frame(labels, None) if labels is not None and not _holds_dicts(data) else AbstractValue(FRAME)
    width = (*shape, 1)[1] if len(shape) in (1, 2) else None
    _meet_labels(operation, data, shape, width, labels)
    _meet_row_labels(operation, data, shape, index)
    names = list(range(width)) if width is not None and columns is None else labels
    dtype = data.fact("dtype") if is_array(data) else None
    dtypes = dict.fromkeys(names or (), str(dtype)) if is_numeric(dtype) else None
    return _counted(frame(names, shape[0], dtypes=dtypes), shape[0], index)


def _meet_labels(
    operation: Operation, data: AbstractValue, shape: Shape, width: Length, labels: list[Any] | None
) -> None:
    """The data have two dimensions, and a column for each label."""
    if len(shape) > 2 and is_array(data):
        operation.crash(
            "ValueError",
            "Must pass 2-d input",
            fact=describe(data),
            remedy="reshape it to rows and columns: x.reshape(len(x), -1)",
        )
    if labels is not None and differ(len(labels), width) and shape[0]:
        operation.crash(
            "ValueError",
            f"{len(labels)} columns passed, passed data had {width} columns",
            fact=describe(data, "the data"),
            remedy="pass one label per column",
        )


def _meet_row_labels(operation: Operation, data: AbstractValue, shape: Shape, index: AbstractValue | None) -> None:
    """The data have a row for each label; a single row may stand for all."""
    given = _length(index)
    if given is not None and shape[0] not in (None, 1, given):
        operation.crash(
            "ValueError",
            f"{shape[0]} rows are given for an index of length {given}",
            fact=describe(data, "the data"),
            remedy="pass one label per row",
        )


def _holds_dicts(data: AbstractValue) -> bool:
    return data.items is None or any(item.type not in ("list", "tuple") for item in data.items)


@RULES.function("pandas.Series")
def new_series(operation: Operation) -> Answer:
    given = operation.arguments.bound("data, index=None, dtype=None, name=None, copy=None, fastpath=False")
    if given is None:
        return AbstractValue(SERIES)
    data, index = given["data"], given.get("index")
    shape, count = taken_shape(data) if _is_line(data) else None, _length(index)
    if is_array(data) and len(shape or ()) > 1:
        operation.crash("ValueError", "Data must be 1-dimensional", fact=describe(data), remedy="flatten it: x.ravel()")
    length = only_length(shape)
    if differ(length, count):
        operation.crash(
            "ValueError",
            f"Length of values ({length}) does not match length of index ({count})",
            fact=describe(data, "the data"),
            remedy="pass one label per value",
        )
    name = literal_of(given.get("name"))
    dtype = data.fact("dtype") if is_array(data) and "dtype" not in given else None
    return _counted(series(length, dtype, name if isinstance(name, str) else None), length, index)


# Merge and join


# Other shapes


@RULES.method(FRAME, "pivot")
def pivot(operation: Operation) -> Answer:
    given = operation.arguments.bound("*, columns=None, index=None, values=None")
    old = operation.receiver
    if given is None:
        if operation.arguments.positional and is_pandas(operation, 2, 0):
            operation.crash(
                "TypeError",
                "since pandas 2.0 it takes its arguments only by name",
                fact=f"pandas {operation.packages['pandas']} is installed",
                remedy="write index=, columns=, values=",
            )
        return AbstractValue(FRAME)
    for name in ("columns", "index", "values"):
        need_columns(operation, old, given.get(name))
    _are_unique(operation, old, given)
    return AbstractValue(FRAME)


def _are_unique(operation: Operation, old: AbstractValue, given: dict[str, AbstractValue]) -> None:
    """Each cell of the new table comes of one row."""
    if not {"index", "columns"} <= given.keys():
        return
    keys = [label for name in ("index", "columns") for label in labels_in(given[name]) or ()]
    for name, facts in old.mapping("duplicates").items():
        is_asked = isinstance(facts, Mapping) and sorted(name.split(", ")) == sorted(map(str, keys))
        if is_asked and type(count := facts.get("n_duplicates")) is int and count > 0:
            operation.crash(
                "ValueError",
                f"{count} rows repeat the {' and '.join(map(repr, keys))} of another row",
                fact=f"{old.named('the frame')} holds {facts.get('first')} more than once",
                remedy="use pivot_table(..., aggfunc=...), which aggregates duplicate rows",
            )


@RULES.function("pandas.read_csv", "pandas.read_excel", "pandas.read_table", "pandas.read_parquet")
def read(operation: Operation) -> Answer:
    keywords = operation.arguments.keywords
    if {"chunksize", "iterator", "sheet_name", "squeeze"} & keywords.keys() or not operation.arguments.is_complete:
        return UNCHANGED
    return AbstractValue(FRAME)
