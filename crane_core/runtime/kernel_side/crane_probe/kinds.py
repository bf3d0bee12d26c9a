"""Types distinguished by identity: the `__eq__` and `__hash__` of a metaclass are not used.

`type(value) in (list, tuple)` and a dict with types as keys would ask them.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Callable, Iterable, Iterator


class Kinds:
    """Some types; `kind in kinds` by identity."""

    def __init__(self, *kinds: type) -> None:
        self._kinds = kinds
        # By id: a set of the types would hash them by their metaclass.
        self._ids = frozenset(map(id, kinds))

    def __contains__(self, kind: type) -> bool:
        return id(kind) in self._ids

    def __iter__(self) -> Iterator[type]:
        return iter(self._kinds)

    def hold_all(self, items: Iterable[Any]) -> bool:
        """True when each item is of one of these types, exactly."""
        # One pass in C over all items, without a call of Python's for each.
        return self._ids.issuperset(map(id, map(type, items)))


PLAIN = Kinds(str, int, float, bool, type(None), bytes)
SCALARS = Kinds(str, int, float, bool, type(None), bytes, complex)
NUMBERS = Kinds(int, float, bool)
ROWS = Kinds(list, tuple)
CONTAINERS = Kinds(list, tuple, set, frozenset, dict)
LABELS = Kinds(*PLAIN, tuple)
"""What names a column, a row or an entry of a dict."""
INDICES = Kinds(int, str)
SINGLE = Kinds(int, str, float)
BOUNDS = Kinds(int, type(None))
"""Ends of a slice."""
REAL = Kinds(int, float)
LISTED = Kinds(list, tuple, set)


def counted(again: Callable[[], Iterable[Any]]) -> list[tuple[type, int]]:
    """The types of items, in the order in which they are met, and how many are of each."""
    # Two passes, for a Counter of the types themselves would hash them.
    counts = Counter(map(id, map(type, again())))
    left, found = set(counts), {}
    for item in again():
        # An iterator that differs the second time (a set that another thread changes) may lack one.
        kind = type(item)
        if id(kind) in left:
            found[id(kind)] = kind
            left.discard(id(kind))
            if not left:
                break
    return [
        (found[one], count) for one, count in counts.items() if one in found
    ]
