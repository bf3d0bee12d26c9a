"""What a chain finds in frames, series, groups and indexes: columns, labels, positions, accessors.

Knows what subscripts and the arguments of common methods name, and which columns a method leaves. Refuses to run any of
them: where the result would depend on values, the chain ends.
"""

from __future__ import annotations

import ast
from typing import Any, Iterable, Iterator, NamedTuple

from ...anatomy import MISSING, class_dict, instance_dict, is_kind, mro_of, package_of
from ...chains.following import METHOD, PROPERTY, Missing, Resolution, similar
from ...kinds import INDICES, LABELS, LISTED, NUMBERS, PLAIN, ROWS, SINGLE, Kinds, counted
from ...own_dict import own_dict
from ...syntax.asked import ATTRIBUTE, CALL, ITEM, Asked, Step, Unknown
from . import columns as column_values
from . import storage
from .labels import all_plain, has_label
from .storage import (
    columns_of,
    frame_of,
    index_names,
    is_multi,
    labels_of,
    length_of,
    ndarray_of,
    pandas,
    series_index,
    series_values,
)

_MOST_LABELS = 20_000
_CHOSEN = Kinds(str, int, list)
_SAME_COLUMNS = {
    *("copy", "head", "tail", "sample", "fillna", "ffill", "bfill", "sort_values", "sort_index", "drop_duplicates"),
    *("dropna", "query", "round", "replace", "interpolate", "where", "mask", "clip", "astype", "abs", "reset_index"),
    *("infer_objects", "convert_dtypes", "truncate", "set_axis"),
}
_OTHER_DTYPES = {"astype", "replace", "convert_dtypes", "infer_objects", "fillna", "where", "mask"}
"""Methods that may give columns another dtype."""
_NAMES_COLUMNS: dict[str, tuple[tuple[int, str], ...]] = {
    "groupby": ((0, "by"),),
    "sort_values": ((0, "by"),),
    "set_index": ((0, "keys"),),
    "dropna": ((-1, "subset"),),
    "value_counts": ((0, "subset"),),
    "pivot": ((-1, "index"), (-1, "columns"), (-1, "values")),
    "pivot_table": ((0, "values"), (1, "index"), (2, "columns")),
    "melt": ((0, "id_vars"), (1, "value_vars")),
    "nlargest": ((1, "columns"),),
    "nsmallest": ((1, "columns"),),
    "explode": ((0, "column"),),
    "pop": ((0, "item"),),
    "merge": ((-1, "on"), (-1, "left_on")),
    "join": ((-1, "on"),),
    "plot": ((-1, "x"), (-1, "y")),
    "boxplot": ((0, "column"), (1, "by")),
    "hist": ((0, "column"), (-1, "by")),
    **dict.fromkeys(("scatter", "line", "bar", "barh", "area", "hexbin"), ((0, "x"), (1, "y"))),
}
"""Methods of a frame (and of its `plot`) whose arguments name columns: position (-1: none), and keyword.

Without those that do not look for them where there are no rows: drop_duplicates, duplicated.
"""
_DRAWS = {"plot", "scatter", "line", "bar", "barh", "area", "hexbin", "boxplot", "hist"}
_OR_LEVELS = {"groupby", "sort_values", "pivot_table", "merge", "join"}
"""Methods that take the name of an index level in place of a column."""
_DICTS_OF_COLUMNS = {"astype": "dtype", "agg": "func", "aggregate": "func"}
_ACCESSORS = {"str": "text", "dt": "datetimelike values", "cat": "categories"}


class Table(NamedTuple):
    """A frame, real or one that a method would give: labels (None: not known), index, arrays by label.

    `columns` is the index of the columns of a real frame.
    """

    labels: tuple[Any, ...] | None
    index: Any = None
    arrays: Any = None
    levels: tuple[Any, ...] = ()
    columns: Any = None


class Values(NamedTuple):
    """A series, real or a column: its array and its index, None where not known."""

    array: Any = None
    index: Any = None


class Grouped(NamedTuple):
    """A frame grouped by some of its columns."""

    table: Table


