"""Iterators: what `iter` and `next` give, iterators that are over, and what is none.

Knows Python's own iterators, and containers whose first element another family knows. After the first element of an
iterator nothing is known of the next.
"""

from __future__ import annotations

from typing import Final

from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.answer import UNCHANGED, UNKNOWN, Answer
from crane_core.detectors.rules.families.python_values import CONTAINERS, FLOWING, SCALARS, words_of
from crane_core.detectors.rules.families.versions import is_at_least
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation

RULES: Final = Family("python: iterators")
_SOURCE: Final = "iterates"
"""The fact that holds what an untouched iterator runs over."""
_ITERATOR_OF: Final = {
    "list": "list_iterator",
    "tuple": "tuple_iterator",
    "str": "str_iterator",
    "set": "set_iterator",
    "frozenset": "set_iterator",
    "dict": "dict_keyiterator",
    "dict_keys": "dict_keyiterator",
    "dict_values": "dict_valueiterator",
    "dict_items": "dict_itemiterator",
    "range": "range_iterator",
}
_GROW: Final = ("append", "extend", "insert", "+=")
"""An iterator at the end of a list goes on when the list has grown."""
_LOADER: Final = "DataLoader"
_LOADER_ITERATOR: Final = "torch.utils.data.dataloader._BaseDataLoaderIter"
_NO_ITERATORS: Final = {
    "builtins": (*SCALARS, *CONTAINERS, "range", "dict_keys", "dict_values", "dict_items", "function"),
    "numpy": ("ndarray",),
    "pandas": ("DataFrame", "Series", "Index", "RangeIndex"),
    "torch": ("Tensor", "DataLoader", "TensorDataset", "Subset"),
    "tensorflow": ("_BatchDataset", "_PrefetchDataset", "_ShuffleDataset", "_MapDataset", "_TensorSliceDataset"),
}
"""Classes by package that can be iterated at most, and have no __next__."""


@RULES.function("builtins.iter")
def iterator_of(operation: Operation) -> Answer:
    if len(operation.arguments.positional) != 1 or operation.arguments.keywords or not operation.arguments.is_complete:
        return UNKNOWN
    value = operation.first
    if value.type in FLOWING:
        return value
    if value.type in _ITERATOR_OF:
        return AbstractValue(_ITERATOR_OF[value.type], {_SOURCE: value}, words=operation.text)
    if value.is_a("torch", _LOADER):
        return AbstractValue(_LOADER_ITERATOR, {_SOURCE: value}, words=operation.text)
    if value.package == "builtins":
        operation.element(value)
    return UNKNOWN


@RULES.function("builtins.next")
def next_of(operation: Operation) -> Answer:
    if not operation.arguments.positional or not operation.arguments.is_complete:
        return UNKNOWN
    value = operation.first
    _refuse_no_iterator(operation, value)
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
    element = operation.element(source) if isinstance(source, AbstractValue) else None
    return element if element is not None else UNCHANGED


def _refuse_no_iterator(operation: Operation, value: AbstractValue) -> None:
    if value.class_name in _NO_ITERATORS.get(value.package, ()) and not value.path:
        operation.crash(
            "TypeError",
            f"'{value.class_name}' object is not an iterator",
            fact=f"{words_of(value)} is of type {value.type}",
            remedy=f"Create an iterator first: next(iter({words_of(value, 'it')})).",
        )


def _is_over(operation: Operation, value: AbstractValue) -> bool:
    if value.type == "generator" and value.fact("exhausted") is True or value.type in FLOWING and value.items == []:
        return True
    if value.type in _ITERATOR_OF.values() and value.fact("left") == 0:
        return value.type != "list_iterator" or not any(map(operation.mentions, _GROW))
    source = value.fact(_SOURCE)
    return isinstance(source, AbstractValue) and source.package == "builtins" and operation.elements(source) == []


def _advance(value: AbstractValue) -> None:
    if value.type in FLOWING or _SOURCE in value.facts:
        value.forget()


@RULES.attribute("torch._BaseDataLoaderIter", "next")
@RULES.attribute("torch._SingleProcessDataLoaderIter", "next")
@RULES.attribute("torch._MultiProcessingDataLoaderIter", "next")
@RULES.attribute("builtins.generator", "next")
@RULES.attribute("builtins.list_iterator", "next")
def next_of_python_2(operation: Operation) -> Answer:
    """dataiter.next(): torch had it until 1.12."""
    value = operation.receiver
    if value.package == "torch" and not is_at_least(operation, "torch", 2, 0):
        return UNKNOWN
    operation.crash(
        "AttributeError",
        f"{words_of(value, 'an iterator')} has no attribute next",
        fact=f"{words_of(value, 'it')} is a {value.class_name}",
        remedy=f"Write next({value.named('it')}).",
    )
