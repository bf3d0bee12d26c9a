"""Columns of several levels, as `groupby(...).agg({"a": ["mean", "sum"]})` makes them: their labels are tuples.

Knows such frames by the fact "column_tuples", all labels in order, of texts and integers alone. A part of a label
means all columns below it, so only a first level that no label has is missing.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final, NoReturn

from crane_core.detectors.rules.abstract_value import AbstractValue, known_facts
from crane_core.detectors.rules.answer import UNKNOWN, Answer
from crane_core.detectors.rules.families.pandas_frames import (
    FRAME,
    frame,
    index_names,
    labels_in,
    n_rows,
    series,
    with_index_of,
)
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation

RULES: Final = Family("pandas: levels of columns")
Label = tuple[Any, ...]
_MOST_SHOWN: Final = 8


def levelled(
    labels: Iterable[Label], rows: int | None, **facts: Any
) -> AbstractValue:
    """A frame with these tuples as labels of its columns, in this order."""
    known = tuple(labels)
    return AbstractValue(
        FRAME,
        known_facts(shape=(rows, len(known)), column_tuples=known, **facts),
    )


def tuples_of(value: AbstractValue) -> tuple[Label, ...]:
    """The labels of a frame whose columns have several levels; empty for any other."""
    known = value.fact("column_tuples")
    return known if isinstance(known, tuple) else ()


def aggregated(
    members: Mapping[Any, AbstractValue], by: tuple[Any, ...]
) -> AbstractValue | None:
    """What `agg` makes of a dict of columns and names of functions; None where it names other functions."""
    names = {label: _names_in(asked) for label, asked in members.items()}
    if not names or any(each is None for each in names.values()):
        return None
    labels = [
        (label, name) for label, each in names.items() for name in each or ()
    ]
    # One list among them is enough for two levels.
    if any(asked.type == "list" for asked in members.values()):
        return levelled(labels, None, index_names=by)
    return frame(members, index_names=by)


def _names_in(asked: AbstractValue) -> list[str] | None:
    # A function brings its name, and several lambdas are numbered.
    parts = [asked] if asked.items is None else asked.items
    names = [part.literal for part in parts]
    return names if all(isinstance(name, str) for name in names) else None


@RULES.item(FRAME)
def below(operation: Operation) -> Answer:
    """frame[label]: the columns below it; raises Crash for a first level that no column has."""
    old, asked = operation.receiver, operation.first
    labels = tuples_of(old)
    wanted = labels_in(asked) if labels and asked.type != "tuple" else None
    for label in wanted or ():
        if label not in {first for first, *_ in labels}:
            _refuse(operation, labels, label)
    if wanted is None or asked.items is not None:
        return UNKNOWN
    rest = [label[1:] for label in labels if label[0] == asked.literal]
    # The key of a grouped table is ("g", "") after reset_index, and frame["g"] is a column.
    if rest == [("",) * len(rest[0])]:
        return with_index_of(old, series(n_rows(old)))
    if len(rest[0]) > 1:
        return levelled(rest, n_rows(old))
    return with_index_of(old, frame([label for (label,) in rest], n_rows(old)))


def _refuse(
    operation: Operation, labels: tuple[Label, ...], asked: Any
) -> NoReturn:
    inside = next((label for label in labels if asked in label[1:]), None)
    operation.crash(
        "KeyError",
        repr(asked),
        fact=f"the columns of {operation.receiver.named('the frame')} have {len(labels[0])} levels: "
        + ", ".join(map(repr, labels[:_MOST_SHOWN])),
        remedy="use an existing column"
        if inside is None
        else f"write the whole label, frame[{inside!r}], or flatten the columns first",
    )


@RULES.method(FRAME, "reset_index")
def with_index_as_columns(operation: Operation) -> Answer:
    """The names of the index become labels whose lower levels are empty."""
    old = operation.receiver
    labels, names = tuples_of(old), index_names(old)
    given = operation.arguments
    is_plain = given.is_complete and not given.positional
    if not labels or not names or not is_plain:
        return UNKNOWN
    drops = given.keywords.get("drop")
    if given.keywords.keys() - {"drop"}:
        return UNKNOWN
    if drops is not None:
        return (
            levelled(labels, n_rows(old)) if drops.literal is True else UNKNOWN
        )
    # Levels without a name get one that is made up.
    if None in names:
        return UNKNOWN
    rest = ("",) * (len(labels[0]) - 1)
    return levelled([*((name, *rest) for name in names), *labels], n_rows(old))
