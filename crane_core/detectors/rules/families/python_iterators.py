"""Iterators: what `iter` and `next` give, iterators that are over, what is none; files that are closed.

Knows Python's own iterators and files, and containers whose first element another family knows. After the first
element of an iterator nothing is known of the next.
"""

from typing import Final

from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.answer import UNCHANGED, UNKNOWN, Answer
from crane_core.detectors.rules.families.python_values import (
    FLOWING,
    ITERATORS,
    by_types,
    words_of,
)
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation

RULES: Final = Family("python: iterators")
_SOURCE: Final = "iterates"
"""The fact that holds what an untouched iterator runs over."""
_GROW: Final = ("append", "extend", "insert", "+=")
"""An iterator at the end of a list goes on when the list has grown."""
_NO_ITERATORS: Final = {
    "numpy": ("ndarray",),
    "pandas": ("DataFrame", "Series", "Index", "RangeIndex"),
    "torch": ("Tensor", "DataLoader", "TensorDataset", "Subset"),
    "tensorflow": (
        "_BatchDataset",
        "_PrefetchDataset",
        "_ShuffleDataset",
        "_MapDataset",
        "_TensorSliceDataset",
    ),
}
"""Classes by package that can be iterated at most, and have no __next__."""
# close() and the attributes name, mode and closed work after closing, too.
_ASK_FILE: Final = "read readline readlines write writelines seek tell truncate flush fileno isatty __enter__ __next__"


@RULES.function("builtins.iter")
def iterator_of(operation: Operation) -> Answer:
    """An iterator that knows its source; raises Crash for what cannot be iterated."""
    value = operation.first
    if (
        len(operation.arguments.positional) != 1
        or operation.arguments.keywords
        or not operation.arguments.is_complete
    ):
        return UNKNOWN
    # iter() returns an iterator itself: it does not start from the beginning.
    if value.type in FLOWING:
        return value
    kind = (
        # num_workers decides which of the two classes under this base it is.
        "torch.utils.data.dataloader._BaseDataLoaderIter"
        if value.is_a("torch", "DataLoader")
        else ""
    )
    if kind or value.type in ITERATORS:
        return AbstractValue(
            kind or ITERATORS[value.type],
            {_SOURCE: value},
            words=operation.text,
        )
    by_types(operation, iter, [value])
    return UNKNOWN


@RULES.function("builtins.next")
def next_of(operation: Operation) -> Answer:
    """The next element; raises Crash for an iterator that is over or for another object."""
    value = operation.first
    if (
        not operation.arguments.positional
        or not operation.arguments.is_complete
    ):
        return UNKNOWN
    _refuse_closed(operation, value)
    _refuse_no_iterator(operation, value)
    # next(it, default) never raises StopIteration.
    if len(operation.arguments.positional) > 1:
        _advance(value)
        return UNCHANGED
    if _is_over(operation, value):
        operation.crash(
            "StopIteration",
            f"{words_of(value, 'the iterator')} is exhausted: next() raises StopIteration",
            fact=f"{words_of(value, 'it')} is a {value.class_name} with no items left",
            remedy="Create it again: an iterator runs only once. Or pass next() a default.",
        )
    if value.type in FLOWING and value.items:
        first, *value.items = value.items
        return first
    source = value.fact(_SOURCE)
    _advance(value)
    element = (
        operation.element(source) if isinstance(source, AbstractValue) else None
    )
    return element if element is not None else UNCHANGED


def _refuse_no_iterator(operation: Operation, value: AbstractValue) -> None:
    by_types(operation, next, [value])
    if (
        value.class_name in _NO_ITERATORS.get(value.package, ())
        # A path means the class: `next(Rows)` is refused by other words.
        and not value.path
    ):
        operation.crash(
            "TypeError",
            f"'{value.class_name}' object is not an iterator",
            fact=f"{words_of(value)} is of type {value.type}",
            remedy=f"Create an iterator first: next(iter({words_of(value, 'it')})).",
        )


def _is_over(operation: Operation, value: AbstractValue) -> bool:
    if (
        value.type == "generator"
        and value.fact("exhausted") is True
        or value.type in FLOWING
        and value.items == []
    ):
        return True
    if value.type in ITERATORS.values() and value.fact("left") == 0:
        return value.type != "list_iterator" or not any(
            map(operation.mentions, _GROW)
        )
    source = value.fact(_SOURCE)
    return (
        isinstance(source, AbstractValue)
        and source.package == "builtins"
        and operation.elements(source) == []
    )


def _advance(value: AbstractValue) -> None:
    if value.type in FLOWING or _SOURCE in value.facts:
        value.forget()


# Closed files


@RULES.element("_io.*")
@RULES.method("_io.*", *_ASK_FILE.split())
def of_file(operation: Operation) -> Answer:
    """Raises Crash for a file that is closed."""
    _refuse_closed(operation, operation.receiver)
    return UNKNOWN


def _refuse_closed(operation: Operation, value: AbstractValue) -> None:
    if value.package == "_io" and value.fact("closed") is True:
        operation.crash(
            "ValueError",
            "I/O operation on closed file.",
            fact=f"{words_of(value, 'the file')} is closed",
            remedy="Open it again, and use it inside its `with` block.",
        )
