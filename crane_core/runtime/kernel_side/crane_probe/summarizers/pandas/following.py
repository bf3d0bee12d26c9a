"""What a chain finds in stored frames, series, groups and indexes: columns, labels, positions, accessors.

Knows what subscripts and the arguments of common methods name. What a method would give is not known here: the chain
ends behind it.
"""

from __future__ import annotations

import ast
import re
from typing import Any, Iterable, Iterator, Mapping, NamedTuple

from ...anatomy import (
    MISSING,
    class_dict,
    instance_dict,
    is_kind,
    mro_of,
    own_dict,
    owner_of,
    package_of,
    stored_on,
)
from ...chains.following import (
    METHOD,
    PROPERTY,
    Missing,
    Resolution,
    lacking,
    similar,
)
from ...kinds import (
    INDICES,
    LABELS,
    LISTED,
    PLAIN,
    REAL,
    ROWS,
    SINGLE,
    Kinds,
    counted,
)
from ...syntax.asked import ATTRIBUTE, CALL, ITEM, AskedName, ChainStep, Steps
from . import columns as column_values
from . import storage
from .labels import has_label
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

# A frame with more columns is a matrix: its labels are not asked for by name.
_MOST_LABELS = 20_000
_CHOSEN = Kinds(str, int, list)
_MASK = Kinds(bool)
_STRINGS = Kinds(str, bytes)
# Of a longer column of objects the first ones say whether there are texts.
_SEARCHED = 100_000
_NAMES_COLUMNS: dict[str, tuple[tuple[int, str], ...]] = {
    "groupby": ((0, "by"),),
    "sort_values": ((0, "by"),),
    "set_index": ((0, "keys"),),
    # Position -1: only by keyword.
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
    **dict.fromkeys(
        ("scatter", "line", "bar", "barh", "area", "hexbin"),
        ((0, "x"), (1, "y")),
    ),
}
"""Methods of a frame (and of its `plot`) whose arguments name columns: position (-1: none), and keyword.

Without those that do not look for them where there are no rows: drop_duplicates, duplicated.
"""
_DRAWS = {
    "plot",
    "scatter",
    "line",
    "bar",
    "barh",
    "area",
    "hexbin",
    "boxplot",
    "hist",
}
_OR_LEVELS = {"groupby", "sort_values", "pivot_table", "merge", "join"}
"""Methods that take the name of an index level in place of a column."""
_DICTS_OF_COLUMNS = {"astype": "dtype", "agg": "func", "aggregate": "func"}
_MORE_NAMES = {"resolvers", "local_dict", "global_dict", "level"}
_NO_COLUMN = re.compile(
    r"(?:_at_|ilevel_|clevel_).*"
    r"|index|columns|True|False|None|inf|Inf|Timestamp|datetime|list|tuple"
)
"""What the text of a query may name without a column of that name."""
_ACCESSORS = {"str": "text", "dt": "datetimelike values", "cat": "categories"}


class FollowedTable(NamedTuple):
    """A frame: labels (None: not known), index of rows and of columns, arrays by label, names of index levels."""

    labels: tuple[Any, ...] | None
    index: Any
    columns: Any
    arrays: Mapping[Any, Any] = {}
    levels: tuple[Any, ...] = ()


class Values(NamedTuple):
    """A series, or a column of a frame: its array and its index."""

    array: Any
    index: Any


class Grouped(NamedTuple):
    """A frame grouped by some of its columns."""

    table: FollowedTable


def follow(value: Any, steps: Steps) -> Resolution | None:
    """Follows from an object of pandas itself; None for what the general rule knows."""
    module = pandas()
    if package_of(type(value)) != "pandas":
        return None
    # An attribute that the notebook has set on the object comes first.
    if steps[0].kind == ATTRIBUTE and steps[0].value in own_dict(value):
        return None
    if is_kind(value, module.DataFrame):
        return of_table(table_of(value), steps)
    if is_kind(value, module.Series):
        return of_values(
            Values(series_values(value), series_index(value)), steps
        )
    if is_kind(value, module.Index):
        return _of_index(value, steps[0])
    # GroupBy keeps the frame that it groups as `obj`.
    held = instance_dict(value)
    if "obj" in held and is_kind(held["obj"], module.DataFrame):
        return of_groups(Grouped(table_of(held["obj"])), steps)
    return None


