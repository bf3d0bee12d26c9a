"""Attributes of objects, in `__dict__` and in slots, read and written below everything that a class overrides."""

from __future__ import annotations

import types
from typing import Any

from ..anatomy import class_dict, mro_of, package_of
from . import of_pandas
from .kinds import NotComparableError

_CACHED = {"pandas": of_pandas.CACHED}


def dict_of(value: Any) -> Any:
    """The dict of an object's attributes, None where it has none."""
    if not type(value).__dictoffset__:
        return None
    try:
        held = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return None
    return held if isinstance(held, dict) else None


def cached_in(cls: type) -> tuple[str, ...]:
    """Attributes of such objects that hold what is computed again: they are not compared."""
    return _CACHED.get(package_of(cls), ())


def slots_of(cls: type) -> tuple[str, ...]:
    """Names that the classes keep in slots."""
    return tuple(
        name
        for parent in mro_of(cls)
        # Members of a class in C (a partial's) are not slots.
        if "__slots__" in class_dict(parent)
        for name, item in class_dict(parent).items()
        if type(item) is types.MemberDescriptorType
        and name not in ("__dict__", "__weakref__")
    )


def read(value: Any, slots: tuple[str, ...]) -> tuple[Any, list[Any]]:
    """Names (of the dict, or None without one; of the slots that are filled), and the values in the same order.

    The names are None where the object can have no attributes. Raises NotComparableError.
    """
    held = dict_of(value)
    if held is None and not slots:
        return None, []
    names = None
    items: list[Any] = []
    if held is not None:
        cached = cached_in(type(value))
        shown = {
            name: item for name, item in held.items() if name not in cached
        }
        if not all(type(name) is str for name in shown):
            raise NotComparableError("attributes that are not named by text")
        names = tuple(shown)
        items = list(shown.values())
    filled = []
    for name in slots:
        try:
            items.append(object.__getattribute__(value, name))
        except AttributeError:
            continue
        filled.append(name)
    return (names, tuple(filled)), items


def write(value: Any, keys: Any, items: list[Any]) -> None:
    """Give an object, which may be empty yet, the attributes that `read` found."""
    names, filled = keys
    if names is not None:
        held = dict_of(value)
        wanted = dict(zip(names, items))
        # An empty object gets the empty memory that its library counts on.
        wanted.update(
            (name, held.get(name, {}))
            for name in cached_in(type(value))
            if name in held or not held
        )
        held.clear()
        held.update(wanted)
    for name in slots_of(type(value)):
        if name not in filled:
            _empty(value, name)
    for name, item in zip(filled, items[len(names or ()) :]):
        object.__setattr__(value, name, item)


def _empty(value: Any, name: str) -> None:
    try:
        object.__delattr__(value, name)
    except AttributeError:
        return  # It is empty already.
