"""What it takes to know one kind of object: how it is taken apart, and how it is put together again.

An object has *plain* content, which the other process can be sent as it is, and *children*, which are objects with
identities themselves. The kernel and its copy take objects apart in the same way, so that equal parts mean an
unchanged object. Refuses to call code of the notebook: containers are read and written by the methods of their base.
"""

from __future__ import annotations

from typing import Any, Callable, List, NamedTuple, Tuple

from ..kinds import Kinds

Parts = Tuple[Any, List[Any]]
"""Plain content (what `marshal` takes, and memoryviews as the last member of a tuple) and children."""


ATOMS = Kinds(type(None), bool, int, float, complex, str, bytes, type(Ellipsis))
"""What is its value: whether two are the same object means nothing."""


class NotComparableError(Exception):
    """An object whose content cannot be read without changing it, or at all; the text says why."""


class StateKind(NamedTuple):
    """How one kind of object is taken apart, and how it is put back."""

    name: str
    parts: Callable[[Any], Parts]
    restore: Callable[[Any, Any, list[Any]], None] | None = None
    """Give this very object its parts; None where it cannot change or cannot be changed back."""
    build: Callable[[type, Any, list[Any]], Any] | None = None
    """A new object of the parts, where it does not survive; None where `pickle` knows."""
    blank: Callable[[type, Any], Any] | None = None
    """An empty one that `restore` then fills, for what may contain itself."""
    n_fixed: int = 0
    """So many first members of the plain content cannot be restored in place: shape and type of an array."""
    owner_at: int | None = None
    """The place among its children of what it cannot let go of: the array whose memory a view shows."""
    has_state: bool = True
    """Whether attributes in `__dict__` and slots are looked at besides."""


def _nothing(_: Any) -> Parts:
    return None, []


def _lost(_: Any) -> Parts:
    raise NotComparableError("its content cannot be read")


LEAF = StateKind("leaf", _nothing, has_state=False)
"""What a cell is not expected to change: modules, classes and functions of libraries."""
INSTANCE = StateKind(
    "instance",
    _nothing,
    lambda *_: None,
    blank=lambda kind, _: object.__new__(kind),
)
"""An object whose whole content is its attributes."""
OPAQUE = StateKind("opaque", _lost)