def has_attribute(value: Any, name: str) -> bool | None:
    """Whether a label is the attribute. None for a class of the notebook."""
    if package_of(type(value)) != "pandas" or not is_kind(
        value, pandas().Series
    ):
        return None
    # A label of the index is an attribute of a Series, as a column is of a frame.
    return has_label(series_index(value), name)


def table_of(value: Any) -> FollowedTable:
    """What is known of a real frame."""
    frame = frame_of(value)
    if length_of(frame.columns) > _MOST_LABELS:
        return FollowedTable(None, frame.index, frame.columns)
    labels = tuple(labels_of(frame.columns))
    if not all(
        part in PLAIN
        for label in labels
        for part in map(type, label if type(label) is tuple else (label,))
    ):
        return FollowedTable(
            None, frame.index, frame.columns
        )  # times and intervals are found by texts and numbers too
    held = {
        label: column.values for label, column in zip(labels, columns_of(frame))
    }
    return FollowedTable(
        labels,
        frame.index,
        frame.columns,
        held,
        tuple(index_names(frame.index)),
    )


def _first_of(label: Any) -> Any:
    """The first level of a label with several, another label itself."""
    return label[0] if type(label) is tuple and label else label


def _firsts(labels: Iterable[Any]) -> set[Any]:
    """The first level of labels with several."""
    return {
        _first_of(label) for label in labels if type(label) is tuple and label
    }


# Frames


def of_table(table: FollowedTable, steps: Steps) -> Resolution:
    """Follows one or more steps from a frame."""
    step = steps[0]
    if step.kind == ITEM:
        return _item(table, step.value)
    if step.kind != ATTRIBUTE:
        return lacking(
            "attributes", type="pandas.DataFrame", attribute="__call__"
        )
    found = _of_a_moment(table, steps) if len(steps) > 1 else None
    return found or _attribute(table, step.value)


def _of_a_moment(table: FollowedTable, steps: Steps) -> Resolution | None:
    """Of loc and iloc, followed with their subscript, and of methods, with their arguments."""
    name, after = steps[0].value, steps[1]
    if after.kind == ITEM:
        return (
            _INDEXERS[name](table, after.value) if name in _INDEXERS else None
        )
    if after.kind == CALL:
        return _call(table, name, after.value)
    # `frame.plot.scatter(x=...)` names columns two steps further.
    if name == "plot" and [step.kind for step in steps[2:3]] == [CALL]:
        drawn = _columns_named(table, after.value, *_unpacked(steps[2]))
        return Resolution(missing=tuple(drawn), n_steps=3)
    return None


def _attribute(table: FollowedTable, name: str) -> Resolution:
    module = pandas()
    kept = {"index": table.index, "columns": table.columns}
    if name in kept:
        return Resolution(kept[name])
    if name == "shape":
        return Resolution((length_of(table.index), length_of(table.columns)))
    # Methods and properties of the class win over columns of that name.
    stored = stored_on(module.DataFrame, name)
    if stored is not MISSING:
        return Resolution(note=METHOD if callable(stored) else PROPERTY)
    if table.labels is None:
        return Resolution()
    if name in table.labels:
        return _column(table, name)
    # Columns with two levels: `frame.price` gives those below.
    if name in _firsts(table.labels):
        return Resolution()
    names = [label for label in table.labels if type(label) is str]
    return lacking(
        "attributes",
        type="pandas.DataFrame",
        attribute=name,
        similar=_similar_attributes(module.DataFrame, name, names),
    )


def _similar_attributes(kind: Any, name: str, labels: list[str]) -> list[str]:
    own = [
        key
        for parent in mro_of(kind)
        for key in class_dict(parent)
        if not key.startswith("_")
    ]
    return similar(name, [*labels, *own])


