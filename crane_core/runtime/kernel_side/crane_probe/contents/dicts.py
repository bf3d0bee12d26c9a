"""Dicts: keys, needed entries, and what the published extractor recognises: histories, data sets, scores.

Knows the methods of `dict` itself. Refuses to hash or compare a key that is not plain.
"""

from __future__ import annotations

import collections
from itertools import islice
from typing import Any

from ..anatomy import is_kind, type_name
from ..bounds import Facts, listed, merged, stated
from ..kinds import CONTAINERS, NUMBERS, PLAIN, Kinds, counted
from . import sequences

_NS_PER_KEY = 40
_KEYS = Kinds(*PLAIN, tuple)
# The published extractor's preview has five entries.
_PREVIEW = 5
_DETECTED_AMONG = 2_000
_BUNCH = (("data_shape", "data"), ("target_shape", "target"))


def mapping(value: Any, look: Any) -> Facts:
    """A dict: length, keys, what the needed entries and the first ones are."""
    # Known at once: the rest may be cut off by the clock, the length stays.
    sure = {"structure": {"length": dict.__len__(value)}}
    told: Facts = look.in_time(sure, lambda: _content(value, look))
    return told


def _content(value: Any, look: Any) -> Facts:
    length = dict.__len__(value)
    # A dict of millions of keys takes seconds to walk through.
    if not look.affords(length * _NS_PER_KEY):
        return {
            "plus": {
                "values": {
                    "not_computed": f"{length} keys are too many to look through"
                }
            }
        }
    # dict's own methods everywhere: a subclass may count or log what is read.
    keys = list(
        islice(dict.__iter__(value), max(look.limits.names, _DETECTED_AMONG))
    )
    entries = _shown_entries(value, keys, look)
    plus = {
        "representation": {"key_types": _key_types(value, look)}
        if length
        else {},
        "values": merged(
            {"keys": _key_list(keys, length, look)}, _default(value)
        ),
        "structure": {
            **_lengths(value, length),
            **_other_shapes(value, [key for key, _ in entries], look),
        },
    }
    items = ((look.label(key), item) for key, item in entries)
    plus = merged(plus, look.inside_as("items", items))
    return merged(_detected(value, keys, look), {"plus": plus})


def _shown_entries(value: Any, keys: list[Any], look: Any) -> list[Any]:
    """The entries that are looked into: those needed, then the first ones."""
    asked = (
        # Looking up another key would call its __hash__ and __eq__.
        [key for key in look.asked().items if type(key) in PLAIN]
        if has_plain_keys(value)
        else []
    )
    there = [
        (key, dict.__getitem__(value, key))
        for key in asked[: look.limits.asked]
        if dict.__contains__(value, key)
    ]
    # By identity, as comparing values may run code, or compare arrays.
    met = {id(item) for _, item in there}
    first = islice(dict.items(value), look.limits.items)
    return [
        *there,
        *((key, item) for key, item in first if id(item) not in met),
    ]


def has_plain_keys(value: Any) -> bool:
    """True when looking a key up runs no code but Python's own."""
    return _KEYS.hold_all(dict.__iter__(value))


def _key_types(value: Any, look: Any) -> dict[str, int]:
    return sequences.kind_counts(
        counted(lambda: dict.__iter__(value)), look.limits.values
    )


def _key_list(keys: list[Any], length: int, look: Any) -> list[Any]:
    return listed(
        [look.scalar(key) for key in keys[: look.limits.names]], length
    )


def gives_nothing(value: Any, kind: type) -> bool:
    """True where `kind` is defaultdict and the dict has no factory: a missing key raises."""
    factory: Any = vars(collections.defaultdict)["default_factory"]
    return kind is collections.defaultdict and factory.__get__(value) is None


def _default(value: Any) -> Facts:
    """The value of a missing key, where there is one."""
    if is_kind(value, collections.Counter):
        return {"missing_key_gives": 0}
    if not is_kind(value, collections.defaultdict):
        return {}
    # The class's own member, as a subclass may hide it.
    factory = vars(collections.defaultdict)["default_factory"].__get__(value)
    shown = (
        type_name(factory)
        if is_kind(factory, type)
        else type_name(type(factory))
    )
    return {} if factory is None else {"missing_key_gives": shown}