def follow(value: Any, steps: tuple[Step, ...]) -> Resolution | None:
    """Follows from an object of pandas itself; None for what the general rule knows."""
    module = pandas()
    if package_of(type(value)) != "pandas":
        return None
    if steps[0].kind == ATTRIBUTE and steps[0].value in own_dict(value):
        return None
    if is_kind(value, module.DataFrame):
        return of_table(table_of(value), steps)
    if is_kind(value, module.Series):
        return of_values(Values(series_values(value), series_index(value)), steps)
    if is_kind(value, module.Index):
        return _of_index(value, steps[0])
    held = instance_dict(value)
    if "obj" in held and is_kind(held["obj"], module.DataFrame):
        return of_groups(Grouped(table_of(held["obj"])), steps)
    return None


def has_attribute(value: Any, name: str) -> bool | None:
    """Whether a label stands for the attribute. None for a class of the notebook."""
    if package_of(type(value)) != "pandas" or not is_kind(value, pandas().Series):
        return None
    return has_label(series_index(value), name)


def table_of(value: Any) -> Table:
    """What is known of a real frame."""
    frame = frame_of(value)
    if length_of(frame.columns) > _MOST_LABELS:
        return Table(None, frame.index)
    labels = tuple(labels_of(frame.columns))
    if not all_plain(list(labels)):
        return Table(None, frame.index)
    held = {label: column.values for label, column in zip(labels, columns_of(frame))}
    return Table(labels, frame.index, held, tuple(index_names(frame.index)), frame.columns)


def _firsts(labels: Iterable[Any]) -> set[Any]:
    """The first level of labels with several."""
    return {label[0] for label in labels if type(label) is tuple and label}


# Frames


def of_table(table: Table, steps: tuple[Step, ...]) -> Resolution:
    step, after = steps[0], steps[1] if len(steps) > 1 else None
    if step.kind == ITEM:
        return _item(table, step.value)
    if step.kind != ATTRIBUTE:
        return Resolution(missing=(Missing("attributes", {"type": "pandas.DataFrame", "attribute": "__call__"}),))
    name = step.value
    if after is not None and after.kind == ITEM and name in _INDEXERS:
        return _INDEXERS[name](table, after.value)
    if after is not None and after.kind == CALL:
        return _call(table, name, after.value)
    if name == "plot" and len(steps) > 2 and after is not None and steps[2].kind == CALL:
        drawn = _columns_named(table, after.value, steps[2].value[0], dict(steps[2].value[1]))
        return Resolution(missing=tuple(drawn), n_steps=3)
    return _attribute(table, name)


def _attribute(table: Table, name: str) -> Resolution:
    module = pandas()
    if name == "index" and table.index is not None:
        return Resolution(table.index)
    if name == "columns" and table.labels is not None:
        is_real = table.columns is not None and length_of(table.columns) == len(table.labels)
        return Resolution(table.columns) if is_real else Resolution(list(table.labels), follow=_of_labels)
    if name == "shape" and table.index is not None and table.labels is not None:
        return Resolution((length_of(table.index), len(table.labels)))
    if _is_on_class(module.DataFrame, name):
        return Resolution(note=METHOD if callable(class_dict_value(module.DataFrame, name)) else PROPERTY)
    if table.labels is None:
        return Resolution()
    if name in table.labels:
        return _column(table, name)
    if name in _firsts(table.labels):
        return Resolution()
    names = [label for label in table.labels if type(label) is str]
    fact = {
        "type": "pandas.DataFrame",
        "attribute": name,
        "similar": _similar_attributes(module.DataFrame, name, names),
    }
    return Resolution(missing=(Missing("attributes", fact),))


def _of_labels(labels: list[Any], steps: tuple[Step, ...]) -> Resolution:
    """The columns of a frame that a method would give: an index, of which no more is known than its labels."""
    step = steps[0]
    return Resolution(missing=tuple(_beyond(step.value, len(labels), "index")) if step.kind == ITEM else ())


def _similar_attributes(kind: Any, name: str, labels: list[str]) -> list[str]:
    own = [key for parent in mro_of(kind) for key in class_dict(parent) if not key.startswith("_")]
    return similar(name, [*labels, *own])