def _column(table: FollowedTable, label: Any) -> Resolution:
    # A label that occurs twice gives a frame, not a column.
    if table.labels is not None and table.labels.count(label) > 1:
        return Resolution()
    return Resolution(
        Values(table.arrays[label], table.index), follow=of_values
    )


def _item(table: FollowedTable, item: Any) -> Resolution:
    if type(item) is list:
        # A list of True and False selects rows.
        is_mask = bool(item) and _MASK.hold_all(item)
        return Resolution(
            missing=() if is_mask else tuple(_missing(table, item))
        )
    # Labels that are times are found by texts as well: pandas alone can tell.
    if table.labels is None or type(item) not in LABELS or _holds_unknown(item):
        return Resolution()
    if item in table.labels:
        return _column(table, item)
    # A tuple may name a part of columns with several levels.
    if not {item, _first_of(item)}.isdisjoint(_firsts(table.labels)):
        return Resolution()
    return Resolution(missing=(_no_column(table, item),))


def _holds_unknown(item: Any) -> bool:
    return type(item) is tuple and any(type(part) not in PLAIN for part in item)


def _missing(
    table: FollowedTable, items: Any, *, or_levels: bool = False
) -> list[Missing]:
    """Lacks for those labels that are known and not among the columns."""
    if table.labels is None:
        return []
    there = {*table.labels, *_firsts(table.labels)}
    if or_levels:
        there.update(table.levels)
    # A tuple is one label where labels are tuples, else a list of labels.
    is_list = type(items) in LISTED and items not in _tuples_among(table)
    return [
        _no_column(table, item)
        for item in (items if is_list else [items])
        if _is_label(item) and item not in there
    ]


def _is_label(item: Any) -> bool:
    if type(item) is tuple:
        return not _holds_unknown(item)
    return type(item) in SINGLE


def _tuples_among(table: FollowedTable) -> tuple[Any, ...]:
    return tuple(label for label in table.labels or () if type(label) is tuple)


def _no_column(table: FollowedTable, label: Any) -> Missing:
    labels = table.labels or ()
    fact = {
        "type": "pandas.DataFrame",
        "column": label,
        "similar": similar(label, labels),
        "n_columns": len(labels),
    }
    # Asking for a column by the name of an index level is a common mistake.
    if label in table.levels:
        fact["is_name_of_index_level"] = True
    return Missing("columns", fact)


# Indexers


def _rows_and_columns(item: Any) -> tuple[Any, Any]:
    """What an indexer selects: one subscript selects rows, of all columns."""
    is_pair = type(item) is tuple and len(item) == 2
    return item if is_pair else (item, slice(None))


def _loc(table: FollowedTable, item: Any) -> Resolution:
    rows, columns = _rows_and_columns(item)
    # With several levels, a tuple names one row.
    if type(item) is tuple and _may_be_of_levels(table.index, rows):
        return Resolution()
    missing = _rows_missing(table.index, rows)
    if type(columns) in _CHOSEN:
        missing += _missing(table, columns)
    return Resolution(missing=tuple(missing), n_steps=2)


def _may_be_of_levels(index: Any, rows: Any) -> bool:
    """True where a tuple may be one label of an index with several levels, not a row and a column."""
    return type(rows) is not slice and is_multi(index)


def _rows_missing(index: Any, rows: Any) -> list[Missing]:
    """Row labels that are needed and not in the index."""
    if is_multi(index):
        return []
    asked = rows if type(rows) is list else [rows]
    return [
        Missing(
            "keys",
            {
                "label": label,
                "in": "index",
                "similar": _similar_labels(index, label),
            },
        )
        for label in asked
        if type(label) in SINGLE and has_label(index, label) is False
    ]


def _similar_labels(index: Any, label: Any) -> list[str]:
    return similar(label, labels_of(index, 2000)) if type(label) is str else []


def _iloc(table: FollowedTable, item: Any) -> Resolution:
    rows, columns = _rows_and_columns(item)
    missing = _beyond(rows, length_of(table.index), "rows") + _beyond(
        columns, length_of(table.columns), "columns"
    )
    return Resolution(missing=tuple(missing), n_steps=2)


