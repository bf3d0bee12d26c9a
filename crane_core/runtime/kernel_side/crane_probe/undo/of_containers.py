"""Lists, dicts, sets and other containers of Python: read and written by the methods of their base.

A class of the notebook that derives from one may override methods; they are not called.
"""

from __future__ import annotations

import array
import collections
from typing import Any

from .kinds import Parts, StateKind


def _list_parts(value: Any) -> Parts:
    return None, list.copy(value)


def _restore_list(value: Any, _: Any, children: list[Any]) -> None:
    list.__setitem__(value, slice(None), children)


def _dict_parts(value: Any) -> Parts:
    return None, [*dict.keys(value), *dict.values(value)]


def _restore_dict(value: Any, _: Any, children: list[Any]) -> None:
    n_keys = len(children) // 2
    dict.clear(value)
    dict.update(value, zip(children[:n_keys], children[n_keys:]))


def _ordered_parts(value: Any) -> Parts:
    # Its order is not that of dict, which move_to_end leaves alone.
    ordered = collections.OrderedDict
    return None, [*ordered.keys(value), *ordered.values(value)]


def _restore_ordered(value: Any, _: Any, children: list[Any]) -> None:
    ordered = collections.OrderedDict
    n_keys = len(children) // 2
    ordered.clear(value)
    for key, item in zip(children[:n_keys], children[n_keys:]):
        ordered.__setitem__(value, key, item)


def _default_parts(value: Any) -> Parts:
    return None, [*_dict_parts(value)[1], value.default_factory]


def _restore_default(value: Any, _: Any, children: list[Any]) -> None:
    _restore_dict(value, None, children[:-1])
    value.default_factory = children[-1]


def _set_parts(value: Any) -> Parts:
    return None, list(set.__iter__(value))


def _restore_set(value: Any, _: Any, children: list[Any]) -> None:
    set.clear(value)
    set.update(value, children)


def _deque_parts(value: Any) -> Parts:
    return value.maxlen, list(collections.deque.__iter__(value))


def _restore_deque(value: Any, _: Any, children: list[Any]) -> None:
    collections.deque.clear(value)
    collections.deque.extend(value, children)


def _restore_bytes(value: Any, plain: Any, _: list[Any]) -> None:
    value[:] = plain


def _restore_array(value: Any, plain: Any, _: list[Any]) -> None:
    value[:] = array.array(plain[0], plain[1])


def _tuple_parts(value: Any) -> Parts:
    return None, list(tuple.__iter__(value))


def _frozen_parts(value: Any) -> Parts:
    return None, list(frozenset.__iter__(value))


KINDS: dict[type, StateKind] = {
    list: StateKind("list", _list_parts, _restore_list),
    collections.OrderedDict: StateKind(
        "ordered", _ordered_parts, _restore_ordered
    ),
    collections.defaultdict: StateKind(
        "default", _default_parts, _restore_default
    ),
    dict: StateKind("dict", _dict_parts, _restore_dict),
    set: StateKind("set", _set_parts, _restore_set),
    collections.deque: StateKind("deque", _deque_parts, _restore_deque),
    bytearray: StateKind(
        "bytes", lambda value: (bytes(value), []), _restore_bytes
    ),
    array.array: StateKind(
        "array",
        lambda value: ((value.typecode, value.tobytes()), []),
        _restore_array,
        n_fixed=1,
    ),
    tuple: StateKind("tuple", _tuple_parts),
    frozenset: StateKind("frozenset", _frozen_parts),
}
"""By class; the first class of an object's `__mro__` that is listed decides."""
HASHING = ("dict", "ordered", "default", "set")
"""Kinds that compute hashes of what they hold when they are restored."""
