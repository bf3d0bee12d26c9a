"""pandas: frames, series, indexes, groups, scalars: shapes, dtypes, and per column what its values are.

All columns that the target names are told, others up to the limit. How pandas stores its data is in pandas_storage.py,
what a chain will find in pandas_following.py.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from . import arrays, column_values, pandas_following
from .anatomy import instance_dict, is_kind, name_of, type_name
from .arrays import Ranges
from .budget import OverBudgetError
from .column_values import Facts, Known
from .groups import merged
from .pandas_following import columns_asked, keys_taken_as_unique
from .pandas_labels import all_plain, index_facts, repeated
from .pandas_storage import (
    Column,
    Frame,
    columns_of,
    frame_of,
    index_values,
    is_multi,
    is_range,
    labels_of,
    length_of,
    ndarray_of,
    pandas,
    series_index,
    series_name,
    series_values,
    to_list,
)

_NESTED_COLUMNS = 8
_NS_PER_KEY = 300


def data_frame(value: Any, look: Any) -> dict[str, Any]:
    """Shape; dtypes; has_nan of the whole; facts per column; index; labels of all columns."""
    frame = frame_of(value)
    n_rows, n_columns = frame.shape
    columns, labels = columns_of(frame), labels_of(frame.columns, look.limits.names * 10)
    names = _names(labels, look)
    shown = _shown(labels, n_columns, look)
    ranges = _block_ranges(frame, look)
    facts = {
        names[at]: _facts(columns[at], ranges, look, is_brief=number >= look.limits.columns)
        for number, at in enumerate(shown)
    }
    dtypes = [column_values.dtype_text(column.values) for column in columns]
    summary = {
        "structure": {"shape": [n_rows, n_columns]},
        "representation": {"dtypes": {names[at]: dtypes[at] for at in shown}},
        "values": {
            "has_nan": _has_nan(columns, ranges, facts, n_rows),
            "per_column": {name: found.values for name, found in facts.items()},
        },
    }
    representation = merged(
        {
            "columns": _listed(names, n_columns, look),
            "dtypes_summary": _counts(dtypes),
            "column_index": _labels_facts(frame, look),
        },
        {"per_column": {name: found.representation for name, found in facts.items() if found.representation}},
    )
    values = merged(
        {"per_column": {name: found.more for name, found in facts.items() if found.more}},
        _over_all_columns(columns, ranges, names, labels),
    )
    values = merged(values, {"duplicates": _duplicates(columns, labels, n_rows, look)})
    plus = {"structure": {"index": index_facts(frame.index, look)}, "representation": representation, "values": values}
    return dict(summary, plus=plus)


def _names(labels: list[Any], look: Any) -> list[str]:
    """The labels as texts; a label that stands twice is told apart by its position."""
    texts = [look.label(label) for label in labels]
    double = set(repeated(texts))
    return [f"{text} [{at}]" if text in double else text for at, text in enumerate(texts)]


def _shown(labels: list[Any], n_columns: int, look: Any) -> list[int]:
    """Positions of the columns that are told: those the target names, then the first ones."""
    asked = columns_asked(look.asked(), look.mentioned, labels)
    n_others = look.limits.columns if not look.is_nested else _NESTED_COLUMNS
    return list(dict.fromkeys([*asked[: look.limits.asked], *range(min(n_columns, n_others))]))[
        : max(n_others, len(asked))
    ]


def _listed(names: list[str], n_columns: int, look: Any) -> list[str]:
    shown = names[: look.limits.names]
    return shown if n_columns <= len(shown) else [*shown, f"\u2026 {n_columns - len(shown)} more"]


def _counts(dtypes: list[str]) -> dict[str, int]:
    return {dtype: dtypes.count(dtype) for dtype in dict.fromkeys(dtypes)}


def _block_ranges(frame: Frame, look: Any) -> dict[int, Ranges | None]:
    """Ranges of all columns of the blocks that hold numbers, each block in one walk through its memory."""
    found: dict[int, Ranges | None] = {}
    for number, block in enumerate(frame.blocks):
        array = ndarray_of(block.values)
        if array is None or array.ndim != 2 or name_of(type(block.values)) == "PeriodArray":
            continue
        if array.dtype.kind in arrays.NUMERIC + arrays.TIMES:
            found[number] = _ranges_in_time(array, look)
    return found


def _ranges_in_time(array: Any, look: Any) -> Ranges | None:
    try:
        return arrays.ranges(array, look)
    except OverBudgetError:
        # What takes too long is told as not computed, column by column.
        return None


def _facts(column: Column, ranges: dict[int, Any], look: Any, *, is_brief: bool) -> Facts:
    known = ranges.get(column.block)
    return column_values.facts_of(column.values, look, Known(known, column.row if known is not None else 0, is_brief))


def _has_nan(columns: list[Column], ranges: Any, facts: Any, n_rows: int) -> Any:
    """Whether any column holds a missing value; text that says so where that was not looked for everywhere."""
    if not n_rows:
        return False
    if any(bool(found.n_nan.any()) for found in ranges.values() if found is not None):
        return True
    if any(found.values.get("has_nan") is True for found in facts.values()):
        return True
    n_known = sum(len(found.n_nan) for found in ranges.values() if found is not None)
    n_told = sum(1 for found in facts.values() if found.values.get("has_nan") is False)
    is_complete = n_known + _n_alone(columns, ranges) <= n_known + n_told and n_known + n_told >= len(columns)
    return False if is_complete else "not in the columns that are told; the others were not looked through"


def _n_alone(columns: list[Column], ranges: Any) -> int:
    return sum(1 for column in columns if ranges.get(column.block) is None)


def _duplicates(columns: list[Column], labels: list[Any], n_rows: int, look: Any) -> dict[str, Any]:
    """Of columns whose values the target takes for unique together: how many rows repeat them, and the first such."""
    found: dict[str, Any] = {}
    for keys in keys_taken_as_unique(look.asked()):
        if not all(key in labels for key in keys) or not look.affords(n_rows * len(keys) * _NS_PER_KEY):
            continue
        rows = list(zip(*(to_list(columns[labels.index(key)].values) for key in keys)))
        if all(all_plain(list(row)) for row in rows[:1]) and _are_hashable(columns, labels, keys):
            found[", ".join(map(str, keys))] = _counted_rows(rows, look)
    return found


def _are_hashable(columns: list[Column], labels: list[Any], keys: list[Any]) -> bool:
    """True when no value of these columns is an object of a class of which nothing is known."""
    arrays_of_keys = [columns[labels.index(key)].values for key in keys]
    return all(column_values.dtype_text(values) != "object" or all_plain(to_list(values)) for values in arrays_of_keys)


def _counted_rows(rows: list[Any], look: Any) -> dict[str, Any]:
    counts = Counter(rows)
    double = next((row for row, count in counts.items() if count > 1), None)
    facts: dict[str, Any] = {"n_duplicates": len(rows) - len(counts)}
    return facts if double is None else dict(facts, first=[look.scalar(part) for part in double])


def _over_all_columns(columns: list[Column], ranges: Any, names: list[str], labels: list[Any]) -> dict[str, Any]:
    """Facts about columns that need not be told one by one: missing values, infinite ones, labels that repeat."""
    n_nan: dict[str, int] = {}
    infinite: list[str] = []
    for at, column in enumerate(columns[: len(names)]):
        found = ranges.get(column.block)
        if found is not None:
            if found.n_nan[column.row]:
                n_nan[names[at]] = int(found.n_nan[column.row])
            if found.low.dtype.kind == "f" and _is_infinite(found.low[column.row], found.high[column.row]):
                infinite.append(names[at])
    double = [str(label) for label in repeated(labels)]
    facts: dict[str, Any] = {"n_nan": n_nan, "columns_with_inf": infinite, "repeated_columns": double}
    return {key: value for key, value in facts.items() if value}


def _is_infinite(*ends: Any) -> bool:
    return bool(arrays.numpy().isinf(ends).any())


def _labels_facts(frame: Frame, look: Any) -> dict[str, Any]:
    """The index of the columns where it is not the usual one of texts."""
    kinds = {type_name(type(label)) for label in labels_of(frame.columns, look.limits.names)}
    if is_multi(frame.columns):
        return index_facts(frame.columns, look)
    return {"label_types": sorted(kinds)} if kinds - {"str"} else {}


def series(value: Any, look: Any) -> dict[str, Any]:
    """Length, dtype, has_nan, value_info; name and index."""
    values, index = series_values(value), series_index(value)
    found = column_values.facts_of(values, look)
    info = {key: fact for key, fact in found.values.items() if key != "has_nan"}
    summary = {
        "structure": {"length": length_of(index)},
        "representation": {"dtype": column_values.dtype_text(values)},
        "values": {"has_nan": found.values.get("has_nan", "not computed"), "value_info": info},
    }
    name = series_name(value)
    representation = dict({"name": look.scalar(name)} if name is not None else {}, **found.representation)
    plus = {"structure": {"index": index_facts(index, look)}, "representation": representation}
    return dict(summary, plus=dict(plus, values=merged(found.more, _items(values, look))))


def _items(values: Any, look: Any) -> dict[str, Any]:
    """The values of a short series."""
    if not 0 < len(values) <= look.limits.values:
        return {}
    return {"items": [look.scalar(item) for item in column_values.items_of(values)]}


def index(value: Any, look: Any) -> dict[str, Any]:
    """An index: length, dtype, labels."""
    labels = [look.scalar(label) for label in labels_of(value, look.limits.names if length_of(value) < 1000 else 10)]
    plus = {"structure": {"index": index_facts(value, look)}, "values": {"labels": labels}}
    if is_multi(value) or is_range(value):
        return {"structure": {"length": length_of(value)}, "plus": plus}
    found = column_values.facts_of(index_values(value), look)
    return {
        "structure": {"length": length_of(value)},
        "representation": {"dtype": column_values.dtype_text(index_values(value))},
        "values": {"has_nan": found.values.get("has_nan", False)},
        "plus": plus,
    }


def extension_array(value: Any, look: Any) -> dict[str, Any]:
    """An array of pandas outside a series."""
    found = column_values.facts_of(value, look)
    return {
        "structure": {"length": len(value)},
        "representation": {"dtype": column_values.dtype_text(value)},
        "values": found.values,
        "plus": {"representation": found.representation, "values": merged(found.more, _items(value, look))},
    }


def groups(value: Any, look: Any) -> dict[str, Any]:
    """Rows grouped: of what, by what; nothing is grouped by looking."""
    held = instance_dict(value)
    inside = look.inside([("of", held["obj"])]) if "obj" in held else {}
    by = held.get("keys")
    facts = {"by": look.scalar(by) if not isinstance(by, list) else [look.scalar(key) for key in by]}
    plus: dict[str, Any] = {group: {"grouped": part} for group, part in inside.items() if part}
    return {"plus": merged(plus, {"values": facts})}


def moment(value: Any, look: Any) -> dict[str, Any]:
    return {"plus": {"values": {"value": look.scalar(value)}}}


def plain_scalar(value: Any) -> Any:
    """Times, periods, intervals and NA of pandas as texts; other objects as they are."""
    name = name_of(type(value))
    if name in ("Timestamp", "Timedelta", "Period", "Interval"):
        return str(value)
    return f"<{name.replace('Type', '')}>" if name in ("NAType", "NaTType") else value


def shape(value: Any) -> tuple[int, ...] | None:
    """(rows, columns) of a frame, (length,) of a series or index."""
    module = pandas()
    if is_kind(value, module.DataFrame):
        return frame_of(value).shape
    if is_kind(value, module.Series):
        return (length_of(series_index(value)),)
    return (length_of(value),) if is_kind(value, module.Index) else None


FOLLOW = pandas_following.follow
HAS_ATTRIBUTE = pandas_following.has_attribute
SHAPE = shape
SCALAR = plain_scalar
SUMMARIZERS = {
    "DataFrame": data_frame,
    "Series": series,
    "Index": index,
    "ExtensionArray": extension_array,
    **dict.fromkeys(("DataFrameGroupBy", "SeriesGroupBy"), groups),
    **dict.fromkeys(("Timestamp", "Timedelta", "Period", "Interval", "NAType", "NaTType"), moment),
}