def _beyond(positions: Any, size: int, what: str) -> list[Missing]:
    """Positions that are needed and beyond the size."""
    asked = positions if type(positions) is list else [positions]
    beyond = [
        position
        for position in asked
        if type(position) is int and not -size <= position < size
    ]
    return [
        Missing("keys", {"index": position, "length": size, "in": what})
        for position in beyond
    ]


_INDEXERS = {"loc": _loc, "at": _loc, "iloc": _iloc, "iat": _iloc}


# Methods of frames


def _call(table: FollowedTable, name: str, arguments: Any) -> Resolution:
    positional, named = arguments[0], dict(arguments[1])
    missing = _columns_named(table, name, positional, named)
    if missing:
        return Resolution(missing=tuple(missing), n_steps=2)
    # axis=1 groups columns, by labels of the index.
    if name == "groupby" and "axis" not in named:
        return Resolution(Grouped(table), n_steps=2, follow=of_groups)
    return (
        Resolution(n_steps=2)
        if owner_of(pandas().DataFrame, name) is not None
        else _attribute(table, name)
    )


def _columns_named(
    table: FollowedTable, name: str, positional: Any, named: dict[str, Any]
) -> list[Missing]:
    missing: list[Missing] = []
    for at, keyword in _NAMES_COLUMNS.get(name, ()):
        given = (
            positional[at] if 0 <= at < len(positional) else named.get(keyword)
        )
        if given is not None and not _names_no_columns(
            table, name, given, positional, named
        ):
            missing += _missing(table, given, or_levels=name in _OR_LEVELS)
    return [
        *missing,
        *_missing_in_dict(table, name, positional, named),
        *_missing_in_drop(table, name, positional, named),
        *_missing_in_query(table, name, positional, named),
    ]


def _missing_in_dict(
    table: FollowedTable, name: str, positional: Any, named: dict[str, Any]
) -> list[Missing]:
    """Keys of the dicts that some methods take."""
    if name not in _DICTS_OF_COLUMNS:
        return []
    given: Any = (
        positional[0] if positional else named.get(_DICTS_OF_COLUMNS[name])
    )
    # agg by rows (axis=1) takes names of rows.
    is_by_row = name != "astype" and ("axis" in named or len(positional) > 1)
    is_dict = type(given) is dict and not is_by_row
    return _missing(table, list(given)) if is_dict else []


def _names_no_columns(
    table: FollowedTable,
    name: str,
    given: Any,
    positional: Any,
    named: dict[str, Any],
) -> bool:
    """Whether an argument may name something else: rows by `axis`, columns by position in plots, a value for each row.

    Keys in a list as long as the frame, not all of them columns, are values to group by.
    """
    if name == "melt":
        return "col_level" in named or len(positional) > 4
    if name == "dropna":
        return "axis" in named or bool(positional)
    if name in ("groupby", "sort_values") and "axis" in named:
        return True
    if name in _DRAWS:
        # plot(x=0) means the first column.
        return int in Kinds(
            *map(type, given if type(given) in LISTED else [given])
        )
    keys = {
        "groupby": [given],
        "pivot_table": [
            *positional[1:3],
            named.get("index"),
            named.get("columns"),
        ],
    }
    n_keys = sum(map(_n_keys, keys.get(name, ())))
    return name in keys and length_of(table.index) == n_keys


def _n_keys(given: Any) -> int:
    return len(given) if type(given) in LISTED else int(given is not None)


def _missing_in_drop(
    table: FollowedTable, name: str, positional: Any, named: dict[str, Any]
) -> list[Missing]:
    # errors="ignore" drops what is there; `level` names a level of the index.
    if name != "drop" or named.get("errors") == "ignore" or "level" in named:
        return []
    columns, rows = _dropped(positional, named)
    missing = _missing(table, columns) if columns is not None else []
    return [
        *missing,
        *(_rows_missing(table.index, rows) if rows is not None else []),
    ]


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