def _is_on_class(kind: Any, name: str) -> bool:
    return any(name in class_dict(parent) for parent in mro_of(kind))


def class_dict_value(kind: Any, name: str) -> Any:
    """What the class or a parent stores under the name."""
    return next((class_dict(parent)[name] for parent in mro_of(kind) if name in class_dict(parent)), None)


def _column(table: Table, label: Any) -> Resolution:
    array = (table.arrays or {}).get(label)
    is_double = table.labels is not None and table.labels.count(label) > 1
    return Resolution() if is_double else Resolution(Values(array, table.index), follow=of_values)


def _item(table: Table, item: Any) -> Resolution:
    if type(item) is slice:
        return Resolution(table._replace(index=None), follow=of_table)
    if type(item) is list:
        return _items(table, item)
    if table.labels is None or type(item) not in LABELS or _holds_unknown(item):
        return Resolution()
    if item in table.labels:
        return _column(table, item)
    if item in _firsts(table.labels) or type(item) is tuple and item[:1] and item[0] in _firsts(table.labels):
        return Resolution()
    return Resolution(missing=(_no_column(table, item),))


def _holds_unknown(item: Any) -> bool:
    return type(item) is tuple and any(type(part) not in PLAIN for part in item)


def _items(table: Table, items: list[Any]) -> Resolution:
    if items and all(type(item) is bool for item in items):
        return Resolution(table._replace(index=None), follow=of_table)
    missing = tuple(_missing(table, items))
    is_known = all(type(item) in LABELS for item in items)
    narrowed = table._replace(
        columns=None, labels=tuple(items) if is_known and not _firsts(table.labels or ()) else None
    )
    return Resolution(narrowed, missing, follow=of_table)


def _missing(table: Table, items: Any, *, or_levels: bool = False) -> list[Missing]:
    """Lacks for those labels that are known and not among the columns."""
    if table.labels is None:
        return []
    there = {*table.labels, *_firsts(table.labels), *(table.levels if or_levels else ())}
    given = items if type(items) in LISTED and items not in there_tuples(table) else [items]
    asked = [item for item in given if type(item) in SINGLE or type(item) is tuple and not _holds_unknown(item)]
    return [_no_column(table, item) for item in asked if item not in there]


def there_tuples(table: Table) -> tuple[Any, ...]:
    return tuple(label for label in table.labels or () if type(label) is tuple)


def _no_column(table: Table, label: Any) -> Missing:
    labels = table.labels or ()
    fact = {"type": "pandas.DataFrame", "column": label, "similar": similar(label, labels), "n_columns": len(labels)}
    if label in table.levels:
        fact["is_name_of_index_level"] = True
    return Missing("columns", fact)


# Indexers


def _loc(table: Table, item: Any) -> Resolution:
    rows, columns = item if type(item) is tuple and len(item) == 2 else (item, slice(None))
    if type(item) is tuple and _may_be_of_levels(table.index, rows):
        return Resolution()
    missing = _rows_missing(table.index, rows)
    if type(columns) in _CHOSEN:
        missing += _missing(table, columns)
    if type(rows) is slice or type(rows) is Unknown:
        narrowed = table._replace(index=None)
        resolution = (
            _item(narrowed, columns)
            if type(columns) in _CHOSEN and type(columns) is not int and not missing
            else Resolution()
        )
        return Resolution(resolution.value, tuple(missing), 2, follow=resolution.follow)
    return Resolution(missing=tuple(missing), n_steps=2)


def _may_be_of_levels(index: Any, rows: Any) -> bool:
    """True where a tuple may be one label of an index with several levels, not a row and a column."""
    return type(rows) is not slice if index is None else is_multi(index)


def _rows_missing(index: Any, rows: Any) -> list[Missing]:
    """Row labels that are asked for and not in the index."""
    if index is None or is_multi(index):
        return []
    asked = rows if type(rows) is list else [rows]
    return [
        Missing("keys", {"label": label, "in": "index", "similar": _similar_labels(index, label)})
        for label in asked
        if type(label) in SINGLE and has_label(index, label) is False
    ]


