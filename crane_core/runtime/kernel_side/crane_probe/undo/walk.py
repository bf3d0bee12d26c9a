"""All objects that a notebook's names lead to, each with a digest of its content.

A copy of the kernel has every object at the same address, so an object of the kernel and one of its copy are the same
one where address and class agree; it is unchanged where the digests agree, too. Children count by their address, atoms
by their value.
"""

from __future__ import annotations

import array
import hashlib
import marshal
import time
import types
from typing import Any, Iterable, NamedTuple

from ..anatomy import type_name
from .kinds import ATOMS, NotComparableError, StateKind
from .of_code import FUNCTION
from .parts import Anatomist, TakenApart, state_of

_PIECE = 65_536
MOST_OBJECTS = 3_000_000
MOST_HASHED = 4 * 2**30
"""Bytes of arrays: about 4 s."""
_LOOKED_AT = 2_000
"""Objects between two looks at the clock."""
_SIZE = 8


class Record(NamedTuple):
    """What is known of one object."""

    value: Any
    kind: StateKind
    form: int
    """Its class, and what of it cannot be restored in place."""
    digest: int | None
    """None where it cannot be compared."""
    children: tuple[int, ...]
    """Addresses of its children that are not atoms."""
    root: str
    """The name that led to it first."""
    why: str = ""
    """Why it cannot be compared."""