def _missing_in_query(
    table: FollowedTable, name: str, positional: Any, named: Mapping[str, Any]
) -> list[Missing]:
    """Names in the text of a query that are not columns."""
    text = positional[0] if name == "query" and positional else None
    # Resolvers bring other names.
    if table.labels is None or set(named) & _MORE_NAMES:
        return []
    found = _missing(table, _names_in_query(text), or_levels=True)
    return [
        missing._replace(fact=dict(missing.fact, **{"in": "query"}))
        for missing in found
    ]


def _names_in_query(text: Any) -> list[str]:
    """The names in the text of a query that can only be columns or levels of the index."""
    # Backticks quote names that Python cannot read.
    if type(text) is not str or "`" in text:
        return []
    try:
        # "@name" is a variable of the notebook.
        tree = ast.parse(text.strip().replace("@", "_at_"), mode="eval")
    except SyntaxError:
        return []
    nodes = list(ast.walk(tree))
    # Functions in a query are called by name.
    called = [id(node.func) for node in nodes if isinstance(node, ast.Call)]
    names = [
        node.id
        for node in nodes
        if isinstance(node, ast.Name) and id(node) not in called
    ]
    return [name for name in names if not _NO_COLUMN.fullmatch(name)]


# Groups


def of_groups(grouped: Grouped, steps: Steps) -> Resolution:
    """Follows one or more steps from a frame that is grouped."""
    step, kinds = steps[0], [each.kind for each in steps[:2]]
    if step.kind == ITEM:
        # Of several a tuple is a list to pandas 1, refused by later ones whatever the columns are.
        is_several = type(step.value) is tuple and len(step.value) > 1
        missing = () if is_several else _item(grouped.table, step.value).missing
        return Resolution(missing=missing)
    if kinds == [ATTRIBUTE, CALL] and step.value in ("agg", "aggregate"):
        found = _columns_named(grouped.table, "agg", *_unpacked(steps[1]))
        return Resolution(missing=tuple(found), n_steps=2)
    return Resolution()


def _unpacked(step: ChainStep) -> tuple[Any, dict[str, Any]]:
    return step.value[0], dict(step.value[1])


# Series


def of_values(values: Values, steps: Steps) -> Resolution:
    """Follows one or more steps from a series or a column."""
    step, after = steps[0], steps[1] if len(steps) > 1 else None
    if step.kind == ITEM:
        return _label_of(values, step.value)
    if step.kind != ATTRIBUTE:
        return lacking("attributes", type="pandas.Series", attribute="__call__")
    if after is not None and after.kind == ITEM and step.value in _INDEXERS:
        return _position_of(values, step.value, after.value)
    if step.value in _ACCESSORS:
        return _accessor(values, step.value)
    return _series_attribute(values, step.value, after)


def _label_of(values: Values, item: Any) -> Resolution:
    """`series[label]`; a number is looked up as a label where labels are integers, and else only by pandas."""
    # An integer is a position or a label, by the kind of labels and by release.
    if is_multi(values.index) or type(item) not in INDICES:
        return Resolution()
    if type(item) is str or _has_integer_labels(values.index):
        return Resolution(missing=tuple(_rows_missing(values.index, item)))
    return Resolution()


def _has_integer_labels(index: Any) -> bool:
    if storage.is_range(index):
        return True
    array = ndarray_of(storage.index_values(index))
    return array is not None and array.dtype.kind in "iu"


def _position_of(values: Values, indexer: str, item: Any) -> Resolution:
    missing = (
        _beyond(item, length_of(values.index), "rows")
        if indexer in ("iloc", "iat")
        else _rows_missing(values.index, item)
    )
    return Resolution(missing=tuple(missing), n_steps=2)


def _accessor(values: Values, name: str) -> Resolution:
    """`.str`, `.dt` and `.cat` exist for some dtypes alone."""
    # None: only pandas can tell.
    if _has_accessor(values.array, name) is not False:
        return Resolution(note=PROPERTY)
    return lacking(
        "attributes",
        type="pandas.Series",
        attribute=name,
        dtype=column_values.dtype_text(values.array),
        why=f".{name} needs {_ACCESSORS[name]}",
    )


