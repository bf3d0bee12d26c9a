"""Labels of columns and rows: which there are, whether one is among them, whether they repeat.

Knows indexes by what they store. Refuses to build the lookup tables that pandas would keep.
"""

from __future__ import annotations

import sys
from collections import Counter
from typing import Any

from ...anatomy import instance_dict, module_dict, name_of, type_name
from ...bounds import Facts
from ...contents import arrays
from ...kinds import PLAIN, SINGLE, counted
from . import columns
from .storage import (
    index_codes,
    index_levels,
    index_names,
    index_values,
    is_multi,
    is_range,
    labels_of,
    length_of,
    ndarray_of,
    pandas,
    range_of,
    to_list,
)

_LISTED = 100_000
"""Labels that are listed to look for one or for repeated ones; longer indexes are compared in pieces."""
_ENDS = 3
_NS_PER_DATE = 400


def index_facts(index: Any, look: Any) -> Facts:
    """Type, names, ends, and whether labels repeat."""
    facts: Facts = {"type": name_of(type(index)), "length": length_of(index)}
    names = [look.scalar(name) for name in index_names(index)]
    if any(name is not None for name in names):
        facts["names"] = names
    if not is_range(index) and not is_multi(index):
        # Neither a range nor several levels are kept in one array.
        facts["dtype"] = columns.dtype_text(index_values(index))
    facts.update(_frequency(index, look))
    facts.update(_ends(index, look))
    double = repeats(index, look)
    facts["unique"] = "not computed" if double is None else not double
    return dict(facts, n_duplicates=_n_repeated(index)) if double else facts


def _frequency(index: Any, look: Any) -> Facts:
    """The frequency of dates: the one that is kept, else the one that they follow; None where they follow none."""
    if name_of(type(index)) != "DatetimeIndex":
        return {}
    values = index_values(index)
    kept = instance_dict(values).get("_freq")
    if kept is not None:
        return {"freq": look.text(str(kept.freqstr))}
    array = ndarray_of(values)
    # In a time zone the clock changes twice a year, and pandas looks at local times.
    is_local = (
        array is None
        or array.dtype.kind != "M"
        or "," in columns.dtype_text(values)
    )
    if is_local or not look.affords(length_of(index) * _NS_PER_DATE):
        return {}
    # By a private name, as infer_freq and inferred_freq warn in pandas 3.1.
    inferrer = module_dict(sys.modules.get("pandas.tseries.frequencies")).get(
        "_FrequencyInferer"
    )
    if inferrer is None:
        return {}
    # Fewer than three dates follow nothing.
    if length_of(index) < 3:
        return {"freq": None}
    # Of a copy, as pandas keeps what it finds in the index itself.
    return {"freq": inferrer(pandas().DatetimeIndex(array.copy())).get_freq()}


def _n_repeated(index: Any) -> int:
    """How many labels stand there again after their first place."""
    labels = (
        # By codes: comparing integers instead of labels.
        list(zip(*(code.tolist() for code in index_codes(index))))
        if is_multi(index)
        else labels_of(index)
    )
    return len(labels) - len(set(labels))


def _ends(index: Any, look: Any) -> Facts:
    """The first and the last labels; the range itself of one that is a range; levels of one that has several."""
    if is_range(index):
        kept = range_of(index)
        return {"range": [kept.start, kept.stop, kept.step]}
    if not length_of(index):
        return {}
    first = [look.scalar(label) for label in labels_of(index, _ENDS)]
    facts: Facts = {"first": first}
    if is_multi(index):
        return {
            **facts,
            "level_sizes": [length_of(level) for level in index_levels(index)],
            "level_dtypes": [_dtype_of(level) for level in index_levels(index)],
        }
    last = to_list(index_values(index)[-1:])
    return (
        dict(facts, last=look.scalar(last[0]))
        if length_of(index) > _ENDS
        else facts
    )


def _dtype_of(level: Any) -> str:
    return (
        "int64" if is_range(level) else columns.dtype_text(index_values(level))
    )


def repeats(index: Any, look: Any) -> bool | None:
    """True when a label occurs twice; None where finding out costs too much."""
    # A range never repeats, and is not written out to see it.
    if is_range(index):
        return False
    if is_multi(index):
        return _rows_repeat(index, look)
    values = index_values(index)
    array = ndarray_of(values)
    is_ordered = (
        array is not None
        and array.dtype.kind in arrays.NUMERIC + arrays.TIMES
        and len(array) > 1
    )
    # A rising index repeats nothing, and comparing neighbours needs no memory.
    if is_ordered and look.affords(len(array) * 3) and _is_rising(array):
        return False
    return _labels_repeat(index, look)


def _is_rising(array: Any) -> bool:
    for start in range(0, len(array) - 1, arrays.PIECE):
        piece = array[start : start + arrays.PIECE + 1]
        if not (piece[1:] > piece[:-1]).all():
            return False
    return True


def _rows_repeat(index: Any, look: Any) -> bool | None:
    codes = index_codes(index)
    if length_of(index) > _LISTED or not look.affords(length_of(index) * 400):
        return None
    rows = list(zip(*(code.tolist() for code in codes)))
    return len(set(rows)) < len(rows)


def _labels_repeat(index: Any, look: Any) -> bool | None:
    length = length_of(index)
    if length > _LISTED or not look.affords(length * 200):
        return None
    labels = labels_of(index)
    return len(set(labels)) < length if all_plain(labels) else None


def all_plain(labels: list[Any]) -> bool:
    """True when comparing and hashing the labels runs no code of the notebook."""
    kinds = [kind for kind, _ in counted(labels.__iter__)]
    return all(
        kind in PLAIN
        or kind is tuple
        or type_name(kind).startswith(("pandas.", "datetime."))
        for kind in kinds
    )


def repeated(labels: list[Any]) -> list[Any]:
    """The labels that occur more than once, in order."""
    return (
        [label for label, count in Counter(labels).items() if count > 1]
        if all_plain(labels)
        else []
    )


def has_label(index: Any, label: Any) -> bool | None:
    """Whether a label is in an index with one level; None where only pandas could tell, as for texts of dates."""
    if is_multi(index) or type(label) not in SINGLE:
        return None
    if is_range(index):
        return type(label) is not str and label in range_of(index)
    values = index_values(index)
    array = ndarray_of(values)
    if array is not None:
        # Times, and periods, are stored as numbers, in which a text is not found.
        if array is not values:
            return None
        if array.dtype.kind in "iuf":
            # No text is a label among numbers; 1 and 1.0 are one label.
            return type(label) is not str and _is_among(array, label)
        if array.dtype.kind != "O":
            return None
    return None if length_of(index) > _LISTED else _is_listed(index, label)


def _is_among(array: Any, number: Any) -> bool:
    return any(bool((piece == number).any()) for piece in arrays.pieces(array))


def _is_listed(index: Any, label: Any) -> bool | None:
    labels = labels_of(index)
    # A column of objects may hold times, which pandas finds by text.
    return (
        label in labels
        if all_plain(labels) and not _are_times(labels)
        else None
    )


def _are_times(labels: list[Any]) -> bool:
    return any(type(label) not in PLAIN for label in labels)
