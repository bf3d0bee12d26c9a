"""Rows and cells by place or label: loc, iloc, at, iat; rows that iteration gives."""

from __future__ import annotations

from typing import Any

from crane_core.detectors.rules.abstract_value import AbstractValue, literal
from crane_core.detectors.rules.answer import UNCHANGED, UNKNOWN, Answer, or_unknown
from crane_core.detectors.rules.families.numpy_arrays import array, scalar, slice_of
from crane_core.detectors.rules.families.numpy_indexing import fraction_in
from crane_core.detectors.rules.families.pandas_frames import (
    FRAME,
    SERIES,
    changed,
    column,
    index_labels,
    is_frame,
    is_numeric,
    is_pandas,
    label_set,
    labels_in,
    labels_of,
    n_columns,
    n_rows,
    replace_facts,
    some_rows,
    whole_labels,
    with_columns,
    with_new_columns,
)
from crane_core.detectors.rules.families.pandas_values import row_of
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation
from crane_core.detectors.rules.shapes import Length, is_beyond

RULES = Family("pandas: positions")
_INDEXERS = {"loc": "_LocIndexer", "iloc": "_iLocIndexer", "at": "_AtIndexer", "iat": "_iAtIndexer"}


@RULES.attribute(FRAME, *_INDEXERS)
@RULES.attribute(SERIES, *_INDEXERS)
def indexer(operation: Operation) -> Answer:
    old = operation.receiver
    name = f"{old.words}.{operation.name}" if old.words else ""
    return AbstractValue(f"pandas.{_INDEXERS[operation.name]}", bound_to=old, words=name)


def _of(operation: Operation) -> AbstractValue:
    return (operation.receiver.bound_to) or AbstractValue()


def _parts(asked: AbstractValue) -> list[AbstractValue] | None:
    if asked.type == "tuple":
        return asked.items
    return [asked] if asked.type else None


# By position


@RULES.item("pandas._iLocIndexer")
def iloc(operation: Operation) -> Answer:
    old = _of(operation)
    parts = _parts(operation.first)
    if (bound := fraction_in(operation.first)) is not None:
        operation.crash(
            "TypeError",
            "positional indexing needs integers",
            fact=f"{bound.named('a bound')} is a {bound.type}",
            remedy="convert it: int(...), or divide with // instead of /",
        )
    if parts is None:
        return UNCHANGED
    _are_positions(operation, old, parts)
    if is_frame(old):
        return _taken(old, parts)
    is_single = len(parts) == 1 and parts[0].type == "int"
    dtype = old.fact("dtype")
    if is_single:
        return scalar(dtype) if is_numeric(dtype) else UNCHANGED
    return some_rows(old) if parts[0].type in ("slice", "list") else UNCHANGED


def _are_positions(operation: Operation, old: AbstractValue, parts: list[AbstractValue]) -> None:
    sizes: list[Length] = [n_rows(old), n_columns(old)] if is_frame(old) else [n_rows(old)]
    if len(parts) > len(sizes):
        operation.crash(
            "IndexingError",
            "Too many indexers",
            fact=f"{old.named('it')} has {len(sizes)} dimension{'s' * (len(sizes) > 1)}",
            remedy="pass one position per dimension",
        )
    for part, size, what in zip(parts, sizes, ("row", "column"), strict=False):
        _is_position(operation, old, part, size, what)


def _is_position(operation: Operation, old: AbstractValue, part: AbstractValue, size: Length, what: str) -> None:
    numbers = labels_in(part) or [] if part.type in ("int", "list", "str") else []
    if bad := [number for number in numbers if type(number) is int and is_beyond(number, size)]:
        operation.crash(
            "IndexError",
            f"single positional indexer is out-of-bounds: no {what} at position {bad[0]}",
            fact=f"{old.named('it')} has {size} {what}s",
            remedy="positions start at 0; -1 is the last",
        )
    if part.type == "str" or str in map(type, numbers):
        operation.crash(
            _refusal_of_labels(operation, part),
            "iloc takes integer positions, not labels",
            fact=f"{part.literal!r} is a string" if part.type == "str" else f"{part.literal!r} holds strings",
            remedy="use .loc for labels",
        )


def _refusal_of_labels(operation: Operation, part: AbstractValue) -> str:
    """One label is a wrong key; pandas 3.0 turns a list of them into numbers, unless columns are given too."""
    is_tuple = operation.first.type == "tuple"
    if part.type == "str":
        return "ValueError" if is_tuple else "TypeError"
    return "ValueError" if is_pandas(operation, 3, 0) and not is_tuple else "IndexError"