class ObjectWalk:
    """The objects of a namespace by their addresses; it keeps them alive."""

    def __init__(self, names: dict[str, Any], seconds: float) -> None:
        self.names = names
        self.records: dict[int, Record] = {}
        self.reached: dict[int, None] = {}
        """Addresses of what the cell's own names lead to."""
        self.complete: list[str] = []
        """Names of which everything was looked at, in the time that there was."""
        self._anatomist = Anatomist(names)
        self._until = time.monotonic() + seconds
        self._n_hashed = 0
        self._functions: dict[str, list[Any]] = {}

    def go(self, first: Iterable[str], extra: Iterable[Any] = ()) -> None:
        """Walk from the cell's names, then from all others, then from `extra` objects."""
        waiting = [name for name in first if name in self.names]
        seen = set(waiting)
        while waiting:
            name = waiting.pop()
            if not self._follow(name, self.names[name]):
                return
            # A function that the cell calls uses other names.
            for more in self._names_in(name):
                if more not in seen:
                    seen.add(more)
                    waiting.append(more)
        self.reached = dict.fromkeys(self.records)
        for name in list(self.names):
            if name not in seen and not self._follow(name, self.names[name]):
                return
        for value in extra:
            if not self._follow("", value):
                return

    def unfinished(self) -> list[str]:
        """Names of which not everything was looked at."""
        complete = set(self.complete)
        return [name for name in self.names if name not in complete]

    def _names_in(self, root: str) -> list[str]:
        """Names of the notebook that functions below a name may use."""
        found: dict[str, None] = {}
        for function in self._functions.get(root, ()):
            if function.__globals__ is self.names:
                found.update(dict.fromkeys(_global_names(function.__code__)))
        return [name for name in found if name in self.names]

    def _follow(self, root: str, value: Any) -> bool:
        """Whether everything below was looked at before the time was up."""
        stack = [value]
        while stack:
            value = stack.pop()
            if id(value) in self.records or is_atom(value):
                continue
            n_objects = len(self.records)
            if n_objects >= MOST_OBJECTS:
                return False
            if (
                n_objects % _LOOKED_AT == 0
                and n_objects
                and time.monotonic() > self._until
            ):
                return False
            stack += self._add(root, value)
        self.complete.append(root)
        return True

    def _add(self, root: str, value: Any) -> list[Any]:
        kind = self._anatomist.kind(value)
        if kind is FUNCTION:
            self._functions.setdefault(root, []).append(value)
        name = type_name(type(value))
        try:
            taken = self._anatomist.take(value)
            form, digest = self._digests(name, taken)
        except NotComparableError as error:
            return self._unseen(root, value, kind, name, str(error))
        except Exception as error:  # noqa: BLE001 - a library's own answer; it is told as what could not be compared
            why = f"{type(error).__name__} while it was read"
            return self._unseen(root, value, kind, name, why)
        inner = [child for child in taken.children if not is_atom(child)]
        # An object keeps its class alive, whatever name the class had.
        if self._anatomist.is_of_own_class(type(value)):
            inner.append(type(value))
        children = tuple(id(child) for child in inner)
        self.records[id(value)] = Record(
            value, kind, form, digest, children, root
        )
        return inner

    def _unseen(
        self, root: str, value: Any, kind: StateKind, name: str, why: str
    ) -> list[Any]:
        form = _number(name.encode("utf-8", "surrogatepass"))
        self.records[id(value)] = Record(
            value, kind, form, None, (), root, f"{name}: {why}"
        )
        return []

    def _digests(self, name: str, taken: TakenApart) -> tuple[int, int]:
        plain = taken.plain
        fixed = plain[: taken.kind.n_fixed] if taken.kind.n_fixed else None
        form = _number(marshal.dumps((name, taken.kind.name, fixed), 2))
        found = hashlib.blake2b(digest_size=_SIZE)
        if type(plain) is tuple and plain and type(plain[-1]) is memoryview:
            self._n_hashed += plain[-1].nbytes
            if self._n_hashed > MOST_HASHED:
                raise NotComparableError("too large to be compared")
            found.update(plain[-1])
            plain = plain[:-1]
        found.update(marshal.dumps((plain, taken.keys, taken.n_own), 2))
        children = taken.children
        is_all_atoms = ATOMS.hold_all(children)
        for start in range(0, len(children), _PIECE):
            piece = children[start : start + _PIECE]
            if not is_all_atoms:
                piece = [
                    child if is_atom(child) else ["@", id(child)]
                    for child in piece
                ]
            found.update(marshal.dumps(piece, 2))
        return form, int.from_bytes(found.digest(), "little")

    def digest_of(self, value: Any) -> int | None:
        """The digest of an object as it is now; None where it cannot be compared."""
        try:
            taken = self._anatomist.take(value)
            return self._digests(type_name(type(value)), taken)[1]
        except Exception:  # noqa: BLE001 - as in a walk
            return None

    def has_become(self, value: Any, state: Any) -> bool:
        """Whether an object has the parts of `state`, as state_of makes it, and the very same children."""
        plain, own, keys, items = state
        try:
            now, now_own, now_keys, now_items = state_of(
                self._anatomist.take(value)
            )
        except Exception:  # noqa: BLE001 - as in a walk
            return False
        there, wanted = [*now_own, *now_items], [*own, *items]
        return (
            marshal.dumps((now, now_keys), 2) == marshal.dumps((plain, keys), 2)
            and len(there) == len(wanted)
            and all(map(_is_same, there, wanted))
        )

    def packed(self) -> bytes:
        """Address, form and digest of each object, for the other process; an unseen one has the digest 0."""
        numbers = array.array("Q")
        for address, record in self.records.items():
            numbers.extend((address, record.form, record.digest or 0))
        return numbers.tobytes()


def unpacked(packed: bytes) -> dict[int, tuple[int, int]]:
    """Form and digest by address."""
    numbers = array.array("Q", packed)
    return {
        numbers[place]: (numbers[place + 1], numbers[place + 2])
        for place in range(0, len(numbers), 3)
    }


def is_atom(value: Any) -> bool:
    """Whether it counts by its value: an atom, or a tuple of atoms, of which notebooks have many."""
    kind = type(value)
    return kind in ATOMS or kind is tuple and ATOMS.hold_all(value)


def _is_same(one: Any, other: Any) -> bool:
    return one is other or (
        is_atom(one)
        and is_atom(other)
        and marshal.dumps(one, 2) == marshal.dumps(other, 2)
    )


def _number(content: bytes) -> int:
    return int.from_bytes(
        hashlib.blake2b(content, digest_size=_SIZE).digest(), "little"
    )


def _global_names(code: types.CodeType) -> list[str]:
    """Names that code and the functions in it may look up among the notebook's."""
    found = list(code.co_names)
    for part in code.co_consts:
        if type(part) is types.CodeType:
            found += _global_names(part)
    return found