def _similar_labels(index: Any, label: Any) -> list[str]:
    return similar(label, labels_of(index, 2000)) if type(label) is str else []


def _iloc(table: Table, item: Any) -> Resolution:
    rows, columns = item if type(item) is tuple and len(item) == 2 else (item, slice(None))
    n_rows = None if table.index is None else length_of(table.index)
    n_columns = None if table.labels is None else len(table.labels)
    missing = _beyond(rows, n_rows, "rows") + _beyond(columns, n_columns, "columns")
    if type(rows) is slice and type(columns) is int and not missing and table.labels is not None:
        resolution = _column(table._replace(index=None), table.labels[columns])
        return resolution._replace(n_steps=2)
    if type(rows) is slice and type(columns) is slice:
        labels = table.labels[columns] if table.labels is not None and _is_plain_slice(columns) else None
        return Resolution(table._replace(index=None, labels=labels, columns=None), follow=of_table, n_steps=2)
    return Resolution(missing=tuple(missing), n_steps=2)


def _is_plain_slice(part: slice) -> bool:
    return all(bound is None or type(bound) is int for bound in (part.start, part.stop, part.step))


def _beyond(positions: Any, size: int | None, what: str) -> list[Missing]:
    """Positions that are asked for and beyond the size."""
    asked = positions if type(positions) is list else [positions]
    if size is None:
        return []
    beyond = [position for position in asked if type(position) is int and not -size <= position < size]
    return [Missing("keys", {"index": position, "length": size, "in": what}) for position in beyond]


_INDEXERS = {"loc": _loc, "at": _loc, "iloc": _iloc, "iat": _iloc}


# Methods of frames


def _call(table: Table, name: str, arguments: Any) -> Resolution:
    positional, named = arguments[0], dict(arguments[1])
    missing = _columns_named(table, name, positional, named)
    if named.get("inplace") is True:
        return Resolution(None, tuple(missing), 2)
    if missing:
        return Resolution(missing=tuple(missing), n_steps=2)
    special = _RESULTS.get(name)
    if special is not None:
        return special(table, positional, named)
    if name in _SAME_COLUMNS:
        return _same(table, name, named)
    if not _is_on_class(pandas().DataFrame, name):
        return _attribute(table, name)
    return Resolution(n_steps=2)


def _columns_named(table: Table, name: str, positional: Any, named: dict[str, Any]) -> list[Missing]:
    missing: list[Missing] = []
    for at, keyword in _NAMES_COLUMNS.get(name, ()):
        given = positional[at] if 0 <= at < len(positional) else named.get(keyword)
        if given is not None and not _names_no_columns(table, name, given, positional, named):
            missing += _missing(table, given, or_levels=name in _OR_LEVELS)
    dict_keyword = _DICTS_OF_COLUMNS.get(name)
    given = positional[0] if positional else named.get(dict_keyword or "")
    if dict_keyword and type(given) is dict:
        missing += _missing(table, list(given))
    return [*missing, *_missing_in_drop(table, name, positional, named), *_missing_in_query(table, name, positional)]


def _names_no_columns(table: Table, name: str, given: Any, positional: Any, named: dict[str, Any]) -> bool:
    """Whether an argument may name something else: rows by `axis`, columns by position in plots, a value for each row.

    Keys in a list as long as the frame, not all of them columns, are values to group by.
    """
    if name in ("groupby", "sort_values", "dropna") and ("axis" in named or name == "dropna" and positional):
        return True
    if name == "melt" and ("col_level" in named or len(positional) > 4):
        return True
    if name in _DRAWS:
        return any(type(part) is int for part in (given if type(given) in LISTED else [given]))
    if name in ("groupby", "pivot_table"):
        keys = [given] if name == "groupby" else [*positional[1:3], named.get("index"), named.get("columns")]
        n_keys = sum(len(part) if type(part) in LISTED else part is not None for part in keys)
        return table.index is None or length_of(table.index) == n_keys
    return False