def _has_accessor(array: Any, name: str) -> bool | None:
    dtype = column_values.dtype_text(array)
    if name == "cat":
        return dtype == "category"
    if name == "dt":
        is_time = dtype.startswith(
            (
                "datetime",
                "timedelta",
                "period",
                "timestamp",
                "date",
                "duration",
                "time",
            )
        )
        # Categories may be times, so .dt may exist.
        return None if dtype == "category" else is_time
    if dtype == "object":
        return _has_text(array)
    # .str exists for categories of texts.
    if dtype.startswith(("str", "large_string")) or dtype == "category":
        return None
    return False


def _has_text(array: Any) -> bool | None:
    """False for objects that are all numbers, or all True and False; pandas takes a mixture for one of texts."""
    kinds = [kind for kind, _ in counted(array[:_SEARCHED].tolist().__iter__)]
    if any(map(_STRINGS.__contains__, kinds)):
        return True
    plain = [kind for kind in kinds if kind is not type(None)]
    is_numbers = int in Kinds(*plain) and all(map(REAL.__contains__, plain))
    is_one = is_numbers or plain == [bool]
    # Beyond that not all values were looked at.
    return False if is_one and len(array) <= _SEARCHED else None


def _series_attribute(
    values: Values, name: str, after: ChainStep | None
) -> Resolution:
    module = pandas()
    stored = stored_on(module.Series, name)
    if stored is not MISSING:
        if name == "index":
            return Resolution(values.index)
        if after is not None and after.kind == CALL:
            return Resolution(n_steps=2)
        return Resolution(note=METHOD if callable(stored) else PROPERTY)
    # A label of the index may be the attribute.
    if has_label(values.index, name) is not False:
        return Resolution()
    return lacking(
        "attributes",
        type="pandas.Series",
        attribute=name,
        similar=_similar_attributes(module.Series, name, []),
    )


def _of_index(index: Any, step: ChainStep) -> Resolution | None:
    if step.kind != ITEM or type(step.value) is not int:
        return None if step.kind == ATTRIBUTE else Resolution()
    beyond = _beyond(step.value, length_of(index), "index")
    if beyond:
        return Resolution(missing=tuple(beyond))
    is_near = 0 <= step.value < _MOST_LABELS
    labels = labels_of(index, step.value + 1) if is_near else []
    is_plain = bool(labels) and type(labels[-1]) in PLAIN
    return Resolution(labels[step.value]) if is_plain else Resolution()


# What a target names


def columns_asked(
    asked: AskedName, mentioned: Iterable[str], labels: list[Any]
) -> list[int]:
    """Positions of the columns that the target names, in the order of the frame."""
    # A name may be spelled anywhere in the cell: in a list, a dict, a string.
    words = {*mentioned, *asked.attributes}
    flat = [item for value in asked.items for item in _flat(value)]
    numbers = {item for item in flat if type(item) is int}
    wanted = {*words, *numbers}
    firsts = map(_first_of, labels)
    return [
        at
        for at, label in enumerate(firsts)
        if type(label) in INDICES and label in wanted
    ]


def keys_taken_as_unique(asked: AskedName) -> Iterator[list[Any]]:
    """Columns that a call of the target expects to be unique together: those of a pivot, of a checked new index."""
    for method, positional, named in asked.calls:
        keys = _unique_keys(method, positional, dict(named), asked)
        plain = [key for key in keys if type(key) in INDICES]
        if plain:
            yield plain


def _unique_keys(
    method: str, positional: Any, named: dict[str, Any], asked: AskedName
) -> Iterable[Any]:
    # pivot() raises "Index contains duplicate entries" for the rest.
    if method == "pivot":
        return [*_flat(named.get("index")), *_flat(named.get("columns"))]
    # set_index followed by unstack needs each label once.
    is_checked = named.get("verify_integrity") is True
    if method == "set_index" and (
        is_checked or positional and _is_unstacked(asked)
    ):
        return _flat(positional[0] if positional else named.get("keys"))
    return ()


def _is_unstacked(asked: AskedName) -> bool:
    names = {name for chain in asked.chains for name in chain.attributes}
    return bool(names & {"unstack", "reindex", "to_xarray"})


def _flat(value: Any) -> Iterable[Any]:
    return value if type(value) in ROWS else [value]