def _lengths(value: Any, length: int) -> Facts:
    """Whether the lists of a dict have one length, as a frame made of it needs."""
    # Only lists and arrays have a length here; a single value makes pandas repeat it.
    shapes = [
        sequences.own_shape(item)
        for item in islice(dict.values(value), _DETECTED_AMONG)
    ]
    lengths = {shape[0] for shape in shapes if shape}
    if (
        length < 2
        or length > _DETECTED_AMONG
        or len(lengths) == 0
        or not all(shapes)
    ):
        return {}
    return {"lengths_equal": len(lengths) == 1}


def _other_shapes(value: Any, shown: list[Any], look: Any) -> Facts:
    """Shapes of the arrays and tensors that are not looked into: a state_dict is all weights."""
    known = {key for key in shown if type(key) is str}
    shapes = {
        look.label(key): sequences.own_shape(item)
        for key, item in islice(dict.items(value), look.limits.asked)
        # Containers have no shape of numbers that is worth a line.
        if type(key) is str
        and key not in known
        and type(item) not in CONTAINERS
    }
    told = {
        key: list(shape) for key, shape in shapes.items() if shape is not None
    }
    return stated(other_shapes=told)


def _detected(value: Any, keys: list[Any], look: Any) -> Facts:
    """The published extractor's three kinds of dict, and its preview of any other."""
    length = dict.__len__(value)
    is_short = length <= _DETECTED_AMONG
    held = list(islice(dict.values(value), _DETECTED_AMONG)) if is_short else []
    if not held or not all(type(key) is str for key in keys):
        return _preview(value, look)
    names = _key_list(keys, length, look)
    # A list of losses per epoch is what Keras calls a history.
    if all(map(_is_history, held)):
        facts = {"detected": "training_history_dict", "metrics": names}
        return {"structure": {"n_epochs": len(held[0])}, "values": facts}
    # scikit-learn's load_iris() and the rest, converted to a dict.
    if {"data", "target"} <= set(keys):
        facts = {"detected": "sklearn_dataset_dict"}
        return {"structure": _bunch_shapes(value), "values": facts}
    if all(map(_is_number, held)):
        return {"values": {"detected": "scalar_metrics_dict", "metrics": names}}
    return _preview(value, look)


def _is_history(value: Any) -> bool:
    is_list = type(value) is list and bool(value)
    return is_list and all(map(_is_number, value[:_DETECTED_AMONG]))


def _is_number(value: Any) -> bool:
    return type(value) in NUMBERS or is_kind(value, float)


def _bunch_shapes(value: Any) -> Facts:
    shapes = {
        name: sequences.own_shape(dict.__getitem__(value, part))
        for name, part in _BUNCH
    }
    return {
        name: list(shape) for name, shape in shapes.items() if shape is not None
    }


def _preview(value: Any, look: Any) -> Facts:
    first = list(islice(dict.items(value), _PREVIEW))
    kinds = {
        look.label(key): [type_name(type(key)), type_name(type(item))]
        for key, item in first
    }
    # Only plain values: the rest would need a repr.
    plain = {
        look.label(key): look.scalar(item)
        for key, item in first
        if type(item) in PLAIN
    }
    return (
        merged(
            {"representation": {"preview": kinds}},
            {"values": {"preview": plain}},
        )
        if first
        else {}
    )


def view(value: Any, look: Any) -> Facts:
    """Keys, values or items of a dict: how many, and their types."""
    kinds = counted(lambda: type(value).__iter__(value))
    types_shown = sequences.kind_counts(kinds, look.limits.values)
    return {
        "plus": {
            "structure": {"length": sum(count for _, count in kinds)},
            "representation": {"item_types": types_shown},
        }
    }


SUMMARIZERS = {
    "dict": mapping,
    **dict.fromkeys(("dict_keys", "dict_values", "dict_items"), view),
}