def _missing_in_drop(table: Table, name: str, positional: Any, named: dict[str, Any]) -> list[Missing]:
    if name != "drop" or named.get("errors") == "ignore" or "level" in named:
        return []
    columns, rows = _dropped(positional, named)
    missing = _missing(table, columns) if columns is not None else []
    return [*missing, *(_rows_missing(table.index, rows) if rows is not None else [])]


def _dropped(positional: Any, named: dict[str, Any]) -> tuple[Any, Any]:
    """The columns and the row labels that `drop` is given."""
    labels = positional[0] if positional else named.get("labels")
    axis = positional[1] if len(positional) > 1 else named.get("axis", 0)
    columns, rows = named.get("columns"), named.get("index")
    if labels is not None and axis in (1, "columns"):
        columns = labels
    elif labels is not None and axis in (0, "index"):
        rows = labels
    return columns, rows


def _missing_in_query(table: Table, name: str, positional: Any) -> list[Missing]:
    """Names in the text of a query that are not columns."""
    text = positional[0] if name == "query" and positional else None
    if type(text) is not str or "`" in text or table.labels is None:
        return []
    try:
        tree = ast.parse(text.strip().replace("@", "_at_"), mode="eval")
    except SyntaxError:
        return []
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    names = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and id(node) not in called]
    plain = [word for word in names if not word.startswith("_at_") and word not in ("index", "True", "False", "None")]
    return _missing(table, [word for word in plain if not word.startswith("ilevel_")], or_levels=True)


def _same(table: Table, name: str, named: dict[str, Any]) -> Resolution:
    if named.get("axis") in (1, "columns") and name in ("dropna", "sort_index", "sample", "set_axis"):
        return Resolution(Table(None), n_steps=2, follow=of_table)
    keeps_index = name in ("copy", "fillna", "ffill", "bfill", "round", "replace", "astype", "abs", "clip")
    kept = table._replace(index=table.index if keeps_index else None)
    if name in _OTHER_DTYPES:
        kept = kept._replace(arrays=None)
    if name == "set_axis":
        kept = Table(None)
    if name == "reset_index" and named.get("drop") is not True:
        kept = kept._replace(labels=_with_levels(table) if "names" not in named else None, columns=None)
    return Resolution(kept, n_steps=2, follow=of_table)


def _with_levels(table: Table) -> tuple[Any, ...] | None:
    """The labels after the index has become columns."""
    if table.labels is None or not table.levels or any(level is None for level in table.levels):
        return None
    return (*table.levels, *table.labels)


def _after_drop(table: Table, positional: Any, named: dict[str, Any]) -> Resolution:
    if "level" in named:
        return Resolution(Table(None), n_steps=2, follow=of_table)
    columns, rows = _dropped(positional, named)
    gone = columns if type(columns) in ROWS else [columns]
    is_known = table.labels is not None and all(type(label) in LABELS for label in gone)
    labels = tuple(label for label in table.labels or () if label not in gone) if is_known else None
    if columns is None and rows is None:
        labels = None
    return Resolution(
        table._replace(columns=None, labels=labels, index=None if rows is not None else table.index),
        n_steps=2,
        follow=of_table,
    )


def _after_rename(table: Table, positional: Any, named: dict[str, Any]) -> Resolution:
    """Of labels with several levels each level is renamed: they are not known then."""
    mapping = named.get("columns")
    is_plain = table.labels is not None and not positional and not set(named) - {"columns", "copy", "errors"}
    if table.labels is None or not is_plain or type(mapping) is not dict or _firsts(table.labels):
        return Resolution(Table(None), n_steps=2, follow=of_table)
    labels = tuple(mapping.get(label, label) for label in table.labels)
    is_known = all(type(label) in LABELS for label in labels)
    return Resolution(
        table._replace(columns=None, labels=labels if is_known else None, arrays=None), n_steps=2, follow=of_table
    )


def _after_set_index(table: Table, positional: Any, named: dict[str, Any]) -> Resolution:
    keys = positional[0] if positional else named.get("keys")
    gone = keys if type(keys) is list else [keys]
    is_known = table.labels is not None and all(type(key) is str for key in gone) and named.get("drop") is not False
    labels = tuple(label for label in table.labels or () if label not in gone) if is_known else None
    levels = tuple(gone) if is_known else ()
    return Resolution(
        table._replace(columns=None, labels=labels, index=None, levels=levels), n_steps=2, follow=of_table
    )


