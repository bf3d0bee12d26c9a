"""Frames made of others: constructors, merge, join, concat, pivot, melt; keys that the frames do not have."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from crane_core.detectors.rules.families.numpy_things import is_array, is_none, is_number, kind_of, taken_shape, told
from crane_core.detectors.rules.families.pandas_things import (
    FRAME,
    SERIES,
    dtype_of_column,
    frame,
    is_frame,
    is_numeric,
    is_pandas,
    is_series,
    is_text,
    is_whole_list_of_labels,
    label_set,
    labels_in,
    labels_of,
    lacks,
    lacks_key,
    may_be_values,
    missing_column,
    n_rows,
    series,
    told_columns,
)
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.site import Site
from crane_core.detectors.rules.thing import NOT_KNOWN, Thing

RULES = Family("pandas: tables")
_ONE_LENGTH: Final = "give all columns the same number of values"


@RULES.function("pandas.DataFrame")
def new_frame(site: Site) -> Thing | None:
    given = site.arguments.bound("data=None, index=None, columns=None, dtype=None, copy=None")
    if given is None:
        return Thing(FRAME)
    data, columns = given.get("data"), given.get("columns")
    rows = _length(given.get("index"))
    if data is None:
        return frame(_labels(columns), rows) if columns is None or is_whole_list_of_labels(columns) else Thing(FRAME)
    if data.type == "dict":
        return _of_dict(site, data, columns, given.get("index"))
    if is_array(data) or data.type == "list":
        return _of_rows(site, data, columns, given.get("index"))
    if is_frame(data) and columns is None and "index" not in given:
        return Thing(FRAME, data.facts)
    return Thing(FRAME)


def _length(thing: Thing | None) -> int | None:
    if thing is not None and thing.is_a("pandas", *_INDEXES):
        length = thing.fact("length")
        return length if type(length) is int else None
    shape = taken_shape(thing) if thing is not None else None
    return shape[0] if shape is not None and len(shape) == 1 else None


def _labels(thing: Thing | None) -> list[Any]:
    return [] if thing is None else labels_in(thing) or []


def _of_dict(site: Site, data: Thing, columns: Thing | None, index: Thing | None) -> Thing:
    if data.members is None or not data.members:
        return Thing(FRAME)
    lengths = {key: _length(value) for key, value in data.members.items() if _is_line(value)}
    known = {length for length in lengths.values() if length is not None}
    given = _length(index)
    if columns is None and len(known) > 1:
        parts = [f"{key!r}: {length}" for key, length in lengths.items()]
        site.crash("ValueError", "All arrays must be of the same length", fact=", ".join(parts[:8]), remedy=_ONE_LENGTH)
    all_single = all(is_number(value) or value.type == "str" for value in data.members.values())
    if all_single and is_none(index) and columns is None:
        site.crash(
            "ValueError",
            "If using all scalar values, you must pass an index",
            fact=f"{data.words or 'the dict'} holds only scalar values",
            remedy="put each value in a list, or pass index=[0]",
        )
    if columns is None and given is not None and known and given not in known:
        site.crash(
            "ValueError",
            f"{next(iter(known))} values are given for an index of length {given}",
            fact=f"the index has {given} labels",
            remedy=_ONE_LENGTH,
        )
    if columns is None and given is None and index is None:
        _meet_series(site, data.members, known)
    if columns is not None:
        return frame(labels_in(columns), None) if is_whole_list_of_labels(columns) else Thing(FRAME)
    rows = next(iter(known), None) if len(lengths) == len(data.members) else None
    made = frame(data.members, rows, dtypes=_dtypes(data.members))
    if rows is not None and index is None:
        made.facts["index"] = {"type": "RangeIndex", "range": [0, rows, 1], "unique": True}
    return made


def _meet_series(site: Site, members: Mapping[Any, Thing], known: set[int]) -> None:
    """Beside series with one index, lists and arrays are as long as that index; a series alone brings it."""
    held = [value for value in members.values() if is_series(value)]
    indexes = {json.dumps(value.fact("index"), sort_keys=True, default=str) for value in held}
    length = n_rows(held[0]) if held else None
    is_one = len(held) == 1 or len(indexes) == 1 and "range" in indexes.copy().pop()
    if len(held) + sum(_is_line(value) for value in members.values()) < len(members) and not _are_plain(members):
        return
    if is_one and length is not None and len(known) == 1 and length not in known:
        site.crash(
            "ValueError",
            f"{next(iter(known))} values are given for a Series of length {length}",
            fact=f"{held[0].words or 'the series'} has {length} values",
            remedy="give all columns the same number of values: predict for the same rows",
        )


def _are_plain(members: Mapping[Any, Thing]) -> bool:
    """Whether every other member is a single value, which stands in every row."""
    return all(
        is_series(value) or _is_line(value) or is_number(value) or value.type in ("str", "bool", "NoneType")
        for value in members.values()
    )


def _is_line(value: Thing) -> bool:
    """A list, tuple, range, index or array: no series, which is aligned by its index."""
    return value.type in ("list", "tuple", "range") or is_array(value) or value.is_a("pandas", *_INDEXES)


_INDEXES: Final = ("Index", "RangeIndex", "DatetimeIndex")


def _dtypes(members: Mapping[Any, Thing]) -> dict[Any, str]:
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


def _of_rows(site: Site, data: Thing, columns: Thing | None, index: Thing | None) -> Thing:
    shape = taken_shape(data)
    labels = labels_in(columns) if is_whole_list_of_labels(columns) and columns is not None else None
    if shape is None:
        return frame(labels, None) if labels is not None and not _holds_dicts(data) else Thing(FRAME)
    if len(shape) > 2 and is_array(data):
        site.crash(
            "ValueError",
            "Must pass 2-d input",
            fact=told(data),
            remedy="reshape it to rows and columns: x.reshape(len(x), -1)",
        )
    width = 1 if len(shape) == 1 else shape[1] if len(shape) == 2 else None
    if labels is not None and width is not None and len(labels) != width and shape[0]:
        site.crash(
            "ValueError",
            f"{len(labels)} columns passed, passed data had {width} columns",
            fact=told(data, "the data"),
            remedy="pass one label per column",
        )
    given = _length(index)
    if given is not None and shape[0] is not None and given != shape[0] and shape[0] != 1:
        site.crash(
            "ValueError",
            f"{shape[0]} rows are given for an index of length {given}",
            fact=told(data, "the data"),
            remedy="pass one label per row",
        )
    names = labels if labels is not None else list(range(width)) if width is not None and columns is None else None
    dtype = data.fact("dtype") if is_array(data) else None
    known = dict.fromkeys(names or (), dtype) if is_numeric(dtype) and dtype is not None else None
    made = frame(names, shape[0], dtypes=known)
    if index is None and shape[0] is not None:
        made.facts["index"] = {"type": "RangeIndex", "range": [0, shape[0], 1], "unique": True}
    return made


def _holds_dicts(data: Thing) -> bool:
    return data.items is None or any(item.type not in ("list", "tuple") for item in data.items)


@RULES.function("pandas.Series")
def new_series(site: Site) -> Thing | None:
    given = site.arguments.bound("data=None, index=None, dtype=None, name=None, copy=None, fastpath=False")
    if given is None or "data" not in given:
        return Thing(SERIES)
    data, index = given["data"], given.get("index")
    shape, count = taken_shape(data) if _is_line(data) else None, _length(index)
    if shape is not None and len(shape) > 1 and is_array(data):
        site.crash("ValueError", "Data must be 1-dimensional", fact=told(data), remedy="flatten it: x.ravel()")
    if shape is not None and len(shape) == 1 and shape[0] is not None and count is not None and count != shape[0]:
        site.crash(
            "ValueError",
            f"Length of values ({shape[0]}) does not match length of index ({count})",
            fact=told(data, "the data"),
            remedy="pass one label per value",
        )
    length = shape[0] if shape is not None and len(shape) == 1 else None
    name = given["name"].literal if "name" in given else None
    made = series(length, data.fact("dtype") if is_array(data) and "dtype" not in given else None)
    if isinstance(name, str):
        made.facts["name"] = name
    if index is None and length is not None:
        made.facts["index"] = {"type": "RangeIndex", "range": [0, length, 1], "unique": True}
    return made


# Merge and join


@RULES.function("pandas.merge")
def merge_function(site: Site) -> Thing | None:
    given = site.arguments.bound(f"left, right, {_MERGE}")
    return _merged(site, given) if given is not None and {"left", "right"} <= given.keys() else Thing(FRAME)


_MERGE: Final = (
    "how='inner', on=None, left_on=None, right_on=None, left_index=False, right_index=False, sort=False,"
    " suffixes=('_x', '_y'), copy=None, indicator=False, validate=None"
)


@RULES.method(FRAME, "merge")
def merge_method(site: Site) -> Thing | None:
    given = site.arguments.bound(f"right, {_MERGE}")
    if given is None or "right" not in given:
        return Thing(FRAME)
    return _merged(site, {"left": site.receiver or Thing(), **given})


def _merged(site: Site, given: dict[str, Thing]) -> Thing:
    left, right = given["left"], given["right"]
    if not is_frame(left) or not is_frame(right):
        return Thing(FRAME) if is_frame(left) else Thing()
    for name, sides in (("on", (left, right)), ("left_on", (left,)), ("right_on", (right,))):
        for label in labels_in(given.get(name)) or ():
            for side in sides:
                if lacks_key(side, label):
                    missing_column(site, side, label)
    on = given.get("on")
    plain = not {"left_on", "right_on", "left_index", "right_index", "how"} & given.keys()
    one, other = label_set(left), label_set(right)
    if plain and is_none(on) and one is not None and other is not None and not one & other:
        site.crash(
            "MergeError",
            "No common columns to perform merge on",
            fact=f"{told_columns(left)}; {told_columns(right)}",
            remedy="name the key columns: left_on=..., right_on=...",
        )
    if on is not None and is_whole_list_of_labels(on) and not {"left_on", "right_on"} & given.keys():
        _keys_have_one_kind(site, left, right, labels_in(on) or [])
    return _merged_columns(given, left, right)


def _keys_have_one_kind(site: Site, left: Thing, right: Thing, keys: list[Any]) -> None:
    """Texts cannot be matched with numbers."""
    for key in keys:
        dtypes = dtype_of_column(left, key), dtype_of_column(right, key)
        for text, number in (dtypes, dtypes[::-1]):
            if is_text(text) and is_numeric(number) and text == "str" and n_rows(left) and n_rows(right):
                site.crash(
                    "ValueError",
                    f"the key {key!r} is a string on one side and a number on the other",
                    fact=f"the dtypes are {dtypes[0]} and {dtypes[1]}",
                    remedy="convert both to the same dtype: .astype(str), or pandas.to_numeric",
                )


def _merged_columns(given: dict[str, Thing], left: Thing, right: Thing) -> Thing:
    """The columns of a merge on columns of the same names; suffixes where others are in both."""
    on = given.get("on")
    one, other = labels_of(left), labels_of(right)
    if set(given) - {"left", "right", "on", "how"} or one is None or other is None:
        return Thing(FRAME)
    keys = labels_in(on) if on is not None and is_whole_list_of_labels(on) else None
    if on is None:
        keys = [label for label in one if label in other]
    how = given["how"].literal if "how" in given else "inner"
    if not keys or how not in ("inner", "left", "right", "outer"):
        return Thing(FRAME)
    if not all(key in one and key in other for key in keys):
        return Thing(FRAME)
    double = (set(one) & set(other)) - set(keys)
    first = [f"{label}_x" if label in double else label for label in one]
    second = [f"{label}_y" if label in double else label for label in other if label not in keys]
    return frame([*first, *second])


@RULES.method(FRAME, "join")
def join(site: Site) -> Thing | None:
    given = site.arguments.bound("other, on=None, how='left', lsuffix='', rsuffix='', sort=False, validate=None")
    old = site.receiver or Thing()
    if given is None or "other" not in given or not is_frame(given["other"]):
        return Thing(FRAME)
    for label in labels_in(given.get("on")) or ():
        if lacks_key(old, label):
            missing_column(site, old, label)
    one, other = label_set(old), label_set(given["other"])
    if one is None or other is None or {"lsuffix", "rsuffix"} & given.keys():
        return Thing(FRAME)
    if both := sorted(one & other, key=str):
        site.crash(
            "ValueError",
            f"columns overlap but no suffix specified: {both[0]!r}",
            fact=f"{told_columns(old, both[0])}; {told_columns(given['other'], both[0])}",
            remedy="pass lsuffix= or rsuffix=, or merge on the column",
        )
    order = labels_of(old), labels_of(given["other"])
    return frame([*order[0], *order[1]]) if order[0] is not None and order[1] is not None else Thing(FRAME)


@RULES.function("pandas.concat")
def concat(site: Site) -> Thing | None:
    given = site.arguments.bound(
        "objs, *, axis=0, join='outer', ignore_index=False, keys=None, levels=None, names=None,"
        " verify_integrity=False, sort=False, copy=None"
    )
    if given is None:
        if is_frame(site.first) or is_series(site.first):
            _no_list(site)
        return Thing()
    objs = given.get("objs")
    if objs is None:
        return Thing()
    if is_frame(objs) or is_series(objs):
        _no_list(site)
    if objs.items is not None and not objs.items:
        site.crash(
            "ValueError",
            "No objects to concatenate",
            fact=f"{objs.words or 'the list'} is empty",
            remedy="check first that the list is not empty",
        )
    _are_pandas(site, objs.items or [])
    return _concatenated(given, objs.items or [])


def _no_list(site: Site) -> None:
    site.crash(
        "TypeError",
        "first argument must be an iterable of pandas objects",
        fact=f"{site.first.words or 'the first argument'} is a {site.first.class_name}",
        remedy="put them in brackets: pandas.concat([a, b])",
    )


def _are_pandas(site: Site, items: list[Thing]) -> None:
    for item in items:
        if item.type in ("list", "tuple", "dict", "int", "float", "str") or is_array(item):
            site.crash(
                "TypeError",
                f"cannot concatenate object of type '{item.class_name}'; only Series and DataFrame objs are valid",
                fact=f"{item.words or 'an item of the list'} is a {item.class_name}",
                remedy="make a frame of it first: pandas.DataFrame(...)",
            )


def _concatenated(given: dict[str, Thing], items: list[Thing]) -> Thing:
    if not items or not all(is_frame(item) for item in items) or {"keys", "levels", "names", "join"} & given.keys():
        return Thing(FRAME) if items and all(is_frame(item) for item in items) else Thing()
    axis = given["axis"].literal if "axis" in given else 0
    orders = [labels_of(item) for item in items]
    known = [order for order in orders if order is not None]
    if len(known) < len(items) or axis is NOT_KNOWN:
        return Thing(FRAME)
    if axis in (1, "columns"):
        return frame([label for order in known for label in order]) if "ignore_index" not in given else Thing(FRAME)
    labels = list(dict.fromkeys(label for order in known for label in order))
    rows = [n_rows(item) for item in items]
    total = None if None in rows else sum(row for row in rows if row is not None)
    same = {label: {dtype_of_column(item, label) for item in items} for label in labels}
    dtypes = {label: found.pop() for label, found in same.items() if len(found) == 1 and None not in found}
    made = frame(labels, total, dtypes={label: dtype for label, dtype in dtypes.items() if dtype is not None})
    if len(known) > 1 and "ignore_index" in given and given["ignore_index"].literal is True and total is not None:
        made.facts["index"] = {"type": "RangeIndex", "range": [0, total, 1], "unique": True}
    return made


# Other shapes


@RULES.method(FRAME, "pivot")
def pivot(site: Site) -> Thing | None:
    given = site.arguments.bound("*, columns=None, index=None, values=None")
    old = site.receiver or Thing()
    if given is None:
        if site.arguments.positional and is_pandas(site, 2, 0):
            site.crash(
                "TypeError",
                "since pandas 2.0 it takes its arguments only by name",
                fact=f"pandas {site.packages['pandas']} is installed",
                remedy="write index=, columns=, values=",
            )
        return Thing(FRAME)
    for name in ("columns", "index", "values"):
        for label in labels_in(given.get(name)) or ():
            if lacks(old, label):
                missing_column(site, old, label)
    _are_unique(site, old, given)
    return Thing(FRAME)


def _are_unique(site: Site, old: Thing, given: dict[str, Thing]) -> None:
    """Each cell of the new table comes of one row."""
    keys = [*(labels_in(given.get("index")) or ()), *(labels_in(given.get("columns")) or ())]
    told_of = old.fact("duplicates")
    if not isinstance(told_of, Mapping) or not {"index", "columns"} <= given.keys():
        return
    for name, facts in told_of.items():
        if isinstance(facts, Mapping) and sorted(name.split(", ")) == sorted(map(str, keys)):
            count = facts.get("n_duplicates")
            if type(count) is int and count > 0:
                site.crash(
                    "ValueError",
                    f"{count} rows repeat the {' and '.join(map(repr, keys))} of another row",
                    fact=f"{old.words or 'the frame'} holds {facts.get('first')} more than once",
                    remedy="use pivot_table(..., aggfunc=...), which aggregates duplicate rows",
                )


@RULES.method(FRAME, "pivot_table")
def pivot_table(site: Site) -> Thing | None:
    given = site.arguments.bound(
        "values=None, index=None, columns=None, aggfunc='mean', fill_value=None, margins=False, dropna=True,"
        " margins_name='All', observed=True, sort=True, **kwargs"
    )
    old = site.receiver or Thing()
    if given is None:
        return Thing(FRAME)
    are_values = may_be_values(old, *(given[name] for name in ("index", "columns") if name in given))
    for name in ("values",) if are_values else ("values", "index", "columns"):
        for label in labels_in(given.get(name)) or ():
            if lacks(old, label) if name == "values" else lacks_key(old, label):
                missing_column(site, old, label)
    return Thing(FRAME)


@RULES.function("pandas.pivot_table")
def pivot_table_function(site: Site) -> Thing | None:
    return Thing(FRAME) if is_frame(site.first) else Thing()


@RULES.method(FRAME, "melt")
def melt(site: Site) -> Thing | None:
    given = site.arguments.bound(
        "id_vars=None, value_vars=None, var_name=None, value_name='value', col_level=None, ignore_index=True"
    )
    old = site.receiver or Thing()
    if given is None:
        return Thing(FRAME)
    for name in ("id_vars", "value_vars") if "col_level" not in given else ():
        for label in labels_in(given.get(name)) or ():
            if lacks(old, label):
                missing_column(site, old, label)
    kept = labels_in(given.get("id_vars")) if "id_vars" in given else []
    names = [given[name].literal if name in given else usual for name, usual in _MELTED]
    is_plain = "id_vars" not in given or is_whole_list_of_labels(given["id_vars"])
    if not is_plain or kept is None or not all(isinstance(name, str) for name in names) or "col_level" in given:
        return Thing(FRAME)
    made = frame([*kept, *names])
    if "ignore_index" not in given:
        made.facts["index_names"] = ()
    return made


_MELTED: Final = (("var_name", "variable"), ("value_name", "value"))


@RULES.function("pandas.get_dummies")
def get_dummies(site: Site) -> Thing | None:
    given = site.arguments.bound(
        "data, prefix=None, prefix_sep='_', dummy_na=False, columns=None, sparse=False, drop_first=False, dtype=None"
    )
    if given is None or "data" not in given or not is_frame(given["data"]):
        return Thing(FRAME)
    for label in labels_in(given.get("columns")) or ():
        if lacks(given["data"], label):
            missing_column(site, given["data"], label)
    return Thing(FRAME, {"shape": (n_rows(given["data"]), None)})


@RULES.method(FRAME, "nlargest", "nsmallest", "explode", "value_counts")
def by_column(site: Site) -> Thing | None:
    old = site.receiver or Thing()
    parameters = {"explode": "column, ignore_index=False", "value_counts": "subset=None, **rest"}
    given = site.arguments.bound(parameters.get(site.name, "n, columns, keep='first'"))
    found = given or {}
    wanted = next((found[name] for name in ("columns", "column", "subset") if name in found), None)
    for label in labels_in(wanted) or ():
        if lacks(old, label):
            missing_column(site, old, label)
    return Thing(FRAME) if site.name != "value_counts" else Thing(SERIES)


@RULES.function("pandas.read_csv", "pandas.read_excel", "pandas.read_table", "pandas.read_parquet")
def read(site: Site) -> Thing | None:
    keywords = site.arguments.keywords
    if {"chunksize", "iterator", "sheet_name", "squeeze"} & keywords.keys() or not site.arguments.is_complete:
        return Thing()
    return Thing(FRAME)


@RULES.function("pandas.crosstab")
def crosstab(site: Site) -> Thing | None:
    return Thing(FRAME)
