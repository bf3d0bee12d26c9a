"""Objects that a library takes apart for `pickle` by its own code: a tree of scikit-learn, a partial, an iterator.

They are compared by what they say of themselves, and are replaced rather than changed back. What a class of the
notebook says is its code, which is not called.
"""

from __future__ import annotations

import copyreg
import pickle
import sys
import warnings
from typing import Any

from ..anatomy import class_dict, mro_of
from ..session.origins import is_own_class
from .kinds import ATOMS, NotComparableError, Parts, StateKind


def reduces(cls: type) -> bool:
    """Whether `pickle` can take such objects apart by code that is not the notebook's, nor `object`'s own."""
    if cls in copyreg.dispatch_table:
        return True
    for parent in mro_of(cls):
        if parent is object:
            # `object` refuses what is laid out in C, unless the class says how its state is read.
            return False
        held = class_dict(parent)
        if any(
            name in held
            for name in ("__reduce__", "__reduce_ex__", "__getstate__")
        ):
            return not is_own_class(parent)
    return False


def _reduced_parts(value: Any) -> Parts:
    # A table of pyarrow would be written out whole.
    if getattr(value, "nbytes", 0) > _MOST_BYTES:
        raise NotComparableError("too large to be compared")
    reducer = copyreg.dispatch_table.get(type(value))
    with warnings.catch_warnings():
        # Iterators of itertools warn that their pickling ends with Python 3.14.
        warnings.simplefilter("ignore")
        told = reducer(value) if reducer else value.__reduce_ex__(4)
    if type(told) is str:
        return told, []
    children: list[Any] = []
    return pickle.dumps(_spelled(told, children, 0), 4), children


def _spelled(part: Any, children: list[Any], depth: int) -> Any:
    """A part by its value; what others hold as well by its place among the children."""
    kind = type(part)
    if kind in ATOMS:
        return part
    if kind in (tuple, list, dict) and depth < _DEEPEST:
        parts = [*part, *part.values()] if kind is dict else part
        spelled = [_spelled(each, children, depth + 1) for each in parts]
        return (kind.__name__, spelled)
    module = kind.__module__
    # Made for this answer alone (an array of a tree's nodes): only the frames here and its container hold it.
    if module == "numpy" and sys.getrefcount(part) <= _OWN_REFERENCES:
        return part
    children.append(part)
    return ("child", len(children) - 1)


_MOST_BYTES = 256 * 2**20
_DEEPEST = 6
_OWN_REFERENCES = 5
REDUCED = StateKind("reduced", _reduced_parts, has_state=False)