def _after_assign(table: Table, positional: Any, named: dict[str, Any]) -> Resolution:
    if table.labels is None or "**" in named:
        return Resolution(Table(None), n_steps=2, follow=of_table)
    labels = (*table.labels, *(name for name in named if name not in table.labels))
    return Resolution(table._replace(columns=None, labels=labels, arrays=None), n_steps=2, follow=of_table)


def _after_groupby(table: Table, positional: Any, named: dict[str, Any]) -> Resolution:
    return Resolution(Grouped(table), n_steps=2, follow=of_groups) if "axis" not in named else Resolution(n_steps=2)


def _after_pop(table: Table, positional: Any, named: dict[str, Any]) -> Resolution:
    resolution = _item(table, positional[0]) if positional else Resolution()
    return resolution._replace(n_steps=2)


_RESULTS = {
    "drop": _after_drop,
    "rename": _after_rename,
    "set_index": _after_set_index,
    "assign": _after_assign,
    "groupby": _after_groupby,
    "pop": _after_pop,
}


# Groups


def of_groups(grouped: Grouped, steps: tuple[Step, ...]) -> Resolution:
    step = steps[0]
    if step.kind == ITEM and type(step.value) is tuple and len(step.value) > 1:
        return Resolution()  # a list to pandas 1, refused by later ones whatever the columns are
    if step.kind == ITEM:
        resolution = _items(grouped.table, step.value) if type(step.value) is list else _item(grouped.table, step.value)
        is_table = type(resolution.value) is Table
        return Resolution(
            Grouped(resolution.value) if is_table else MISSING,
            resolution.missing,
            follow=of_groups if is_table else None,
        )
    if step.kind == ATTRIBUTE and len(steps) > 1 and steps[1].kind == CALL and step.value in ("agg", "aggregate"):
        return Resolution(missing=tuple(_columns_named(grouped.table, "agg", *_unpacked(steps[1]))), n_steps=2)
    return Resolution()


def _unpacked(step: Step) -> tuple[Any, dict[str, Any]]:
    return step.value[0], dict(step.value[1])


# Series


def of_values(values: Values, steps: tuple[Step, ...]) -> Resolution:
    step, after = steps[0], steps[1] if len(steps) > 1 else None
    if step.kind == ITEM:
        return _label_of(values, step.value)
    if step.kind != ATTRIBUTE:
        return Resolution(missing=(Missing("attributes", {"type": "pandas.Series", "attribute": "__call__"}),))
    if after is not None and after.kind == ITEM and step.value in _INDEXERS:
        return _position_of(values, step.value, after.value)
    if step.value in _ACCESSORS:
        return _accessor(values, step.value)
    return _series_attribute(values, step.value, after)


def _label_of(values: Values, item: Any) -> Resolution:
    """`series[label]`; a number is looked up as a label where labels are integers, and else only by pandas."""
    if values.index is None or is_multi(values.index) or type(item) not in INDICES:
        return Resolution()
    array = None if storage.is_range(values.index) else ndarray_of(storage.index_values(values.index))
    has_numbers = storage.is_range(values.index) or array is not None and array.dtype.kind in "iu"
    if has_numbers or type(item) is str:
        return Resolution(missing=tuple(_rows_missing(values.index, item)))
    return Resolution()


def _position_of(values: Values, indexer: str, item: Any) -> Resolution:
    size = None if values.index is None else length_of(values.index)
    missing = _beyond(item, size, "rows") if indexer in ("iloc", "iat") else _rows_missing(values.index, item)
    return Resolution(missing=tuple(missing), n_steps=2)


def _accessor(values: Values, name: str) -> Resolution:
    """`.str`, `.dt` and `.cat` exist for some dtypes alone."""
    if values.array is None or _has_accessor(values.array, name) is not False:
        return Resolution(note=PROPERTY)
    fact = {"type": "pandas.Series", "attribute": name, "dtype": column_values.dtype_text(values.array)}
    return Resolution(missing=(Missing("attributes", dict(fact, why=f".{name} needs {_ACCESSORS[name]}")),))


