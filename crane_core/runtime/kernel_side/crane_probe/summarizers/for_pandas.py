"""pandas: frames, series, indexes, groups, scalars: shapes, dtypes, and per column what its values are.

Columns that the target names are stated, others up to the limit. How pandas stores its data is in pandas/storage.py,
what a chain will find in pandas/following.py.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

from ..anatomy import instance_dict, is_kind, name_of, type_name
from ..bounds import Facts, listed, merged
from ..budget import OverBudgetError
from ..contents import arrays
from ..contents.arrays import Ranges
from ..kinds import PLAIN
from .pandas import columns as column_values
from .pandas import following
from .pandas.columns import ColumnFacts, KnownColumn
from .pandas.following import columns_asked, keys_taken_as_unique
from .pandas.labels import all_plain, index_facts, repeated
from .pandas.storage import (
    Frame,
    StoredColumn,
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
# Columns beyond the limit whose facts a model over all columns may stumble on.
_OTHER_COLUMNS = 60
_COMPARED_LABELS = 20
_NS_PER_KEY = 300
_COUNTED_CLASSES = 4
"""Columns that the target names of which the rarest value is counted."""


class View(NamedTuple):
    """A frame as a state has it: what it stores, its columns, their names and dtypes as texts, ranges of its blocks."""

    frame: Frame
    columns: list[StoredColumn]
    labels: list[Any]
    names: list[str]
    dtypes: list[str]
    ranges: dict[int, Any]


def data_frame(value: Any, look: Any) -> Facts:
    """Shape; dtypes; has_nan of the whole; facts per column; index; labels of all columns."""
    frame = frame_of(value)
    columns, labels = (
        columns_of(frame),
        labels_of(frame.columns, look.limits.names * 10),
    )
    dtypes = [column_values.dtype_text(column.values) for column in columns]
    view = View(
        frame,
        columns,
        labels,
        _names(labels, look),
        dtypes,
        _block_ranges(frame, look),
    )
    shown = _shown(labels, len(columns), look)
    facts = {
        view.names[at]: _facts(
            view, at, look, is_brief=number >= look.limits.columns
        )
        for number, at in enumerate(shown)
    }
    for at in columns_asked(look.asked(), look.mentioned, labels)[
        :_COUNTED_CLASSES
    ]:
        # A split in proportion refuses a class of one row: `stratify=df["kind"]`.
        told = facts[view.names[at]]
        told.more.update(
            column_values.rarest(
                columns[at].values, told.values.get("num_unique"), look
            )
        )
    summary = {
        "structure": {"shape": list(frame.shape)},
        "representation": {
            "dtypes": {view.names[at]: dtypes[at] for at in shown}
        },
        "values": {
            "has_nan": _has_nan(view, facts),
            "per_column": {name: found.values for name, found in facts.items()},
        },
    }
    return merged(
        summary,
        {
            "plus": merged(
                _beyond(view, facts, look), _not_shown(view, shown, look)
            )
        },
    )


def _beyond(view: View, facts: dict[str, ColumnFacts], look: Any) -> Facts:
    """What the published extractor does not tell of the columns that are shown, and of all together."""
    representation = {
        "columns": listed(view.names[: look.limits.names], len(view.columns)),
        "dtypes_summary": _counts(view.dtypes),
        # Where all labels are texts, there is nothing to say about them.
        "column_index": _labels_facts(view.frame, look),
        "per_column": {
            name: found.representation
            for name, found in facts.items()
            if found.representation
        },
    }
    values = {
        "per_column": {
            name: found.more for name, found in facts.items() if found.more
        },
        "duplicates": _duplicates(view, look),
        **_over_all_columns(view),
    }
    return {
        "structure": {"index": index_facts(view.frame.index, look)},
        "representation": merged({}, representation),
        "values": merged({}, values),
    }


def _not_shown(view: View, shown: list[int], look: Any) -> Facts:
    """Of columns beyond the limit those that are not numbers: a model or a sum over all columns meets them as well."""
    told = set(shown)
    others = [
        at
        for at in range(len(view.names))
        if at not in told and not _is_number(view.columns[at])
    ]
    facts = {
        view.names[at]: _facts(view, at, look, is_brief=True)
        for at in others[:_OTHER_COLUMNS]
    }
    found = {
        name: merged(of_column.values, of_column.more)
        for name, of_column in facts.items()
    }
    dtypes = {
        view.names[at]: view.dtypes[at] for at in others[: look.limits.names]
    }
    return merged(
        {},
        {"representation": {"dtypes": dtypes}, "values": {"per_column": found}},
    )


def _is_number(column: StoredColumn) -> bool:
    array = ndarray_of(column.values)
    return array is not None and array.dtype.kind in arrays.NUMERIC


def _names(labels: list[Any], look: Any) -> list[str]:
    """The labels as texts; a label that occurs twice gets its position."""
    texts = [look.label(label) for label in labels]
    # `df["a"]` of a label that occurs twice is a frame: two columns must not become one entry.
    double = set(repeated(texts))
    return [
        f"{text} [{at}]" if text in double else text
        for at, text in enumerate(texts)
    ]


def _shown(labels: list[Any], n_columns: int, look: Any) -> list[int]:
    """Positions of the columns that are stated: those the target names, then the first ones."""
    asked = columns_asked(look.asked(), look.mentioned, labels)
    n_others = look.limits.columns if not look.is_nested else _NESTED_COLUMNS
    return list(
        dict.fromkeys(
            [*asked[: look.limits.asked], *range(min(n_columns, n_others))]
        )
    )[: max(n_others, len(asked))]


def _counts(dtypes: list[str]) -> dict[str, int]:
    return {dtype: dtypes.count(dtype) for dtype in dict.fromkeys(dtypes)}


def _block_ranges(frame: Frame, look: Any) -> dict[int, Ranges | None]:
    """Ranges of all columns of the blocks that hold numbers, each block in one walk through its memory."""
    found: dict[int, Ranges | None] = {}
    for number, block in enumerate(frame.blocks):
        array = ndarray_of(block.values)
        # Periods are stored as integers, whose range would be that of days since 1970.
        if (
            array is None
            or array.ndim != 2
            or name_of(type(block.values)) == "PeriodArray"
        ):
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


def _facts(view: View, at: int, look: Any, *, is_brief: bool) -> ColumnFacts:
    column = view.columns[at]
    known = view.ranges.get(column.block)
    return column_values.facts_of(
        column.values,
        look,
        KnownColumn(known, column.row if known is not None else 0, is_brief),
    )


def _has_nan(view: View, facts: dict[str, ColumnFacts]) -> Any:
    """Whether any column holds a missing value; text that says so where that was not looked for everywhere."""
    if not view.frame.shape[0]:
        return False
    known = [found for found in view.ranges.values() if found is not None]
    if any(bool(found.n_nan.any()) for found in known):
        return True
    if any(found.values.get("has_nan") is True for found in facts.values()):
        return True
    alone = [
        name
        for name, column in zip(view.names, view.columns)
        # Its missing values are not known from its block.
        if view.ranges.get(column.block) is None
    ]
    unknown = [
        name
        for name in alone
        if name not in facts or facts[name].values.get("has_nan") is not False
    ]
    if not unknown and len(view.names) == len(view.columns):
        return False
    # Not said to be free of NaN: an answer of "no" would be believed.
    return "not in the columns that are told; others were not looked through"


def _duplicates(view: View, look: Any) -> Facts:
    """Of columns whose values the target takes for unique together: how many rows repeat them, and the first such."""
    found: Facts = {}
    n_rows = view.frame.shape[0]
    for keys in keys_taken_as_unique(look.asked()):
        # Only what the target itself takes as unique (pivot, set_index with verify), as counting
        # costs.
        if not all(key in view.labels for key in keys) or not look.affords(
            n_rows * len(keys) * _NS_PER_KEY
        ):
            continue
        values = [view.columns[view.labels.index(key)].values for key in keys]
        if all(_is_hashable(each) for each in values):
            found[", ".join(map(str, keys))] = _counted_rows(
                list(zip(*map(to_list, values))), look
            )
    return found


def _is_hashable(values: Any) -> bool:
    """True when no value is an object of a class of which nothing is known."""
    return column_values.dtype_text(values) != "object" or all_plain(
        to_list(values)
    )


def _counted_rows(rows: list[Any], look: Any) -> Facts:
    # Rows are tuples of plain values here, so that a Counter runs no code of the notebook.
    counts = Counter(rows)
    double = next((row for row, count in counts.items() if count > 1), None)
    facts: Facts = {"n_duplicates": len(rows) - len(counts)}
    return (
        facts
        if double is None
        else dict(facts, first=[look.scalar(part) for part in double])
    )


def _over_all_columns(view: View) -> Facts:
    """Facts about columns that need not be stated one by one: missing values, infinite ones, labels that repeat."""
    n_nan: dict[str, int] = {}
    infinite: list[str] = []
    for name, column in zip(view.names, view.columns):
        found = view.ranges.get(column.block)
        if found is not None:
            if found.n_nan[column.row]:
                n_nan[name] = int(found.n_nan[column.row])
            if found.low.dtype.kind == "f" and _is_infinite(
                found.low[column.row], found.high[column.row]
            ):
                infinite.append(name)
    double = [str(label) for label in repeated(view.labels)]
    facts: Facts = {
        "n_nan": n_nan,
        "columns_with_inf": infinite,
        "repeated_columns": double,
    }
    return {key: value for key, value in facts.items() if value}


def _is_infinite(*ends: Any) -> bool:
    return bool(arrays.numpy().isinf(ends).any())


def _labels_facts(frame: Frame, look: Any) -> Facts:
    """The index of the columns where it is not the usual one of texts."""
    kinds = {
        type_name(type(label))
        for label in labels_of(frame.columns, look.limits.names)
    }
    if is_multi(frame.columns):
        return index_facts(frame.columns, look)
    return {"label_types": sorted(kinds)} if kinds - {"str"} else {}


def series(value: Any, look: Any) -> Facts:
    """Length, dtype, has_nan, value_info; name and index."""
    values, index = series_values(value), series_index(value)
    found = column_values.facts_of(values, look)
    # has_nan stands beside value_info in the published extractor.
    info = {key: fact for key, fact in found.values.items() if key != "has_nan"}
    summary = {
        "structure": {"length": length_of(index)},
        "representation": {"dtype": column_values.dtype_text(values)},
        "values": {
            "has_nan": found.values.get("has_nan", "not computed"),
            "value_info": info,
        },
    }
    name = series_name(value)
    representation = dict(
        {"name": look.scalar(name)} if name is not None else {},
        **found.representation,
    )
    plus = {
        "structure": {"index": index_facts(index, look)},
        "representation": representation,
    }
    more = merged(
        found.more,
        column_values.rarest(values, found.values.get("num_unique"), look),
    )
    return dict(
        summary, plus=dict(plus, values=merged(more, _items(values, look)))
    )


def _items(values: Any, look: Any) -> Facts:
    """The values of a short series."""
    if not 0 < len(values) <= look.limits.values:
        return {}
    return {
        "items": [look.scalar(item) for item in column_values.items_of(values)]
    }


def index(value: Any, look: Any) -> Facts:
    """An index: length, dtype, labels."""
    labels = [
        look.scalar(label)
        # The first labels tell the kind; a long index is shown by its ends in index_facts.
        for label in labels_of(
            value, look.limits.names if length_of(value) < 1000 else 10
        )
    ]
    plus = {
        "structure": {"index": index_facts(value, look)},
        "values": {"labels": labels},
    }
    # Their labels are computed: index_values would make an array of all of them.
    if is_multi(value) or is_range(value):
        return {"structure": {"length": length_of(value)}, "plus": plus}
    found = column_values.facts_of(index_values(value), look)
    return {
        "structure": {"length": length_of(value)},
        "representation": {
            "dtype": column_values.dtype_text(index_values(value))
        },
        "values": {"has_nan": found.values.get("has_nan", False)},
        "plus": plus,
    }


def extension_array(value: Any, look: Any) -> Facts:
    """An array of pandas outside a series."""
    found = column_values.facts_of(value, look)
    return {
        "structure": {"length": len(value)},
        "representation": {"dtype": column_values.dtype_text(value)},
        "values": found.values,
        "plus": {
            "representation": found.representation,
            "values": merged(found.more, _items(value, look)),
        },
    }


def groups(value: Any, look: Any) -> Facts:
    """Rows grouped: of what, by what; nothing is grouped by looking."""
    held = instance_dict(value)
    inside = [("of", held["obj"])] if "obj" in held else []
    by = held.get("keys")
    # An array of keys has no spelling.
    keys = (
        [look.scalar(key) for key in by]
        if isinstance(by, list)
        else look.scalar(by)
    )
    grouped = look.inside_as("grouped", inside)
    return {"plus": merged(grouped, {"values": {"by": keys}})}


def moment(value: Any, look: Any) -> Facts:
    """A time, period, interval or missing value: as pandas writes it."""
    return {"plus": {"values": {"value": look.scalar(value)}}}


def plain_scalar(value: Any) -> Any:
    """Times, periods, intervals and NA of pandas as texts; other objects as they are."""
    name = name_of(type(value))
    # Their str is of pandas, not of the notebook.
    if name in ("Timestamp", "Timedelta", "Period", "Interval"):
        return str(value)
    return (
        f"<{name.replace('Type', '')}>"
        if name in ("NAType", "NaTType")
        else value
    )


def shape(value: Any) -> tuple[int, ...] | None:
    """(rows, columns) of a frame, (length,) of a series or index."""
    module = pandas()
    if is_kind(value, module.DataFrame):
        return frame_of(value).shape
    if is_kind(value, module.Series):
        return (length_of(series_index(value)),)
    return (length_of(value),) if is_kind(value, module.Index) else None


def content(value: Any) -> tuple[Any, ...]:
    """First labels of the columns and dtypes of a frame; the dtype of a series or index."""
    module = pandas()
    # Two frames in one list differ by columns and dtypes, which their shapes do not tell.
    if is_kind(value, module.DataFrame):
        frame = frame_of(value)
        labels = tuple(
            label
            for label in labels_of(frame.columns, _COMPARED_LABELS)
            if type(label) in PLAIN
        )
        return labels, tuple(
            column_values.dtype_text(block.values)
            for block in frame.blocks[:_COMPARED_LABELS]
        )
    if is_kind(value, module.Series):
        return (column_values.dtype_text(series_values(value)),)
    is_flat = (
        is_kind(value, module.Index)
        and not is_multi(value)
        and not is_range(value)
    )
    return (column_values.dtype_text(index_values(value)),) if is_flat else ()


CONTENT = content
FOLLOW = following.follow
HAS_ATTRIBUTE = following.has_attribute
SHAPE = shape
SCALAR = plain_scalar
SUMMARIZERS = {
    "DataFrame": data_frame,
    "Series": series,
    "Index": index,
    "ExtensionArray": extension_array,
    **dict.fromkeys(("DataFrameGroupBy", "SeriesGroupBy"), groups),
    **dict.fromkeys(
        ("Timestamp", "Timedelta", "Period", "Interval", "NAType", "NaTType"),
        moment,
    ),
}
