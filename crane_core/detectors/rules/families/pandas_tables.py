"""Frames that are made of values: their labels and rows where pandas cannot answer; rows that repeat in a pivot."""

from collections.abc import Mapping

from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.answer import UNCHANGED, Answer
from crane_core.detectors.rules.families.numpy_arrays import (
    is_array,
    taken_shape,
)
from crane_core.detectors.rules.families.pandas_frames import (
    FRAME,
    SERIES,
    frame,
    is_frame,
    is_series,
    labels_in,
    n_rows,
    need_columns,
    range_index,
    whole_labels,
)
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation
from crane_core.detectors.rules.shapes import only_length

RULES = Family("pandas: tables")


@RULES.function("pandas.DataFrame")
def new_frame(operation: Operation) -> Answer:
    """A frame of a dict, an array or rows; raises Crash for columns of several lengths."""
    given = (
        operation.arguments.bound(
            "data=None, index=None, columns=None, dtype=None, copy=None"
        )
        or {}
    )
    data, columns = given.get("data", AbstractValue()), given.get("columns")
    # columns= selects among the keys, and makes a column of NaN of any other.
    if data.type == "dict" and data.members and columns is None:
        return _of_dict(operation, data.members, given)
    # columns= and index= select from a frame: labels that it lacks become NaN.
    if is_frame(data) and columns is given.get("index") is None:
        return AbstractValue(FRAME, data.facts)
    return _of_rows(data, columns, given)


def _of_rows(
    data: AbstractValue,
    columns: AbstractValue | None,
    given: Mapping[str, AbstractValue],
) -> AbstractValue:
    """Labels that are given, or counted; those of dicts are not known."""
    if _brings_labels(data):
        return AbstractValue(FRAME)
    shape = taken_shape(data) if is_array(data) or data.type == "list" else None
    # Without rows pandas takes index and columns as they are given, and no column where none is.
    if shape is not None and shape[:1] == (0,):
        labels = whole_labels(columns) if columns is not None else None
        return AbstractValue(FRAME) if labels is None else frame(labels, None)
    width = (
        # A list of numbers becomes one column.
        (*shape, 1)[1] if shape is not None and len(shape) in (1, 2) else None
    )
    labels = (
        list(range(width))
        if width is not None and columns is None
        else whole_labels(columns)
    )
    if (
        labels is None
        or data.type == "list"
        and shape is None
        and _may_hold_dicts(data)
    ):
        return AbstractValue(FRAME)
    return _counted(frame(labels, shape[0] if shape else None), given)


def _brings_labels(data: AbstractValue) -> bool:
    """Lists of series, and records."""
    # The index of the series, and the fields of records, become the columns.
    return any(map(is_series, data.items or ())) or str(
        data.fact("dtype", "")
    ).startswith(("[", "V", "|V"))


def _may_hold_dicts(data: AbstractValue) -> bool:
    return data.items is None or any(
        item.type not in ("list", "tuple") for item in data.items
    )


def _of_dict(
    operation: Operation,
    members: Mapping[object, AbstractValue],
    given: Mapping[str, AbstractValue],
) -> Answer:
    """A column for each key, whatever is known of it; lists and arrays have one length."""
    lengths = {key: _length(value) for key, value in members.items()}
    known = {length for length in lengths.values() if length is not None}
    # Beside a series pandas compares with its index, and has other words for a mismatch.
    if len(known) > 1 and not any(map(is_series, members.values())):
        operation.crash(
            "ValueError",
            "All arrays must be of the same length",
            fact=", ".join(
                f"{key!r}: {length}"
                for key, length in list(lengths.items())[:8]
            ),
            remedy="give all columns the same number of values",
        )
    rows = (
        next(iter(known))
        if len(known) == 1 and None not in lengths.values()
        else None
    )
    made = frame(members, rows)
    return (
        made
        # A series brings its index along, and an unknown value may be a series.
        if any(
            value.is_a("pandas") or not value.type for value in members.values()
        )
        else _counted(made, given)
    )


def _length(value: AbstractValue) -> int | None:
    """Of a list, range or array; None of others: a series is aligned by its index, a text fills every row."""
    is_line = value.type in ("list", "tuple", "range") or is_array(value)
    return only_length(taken_shape(value)) if is_line else None


def _counted(
    made: AbstractValue, given: Mapping[str, AbstractValue]
) -> AbstractValue:
    """With the index that counts the rows, where none is given."""
    rows = n_rows(made)
    if "index" not in given:
        made.facts |= (
            {"index_names": ()}
            if rows is None
            else {"index": range_index(rows)}
        )
    return made


@RULES.function("pandas.Series")
def new_series(operation: Operation) -> Answer:
    """A series of which nothing else is known."""
    return AbstractValue(SERIES)


@RULES.method(FRAME, "pivot")
def pivot(operation: Operation) -> Answer:
    """Each cell of the new table comes of one row."""
    # Keyword-only since pandas 2.0: pandas itself refuses positional arguments.
    given = (
        operation.arguments.bound("*, columns=None, index=None, values=None")
        or {}
    )
    old = operation.receiver
    for name in ("columns", "index", "values"):
        need_columns(operation, old, given.get(name))
    keys = [
        str(label)
        for name in ("index", "columns")
        for label in labels_in(given.get(name)) or ()
    ]
    # A state counts repeated rows by sets of columns: only exactly these columns answer.
    for name, facts in (
        old.mapping("duplicates").items()
        if {"index", "columns"} <= given.keys()
        else ()
    ):
        if sorted(name.split(", ")) == sorted(keys) and facts.get(
            "n_duplicates"
        ):
            operation.crash(
                "ValueError",
                "Index contains duplicate entries, cannot reshape",
                fact=f"{facts['n_duplicates']} rows of {old.named('the frame')} repeat the {name} of another",
                remedy="use pivot_table(..., aggfunc=...), which aggregates duplicate rows",
            )
    return AbstractValue(FRAME)


@RULES.function(
    "pandas.read_csv",
    "pandas.read_excel",
    "pandas.read_table",
    "pandas.read_parquet",
)
def read(operation: Operation) -> Answer:
    """A frame of which nothing else is known."""
    keywords = operation.arguments.keywords
    # chunksize and iterator return a reader, sheet_name a dict of frames, squeeze a series.
    if {
        "chunksize",
        "iterator",
        "sheet_name",
        "squeeze",
    } & keywords.keys() or not operation.arguments.is_complete:
        return UNCHANGED
    return AbstractValue(FRAME)