def _has_accessor(array: Any, name: str) -> bool | None:
    dtype = column_values.dtype_text(array)
    if name == "cat":
        return dtype == "category"
    if name == "dt":
        is_time = dtype.startswith(("datetime", "timedelta", "period", "timestamp", "date", "duration", "time"))
        return None if dtype == "category" else is_time
    if dtype == "object":
        return _has_text(array)
    if dtype.startswith(("str", "large_string")) or dtype == "category":
        return None
    return False


def _has_text(array: Any) -> bool | None:
    """False for an array of objects among which there is no text, and something else."""
    kinds = [kind for kind, _ in counted(array[:100_000].tolist().__iter__)]
    if any(kind is str or kind is bytes for kind in kinds):
        return True
    plain = [kind for kind in kinds if kind is not type(None) and kind is not float]
    return False if plain and all(kind in NUMBERS for kind in plain) and len(array) <= 100_000 else None


def _series_attribute(values: Values, name: str, after: Step | None) -> Resolution:
    module = pandas()
    if _is_on_class(module.Series, name):
        is_call = after is not None and after.kind == CALL
        if is_call and name in _SAME_COLUMNS - _OTHER_DTYPES - {"reset_index", "set_axis"}:
            if after is not None and dict(after.value[1]).get("inplace") is True:
                return Resolution(None, n_steps=2)
            return Resolution(values._replace(index=None), n_steps=2, follow=of_values)
        if name == "index" and values.index is not None:
            return Resolution(values.index)
        is_method = callable(class_dict_value(module.Series, name))
        return Resolution(n_steps=2 if is_call else 1, note="" if is_call else METHOD if is_method else PROPERTY)
    if values.index is None or has_label(values.index, name) is not False:
        return Resolution()
    fact = {"type": "pandas.Series", "attribute": name, "similar": _similar_attributes(module.Series, name, [])}
    return Resolution(missing=(Missing("attributes", fact),))


def _of_index(index: Any, step: Step) -> Resolution | None:
    if step.kind != ITEM or type(step.value) is not int:
        return None if step.kind == ATTRIBUTE else Resolution()
    beyond = _beyond(step.value, length_of(index), "index")
    if beyond:
        return Resolution(missing=tuple(beyond))
    labels = labels_of(index, step.value + 1) if 0 <= step.value < _MOST_LABELS else []
    return Resolution(labels[step.value]) if labels and type(labels[-1]) in PLAIN else Resolution()


# What a target names


def columns_asked(asked: Asked, mentioned: Iterable[str], labels: list[Any]) -> list[int]:
    """Positions of the columns that the target names, in the order of the frame."""
    words = {*mentioned, *asked.attributes}
    numbers = {item for value in asked.items for item in _flat(value) if type(item) is int}
    firsts = [label[0] if type(label) is tuple and label else label for label in labels]
    return [at for at, label in enumerate(firsts) if type(label) is str and label in words or _is_in(label, numbers)]


def keys_taken_as_unique(asked: Asked) -> Iterator[list[Any]]:
    """Columns that a call of the target expects to be unique together: those of a pivot, of a checked new index."""
    for method, positional, named in asked.calls:
        given = dict(named)
        if method == "pivot":
            keys = [*_flat(given.get("index")), *_flat(given.get("columns"))]
        elif method == "set_index" and (given.get("verify_integrity") is True or positional and _is_unstacked(asked)):
            keys = list(_flat(positional[0] if positional else given.get("keys")))
        else:
            continue
        plain = [key for key in keys if type(key) in INDICES]
        if plain:
            yield plain


def _is_unstacked(asked: Asked) -> bool:
    names = {step.value for chain in asked.chains for step in chain.steps if step.kind == ATTRIBUTE}
    return bool(names & {"unstack", "reindex", "to_xarray"})


def _is_in(label: Any, numbers: set[int]) -> bool:
    return type(label) is int and label in numbers


def _flat(value: Any) -> Iterable[Any]:
    return value if type(value) in ROWS else [value]
