"""Iterators: what `iter` and `next` give, iterators that are over, and what is none.

Knows Python's own iterators, and containers whose first element another family knows. After the first element of an
iterator nothing is known of the next.
"""

from __future__ import annotations

from typing import Final

from crane_core.detectors.rules.families.python_values import CONTAINERS, FLOWING, SCALARS, words_of
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.site import Site
from crane_core.detectors.rules.thing import Thing

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
def iterator_of(site: Site) -> Thing | None:
    if len(site.arguments.positional) != 1 or site.arguments.keywords or not site.arguments.is_complete:
        return None
    thing = site.first
    if thing.type in FLOWING:
        return thing
    if thing.type in _ITERATOR_OF:
        return Thing(_ITERATOR_OF[thing.type], {_SOURCE: thing}, words=site.text)
    if thing.is_a("torch", _LOADER):
        return Thing(_LOADER_ITERATOR, {_SOURCE: thing}, words=site.text)
    if thing.package == "builtins":
        site.element(thing)
    return None


@RULES.function("builtins.next")
def next_of(site: Site) -> Thing | None:
    if not site.arguments.positional or not site.arguments.is_complete:
        return None
    thing = site.first
    if thing.class_name in _NO_ITERATORS.get(thing.package, ()) and not thing.path:
        site.crash(
            "TypeError",
            f"'{thing.class_name}' object is not an iterator",
            fact=f"{words_of(thing)} is of type {thing.type}",
            remedy=f"Create an iterator first: next(iter({words_of(thing, 'it')})).",
        )
    if len(site.arguments.positional) > 1:
        _advance(thing)
        return Thing()
    if _is_over(site, thing):
        site.crash(
            "StopIteration",
            f"{words_of(thing, 'the iterator')} is exhausted: next() raises StopIteration",
            fact=f"{words_of(thing, 'it')} is a {thing.class_name} with no items left",
            remedy="Create it again: an iterator runs only once. Or pass next() a default.",
        )
    if thing.type in FLOWING and thing.items:
        first, *thing.items = thing.items
        return first
    source = thing.fact(_SOURCE)
    _advance(thing)
    element = site.element(source) if isinstance(source, Thing) else None
    return element if element is not None else Thing()


def _is_over(site: Site, thing: Thing) -> bool:
    if thing.type == "generator" and thing.fact("exhausted") is True or thing.type in FLOWING and thing.items == []:
        return True
    if thing.type in _ITERATOR_OF.values() and thing.fact("left") == 0:
        return thing.type != "list_iterator" or not any(map(site.mentions, _GROW))
    source = thing.fact(_SOURCE)
    return isinstance(source, Thing) and source.package == "builtins" and site.elements(source) == []


def _advance(thing: Thing) -> None:
    if thing.type in FLOWING or _SOURCE in thing.facts:
        thing.forget()


@RULES.attribute("torch._BaseDataLoaderIter", "next")
@RULES.attribute("torch._SingleProcessDataLoaderIter", "next")
@RULES.attribute("torch._MultiProcessingDataLoaderIter", "next")
@RULES.attribute("builtins.generator", "next")
@RULES.attribute("builtins.list_iterator", "next")
def next_of_python_2(site: Site) -> Thing | None:
    """dataiter.next(): torch had it until 1.12."""
    thing = site.receiver or Thing()
    if thing.package == "torch" and site.packages.get("torch", "1.").startswith("1."):
        return None
    site.crash(
        "AttributeError",
        f"{words_of(thing, 'an iterator')} has no attribute next",
        fact=f"{words_of(thing, 'it')} is a {thing.class_name}",
        remedy=f"Write next({thing.words or 'it'}).",
    )