def _taken(old: AbstractValue, parts: list[AbstractValue]) -> AbstractValue:
    """Rows and columns of a frame by position, where both kinds of position are known."""
    row, order = parts[0], labels_of(old)
    if row.type not in ("slice", "int", "list"):
        return AbstractValue()
    if len(parts) == 1:
        return row_of(old) if row.type == "int" else some_rows(old, _count(row, n_rows(old)))
    if order is None:
        return AbstractValue(FRAME if row.type == "slice" and parts[1].type in ("slice", "list") else "")
    chosen = _chosen(parts[1], order)
    if isinstance(chosen, list):
        return _rows_taken(with_columns(old, chosen), row)
    return AbstractValue() if chosen is None else _rows_taken(column(old, chosen[0]), row)


def _rows_taken(old: AbstractValue, row: AbstractValue) -> AbstractValue:
    """A row of a frame, a value of a series; of several positions a part; all of it where the slice has no bounds."""
    if row.type == "int" and is_frame(old):
        return row_of(old)
    if row.type == "int":
        return scalar(old.fact("dtype")) if is_numeric(old.fact("dtype")) else AbstractValue()
    is_all = row.type == "slice" and all(bound.literal is None for bound in row.items or [AbstractValue()])
    return old if is_all else some_rows(old, _count(row, n_rows(old)))


def _count(part: AbstractValue, size: Length) -> Length:
    if part.type == "list":
        return len(part.items) if part.items is not None else None
    taken = slice_of(part)
    return None if taken is None or size is None else len(range(*taken.indices(size)))


def _chosen(part: AbstractValue, order: tuple[Any, ...]) -> list[Any] | tuple[Any] | None:
    """The labels at these positions: a list, or of a single position a tuple of one."""
    if part.type == "int" and type(part.literal) is int:
        return (order[part.literal],)
    if (taken := slice_of(part)) is not None:
        return list(order[taken])
    if part.type == "list" and part.items is not None and all(type(each.literal) is int for each in part.items):
        return [order[each.literal] for each in part.items]
    return None


@RULES.set_item("pandas._iLocIndexer")
@RULES.set_item("pandas._iAtIndexer")
def store_at_position(operation: Operation) -> Answer:
    old, asked = _of(operation), operation.first
    parts = _parts(asked)
    if parts is not None and all(part.type in ("int", "slice", "list") for part in parts):
        sizes: list[Length] = [n_rows(old), n_columns(old)] if is_frame(old) else [n_rows(old)]
        for part, size, what in zip(parts, sizes, ("row", "column"), strict=False):
            if part.type == "int":
                _is_position(operation, old, part, size, what)
    changed(operation, old)
    if old.type:
        kept = some_rows(old, n_rows(old))
        kept.facts.pop("dtypes", None)
        kept.facts.pop("dtype", None)
        replace_facts(old, kept)
    return UNCHANGED


# By label


@RULES.set_item("pandas._LocIndexer")
@RULES.set_item("pandas._AtIndexer")
def store_by_label(operation: Operation) -> Answer:
    """A label that is not there is added."""
    old, asked = _of(operation), operation.first
    parts = _parts(asked)
    _fills_row(operation, old, asked, operation.arguments.positional[-1])
    changed(operation, old)
    new = _labels_stored(parts) if parts is not None and label_set(old) is not None else None
    if parts is None or new is None:
        old.forget()
        return UNCHANGED
    made = with_new_columns(old, new)
    for name in ("dtypes", "per_column"):
        made.facts.pop(name, None)
    if parts[0].type != "slice" and parts[0].fact("dtype") != "bool":
        made.facts.pop("index", None)
        made.facts["shape"] = (None, n_columns(made))
    replace_facts(old, made)
    return UNCHANGED


def _labels_stored(parts: list[AbstractValue]) -> list[Any] | None:
    """The columns that are written, where the frame has them or they are known; None if there may be others."""
    if len(parts) == 1 or len(parts) == 2 and parts[1].type == "slice":
        return []
    labels = whole_labels(parts[1]) if len(parts) == 2 else None
    return labels if labels is None or parts[1].type != "tuple" else []


def _fills_row(operation: Operation, old: AbstractValue, asked: AbstractValue, value: AbstractValue) -> None:
    """A row that is given as a list has a value for each column."""
    width = n_columns(old) or 0 if is_frame(old) else 0
    given = len(value.items or ()) if value.type == "list" else 0
    is_row = asked.type in ("int", "str") and operation.receiver.class_name == "_LocIndexer"
    if is_row and given > 1 and width > 1 and given != width:
        operation.crash(
            "ValueError",
            f"cannot set a row with mismatched columns: {given} values for {width} columns",
            fact=f"{old.named('the frame')} has {width} columns",
            remedy="pass one value per column, in column order",
        )


