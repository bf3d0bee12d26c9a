"""Tables of polars, pyarrow and Hugging Face's datasets: a column or row that they certainly do not have."""

from typing import Final

from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.answer import UNKNOWN, Answer
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import (
    Operation,
    is_at_least,
    is_before,
)

RULES: Final = Family("other tables")
_MOST_SHOWN: Final = 12


def _columns(value: AbstractValue) -> list[str] | None:
    """All columns; None where a state does not list them all."""
    names, shape = value.fact("columns"), value.shape
    is_whole = (
        isinstance(names, list)
        and shape is not None
        and len(shape) == 2
        and len(names) == shape[1]
    )
    return names if is_whole else None


def _need(operation: Operation, label: object, exception: str) -> None:
    table = operation.receiver
    names = _columns(table)
    if names is None or type(label) is not str or label in names:
        return
    shown = ", ".join(map(repr, names[:_MOST_SHOWN]))
    operation.crash(
        exception,
        f"no column named {label!r}",
        fact=f"{table.named('the table')} has the columns {shown}",
        remedy="use an existing column",
    )


@RULES.item("polars.DataFrame")
def column_of_polars(operation: Operation) -> Answer:
    """frame[label] and frame[[labels]]."""
    asked = operation.first
    for part in (
        asked.items if asked.type == "list" and asked.items else [asked]
    ):
        _need(operation, part.literal, "ColumnNotFoundError")
    return UNKNOWN


@RULES.method("polars.DataFrame", "select", "drop", "sort", "get_column")
def columns_of_polars(operation: Operation) -> Answer:
    """Columns by their names; a name between ^ and $ is a pattern."""
    given = operation.arguments
    # strict=False drops what is there, and a default stands for what is not.
    if given.keywords or not given.is_complete:
        return UNKNOWN
    for part in given.positional:
        label = part.literal
        if not isinstance(label, str) or label[:1] not in "^*":
            _need(operation, label, "ColumnNotFoundError")
    return UNKNOWN


@RULES.item("pyarrow.Table")
def column_of_arrow(operation: Operation) -> Answer:
    """table[label]."""
    _need(operation, operation.first.literal, "KeyError")
    return UNKNOWN


@RULES.item("datasets.Dataset")
def column_or_row(operation: Operation) -> Answer:
    """dataset[label] and dataset[row]."""
    table, asked = operation.receiver, operation.first.literal
    # Columns became lazy in datasets 4, which first found a missing one in other places.
    if is_before(operation, "datasets", 4, 0):
        _need(operation, asked, "KeyError")
    elif is_at_least(operation, "datasets", 5, 0):
        _need(operation, asked, "ValueError")
    rows = (table.shape or (None,))[0]
    if type(asked) is not int or rows is None:
        return UNKNOWN
    if not -rows <= asked < rows:
        operation.crash(
            "IndexError",
            f"index {asked} is out of range for a dataset of {rows} rows",
            fact=f"{table.named('the dataset')} has {rows} rows",
            remedy="use an index below its length",
        )
    return UNKNOWN


@RULES.item("datasets.DatasetDict")
def split_of(operation: Operation) -> Answer:
    """datasets["train"]."""
    held, asked = operation.receiver, operation.first.literal
    names = held.fact("keys")
    # An ellipsis stands for the names that a limit has cut.
    if (
        not isinstance(names, list)
        or not isinstance(asked, str)
        or asked in names
        or any(not isinstance(name, str) or "\u2026" in name for name in names)
    ):
        return UNKNOWN
    operation.crash(
        "KeyError",
        repr(asked),
        fact=f"{held.named('it')} has the splits {', '.join(map(repr, names))}",
        remedy="use an existing split, or make one: train_test_split()",
    )
