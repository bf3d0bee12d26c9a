"""Frames made of others: constructors, merge, join, concat, pivot, melt; keys that the frames do not have."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from crane_core.detectors.rules.abstract_value import NOT_KNOWN, AbstractValue, all_known
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
    dtype_of_column,
    frame,
    is_frame,
    is_numeric,
    is_pandas,
    is_series,
    is_text,
    label_set,
    labels_in,
    labels_of,
    lacks,
    lacks_key,
    may_be_values,
    n_rows,
    need_columns,
    range_index,
    series,
    told_columns,
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


@RULES.function("pandas.merge")
def merge_function(operation: Operation) -> Answer:
    given = operation.arguments.bound(f"left, right, {_MERGE}")
    return _merged(operation, given) if given is not None else AbstractValue(FRAME)


_MERGE: Final = (
    "how='inner', on=None, left_on=None, right_on=None, left_index=False, right_index=False, sort=False,"
    " suffixes=('_x', '_y'), copy=None, indicator=False, validate=None"
)


@RULES.method(FRAME, "merge")
def merge_method(operation: Operation) -> Answer:
    given = operation.arguments.bound(f"right, {_MERGE}")
    if given is None:
        return AbstractValue(FRAME)
    return _merged(operation, {"left": operation.receiver, **given})


def _merged(operation: Operation, given: dict[str, AbstractValue]) -> AbstractValue:
    left, right = given["left"], given["right"]
    if not is_frame(left) or not is_frame(right):
        return AbstractValue(FRAME) if is_frame(left) else AbstractValue()
    for name, side in (("on", left), ("on", right), ("left_on", left), ("right_on", right)):
        need_columns(operation, side, given.get(name), lacks_key)
    _share_a_column(operation, given, left, right)
    if not {"left_on", "right_on"} & given.keys():
        _keys_have_one_kind(operation, left, right, whole_labels(given.get("on")) or [])
    return _merged_columns(given, left, right)


def _share_a_column(
    operation: Operation, given: dict[str, AbstractValue], left: AbstractValue, right: AbstractValue
) -> None:
    """Without keys the columns of both frames are the keys."""
    plain = not {"left_on", "right_on", "left_index", "right_index", "how"} & given.keys() and is_none(given.get("on"))
    one, other = label_set(left), label_set(right)
    if plain and one is not None and other is not None and not one & other:
        operation.crash(
            "MergeError",
            "No common columns to perform merge on",
            fact=f"{told_columns(left)}; {told_columns(right)}",
            remedy="name the key columns: left_on=..., right_on=...",
        )


def _keys_have_one_kind(operation: Operation, left: AbstractValue, right: AbstractValue, keys: list[Any]) -> None:
    """Texts cannot be matched with numbers."""
    for key in keys:
        dtypes = dtype_of_column(left, key), dtype_of_column(right, key)
        for text, number in (dtypes, dtypes[::-1]):
            if is_text(text) and is_numeric(number) and text == "str" and n_rows(left) and n_rows(right):
                operation.crash(
                    "ValueError",
                    f"the key {key!r} is a string on one side and a number on the other",
                    fact=f"the dtypes are {dtypes[0]} and {dtypes[1]}",
                    remedy="convert both to the same dtype: .astype(str), or pandas.to_numeric",
                )


def _merged_columns(given: dict[str, AbstractValue], left: AbstractValue, right: AbstractValue) -> AbstractValue:
    """The columns of a merge on columns of the same names; suffixes where others are in both."""
    one, other = labels_of(left), labels_of(right)
    if set(given) - {"left", "right", "on", "how"} or one is None or other is None:
        return AbstractValue(FRAME)
    both = [label for label in one if label in other]
    keys = whole_labels(given["on"]) if "on" in given else both
    has_usual_rows = literal_of(given.get("how"), "inner") in ("inner", "left", "right", "outer")
    if not keys or not has_usual_rows or not set(keys) <= set(both):
        return AbstractValue(FRAME)
    double = set(both) - set(keys)
    return frame([*_suffixed(one, "_x", double), *_suffixed(other, "_y", double, without=keys)])


def _suffixed(labels: Iterable[Any], suffix: str, double: set[Any], without: Sequence[Any] = ()) -> list[Any]:
    return [f"{label}{suffix}" if label in double else label for label in labels if label not in without]


@RULES.method(FRAME, "join")
def join(operation: Operation) -> Answer:
    given = operation.arguments.bound("other, on=None, how='left', lsuffix='', rsuffix='', sort=False, validate=None")
    old = operation.receiver
    if given is None or not is_frame(given["other"]):
        return AbstractValue(FRAME)
    need_columns(operation, old, given.get("on"), lacks_key)
    one, other = label_set(old), label_set(given["other"])
    if one is None or other is None or {"lsuffix", "rsuffix"} & given.keys():
        return AbstractValue(FRAME)
    if both := sorted(one & other, key=str):
        operation.crash(
            "ValueError",
            f"columns overlap but no suffix specified: {both[0]!r}",
            fact=f"{told_columns(old, both[0])}; {told_columns(given['other'], both[0])}",
            remedy="pass lsuffix= or rsuffix=, or merge on the column",
        )
    order, new = labels_of(old), labels_of(given["other"])
    return frame([*order, *new]) if order is not None and new is not None else AbstractValue(FRAME)


@RULES.function("pandas.concat")
def concat(operation: Operation) -> Answer:
    given = operation.arguments.bound(
        "objs, *, axis=0, join='outer', ignore_index=False, keys=None, levels=None, names=None,"
        " verify_integrity=False, sort=False, copy=None"
    )
    objs = operation.first if given is None else given["objs"]
    if is_frame(objs) or is_series(objs):
        _no_list(operation, objs)
    if given is None:
        return UNCHANGED
    if objs.items is not None and not objs.items:
        operation.crash(
            "ValueError",
            "No objects to concatenate",
            fact=f"{objs.named('the list')} is empty",
            remedy="check first that the list is not empty",
        )
    _are_pandas(operation, objs.items or [])
    return _concatenated(given, objs.items or [])


def _no_list(operation: Operation, given: AbstractValue) -> None:
    operation.crash(
        "TypeError",
        "first argument must be an iterable of pandas objects",
        fact=f"{given.named('the first argument')} is a {given.class_name}",
        remedy="put them in brackets: pandas.concat([a, b])",
    )


def _are_pandas(operation: Operation, items: list[AbstractValue]) -> None:
    for item in items:
        if item.type in ("list", "tuple", "dict", "int", "float", "str") or is_array(item):
            operation.crash(
                "TypeError",
                f"cannot concatenate object of type '{item.class_name}'; only Series and DataFrame objs are valid",
                fact=f"{item.named('an item of the list')} is a {item.class_name}",
                remedy="make a frame of it first: pandas.DataFrame(...)",
            )


def _concatenated(given: dict[str, AbstractValue], items: list[AbstractValue]) -> AbstractValue:
    if not items or not all(map(is_frame, items)):
        return AbstractValue()
    axis = literal_of(given.get("axis"), 0)
    known = all_known(map(labels_of, items))
    if known is None or axis is NOT_KNOWN or {"keys", "levels", "names", "join"} & given.keys():
        return AbstractValue(FRAME)
    if axis not in (1, "columns"):
        return _stacked(given, items, known)
    return AbstractValue(FRAME) if "ignore_index" in given else frame([label for order in known for label in order])


def _stacked(
    given: dict[str, AbstractValue], items: list[AbstractValue], known: list[tuple[Any, ...]]
) -> AbstractValue:
    """Frames one below the other, with their labels in order."""
    labels = list(dict.fromkeys(label for order in known for label in order))
    rows = all_known(map(n_rows, items))
    total = None if rows is None else sum(rows)
    is_counted = len(known) > 1 and literal_of(given.get("ignore_index")) is True
    made = frame(labels, total, dtypes=_common_dtypes(items, labels))
    return _counted(made, total, None) if is_counted else made


def _common_dtypes(items: list[AbstractValue], labels: list[Any]) -> dict[Any, str]:
    """The dtypes of columns that have the same one in every frame."""
    same = {label: {dtype_of_column(item, label) for item in items} for label in labels}
    found = {label: dtypes.pop() for label, dtypes in same.items() if len(dtypes) == 1}
    return {label: dtype for label, dtype in found.items() if dtype is not None}


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


@RULES.method(FRAME, "pivot_table")
def pivot_table(operation: Operation) -> Answer:
    given = operation.arguments.bound(
        "values=None, index=None, columns=None, aggfunc='mean', fill_value=None, margins=False, dropna=True,"
        " margins_name='All', observed=True, sort=True, **kwargs"
    )
    old = operation.receiver
    if given is None:
        return AbstractValue(FRAME)
    are_values = may_be_values(old, *(given[name] for name in ("index", "columns") if name in given))
    for name in ("values",) if are_values else ("values", "index", "columns"):
        need_columns(operation, old, given.get(name), lacks if name == "values" else lacks_key)
    return AbstractValue(FRAME)


@RULES.function("pandas.pivot_table")
def pivot_table_function(operation: Operation) -> Answer:
    return AbstractValue(FRAME) if is_frame(operation.first) else UNCHANGED


@RULES.method(FRAME, "melt")
def melt(operation: Operation) -> Answer:
    given = operation.arguments.bound(
        "id_vars=None, value_vars=None, var_name=None, value_name='value', col_level=None, ignore_index=True"
    )
    old = operation.receiver
    if given is None or "col_level" in given:
        return AbstractValue(FRAME)
    for name in ("id_vars", "value_vars"):
        need_columns(operation, old, given.get(name))
    kept = given.get("id_vars", AbstractValue("list", items=()))
    names = literal_of(given.get("var_name"), "variable"), literal_of(given.get("value_name"), "value")
    labels = whole_labels(kept)
    if labels is None or not all(isinstance(name, str) for name in names):
        return AbstractValue(FRAME)
    return frame([*labels, *names], index_names=None if "ignore_index" in given else ())


@RULES.function("pandas.get_dummies")
def get_dummies(operation: Operation) -> Answer:
    given = operation.arguments.bound(
        "data, prefix=None, prefix_sep='_', dummy_na=False, columns=None, sparse=False, drop_first=False, dtype=None"
    )
    if given is None or not is_frame(given["data"]):
        return AbstractValue(FRAME)
    need_columns(operation, given["data"], given.get("columns"))
    return AbstractValue(FRAME, {"shape": (n_rows(given["data"]), None)})


@RULES.method(FRAME, "nlargest", "nsmallest", "explode", "value_counts")
def by_column(operation: Operation) -> Answer:
    old = operation.receiver
    parameters = {"explode": "column, ignore_index=False", "value_counts": "subset=None, **rest"}
    given = operation.arguments.bound(parameters.get(operation.name, "n, columns, keep='first'"))
    found = given or {}
    wanted = next((found[name] for name in ("columns", "column", "subset") if name in found), None)
    need_columns(operation, old, wanted)
    return AbstractValue(FRAME) if operation.name != "value_counts" else AbstractValue(SERIES)


@RULES.function("pandas.read_csv", "pandas.read_excel", "pandas.read_table", "pandas.read_parquet")
def read(operation: Operation) -> Answer:
    keywords = operation.arguments.keywords
    if {"chunksize", "iterator", "sheet_name", "squeeze"} & keywords.keys() or not operation.arguments.is_complete:
        return UNCHANGED
    return AbstractValue(FRAME)


@RULES.function("pandas.crosstab")
def crosstab(operation: Operation) -> Answer:
    return AbstractValue(FRAME)