# What iteration gives


@RULES.other("elements", FRAME)
@RULES.other("elements", "pandas.Index")
def all_labels(operation: Operation) -> Answer:
    """Iterating a frame gives its labels."""
    return or_unknown(_labels(operation.receiver))


def _labels(held: AbstractValue) -> AbstractValue | None:
    """The labels; how many there are may be all that is known."""
    labels = labels_of(held) if is_frame(held) else index_labels(held)
    if labels is not None:
        return AbstractValue("list", items=[literal(label) for label in labels])
    count = n_columns(held) if is_frame(held) else held.fact("length")
    return (
        AbstractValue("list", items=[AbstractValue() for _ in range(count)])
        if type(count) is int and count <= _MOST
        else None
    )


_MOST = 200
"""Labels that are gone through one by one."""


@RULES.attribute("pandas.Index", "values")
def labels_as_array(operation: Operation) -> Answer:
    count = (operation.receiver).fact("length")
    return array((count if type(count) is int else None,), "object")


@RULES.other("elements", "pandas.iteration")
def all_columns(operation: Operation) -> Answer:
    """frame.items(): each label with its column."""
    old = _of(operation)
    if operation.receiver.fact("way") != "items" or not is_frame(old):
        return UNKNOWN
    labels, count = labels_of(old), n_columns(old)
    if labels is not None:
        pairs = [[literal(label), column(old, label)] for label in labels]
    else:
        pairs = (
            [[AbstractValue(), AbstractValue(SERIES)] for _ in range(count)]
            if type(count) is int and count <= _MOST
            else []
        )
    return AbstractValue("list", items=[AbstractValue("tuple", items=pair) for pair in pairs]) if pairs else UNKNOWN


@RULES.item("pandas.Index")
def label_at(operation: Operation) -> Answer:
    held, asked = operation.receiver, operation.first
    labels = index_labels(held)
    if labels is None:
        return UNCHANGED
    if asked.type == "int" and type(asked.literal) is int:
        _is_position(operation, held, asked, len(labels), "label")
        return literal(labels[asked.literal])
    if (taken := slice_of(asked)) is None:
        return UNCHANGED
    kept = labels[taken]
    return AbstractValue("pandas.Index", {"labels": list(kept), "length": len(kept)})


@RULES.method(FRAME, "iterrows", "itertuples", "items")
def walked(operation: Operation) -> Answer:
    return AbstractValue("pandas.iteration", {"way": operation.name}, bound_to=operation.receiver)


@RULES.element("pandas.iteration")
def step(operation: Operation) -> Answer:
    old = _of(operation)
    way = operation.receiver.fact("way")
    if not n_rows(old) and way != "items":
        return UNCHANGED
    if way == "iterrows":
        return AbstractValue("tuple", items=[AbstractValue(), row_of(old)])
    if way == "items":
        return AbstractValue("tuple", items=[AbstractValue(), AbstractValue(SERIES)]) if n_columns(old) else UNCHANGED
    return UNCHANGED


# By other labels


@RULES.method(FRAME, "reindex")
@RULES.method(SERIES, "reindex")
def reindexed(operation: Operation) -> Answer:
    """Rows can be looked up by label only where each label is there once."""
    old = operation.receiver
    parameters = (
        "index=None, **others" if old.is_a("pandas", "Series") else "labels=None, index=None, columns=None, **others"
    )
    given = operation.arguments.bound(parameters)
    wanted = None if given is None else given.get("index", None if "axis" in given else given.get("labels"))
    if wanted is not None and _has_repeated_labels(old) and _is_another_index(old, wanted):
        operation.crash(
            "ValueError",
            "cannot reindex on an axis with duplicate labels",
            fact=f"the index of {old.named('it')} repeats {_n_repeated(old)} labels",
            remedy="make the labels unique first: .groupby(level=0).sum(), or ~x.index.duplicated()",
        )
    return AbstractValue(old.type)


def _has_repeated_labels(old: AbstractValue) -> bool:
    index = old.mapping("index")
    return index.get("unique") is False and index.get("type") not in (None, "MultiIndex")


def _n_repeated(old: AbstractValue) -> Any:
    return old.mapping("index").get("n_duplicates", "some")


def _is_another_index(old: AbstractValue, wanted: AbstractValue) -> bool:
    """Whether it certainly is not the same index again, and not empty."""
    length = len(wanted.items) if wanted.items is not None else wanted.fact("length")
    if wanted.type not in ("list", "tuple", "range") and not wanted.is_a("pandas"):
        return False
    return type(length) is int and length > 0 and (wanted.fact("unique") is True or length != n_rows(old))
