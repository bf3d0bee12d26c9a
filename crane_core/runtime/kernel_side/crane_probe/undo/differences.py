"""What the kernel holds otherwise than its copy, found and packed in the copy.

Knows four fates of an object of the copy: it lives on unchanged; it lives on and is restored in place; it lives on, but
has to be replaced by a new one, as it cannot be changed back; it is gone. What holds one of the last two is restored
as well.
"""

from __future__ import annotations

import io
import pickle
from typing import Any, Mapping

from . import walk as walks
from .kinds import LEAF
from .parts import Anatomist, state_of
from .transfer import LostObject, StatePickler, StateUnpickler

Names = Mapping[str, Any]
_MOST_BYTES = 2 * 2**30
_MOST_LISTED = 200
OWN_NAMES = ("In", "Out", "get_ipython", "exit", "quit")


def bindings(names: Names) -> dict[str, Any]:
    """For each name the address of its object, or an atom's value as text that two processes share."""
    return {
        name: _binding(value)
        for name, value in names.items()
        if is_of_notebook(name)
    }


def is_of_notebook(name: Any) -> bool:
    """Not IPython's own: history, results, and what it offers itself."""
    if type(name) is not str or name in OWN_NAMES:
        return False
    # _, __, _i, _ii, _5, _i5, _oh, _ih, _dh, and names such as __builtins__
    bare = name.strip("_")
    is_numbered = name.startswith("_") and bare.lstrip("i").isdigit()
    return not (
        is_numbered
        or name.startswith("_")
        and bare in ("", "i", "ii", "iii", "oh", "ih", "dh", "exit_code")
        or name.startswith("__")
        and name.endswith("__")
    )


def _binding(value: Any) -> Any:
    if walks.is_atom(value):
        return f"{type(value).__name__} {value!r}"
    return id(value)


class Differences:
    """What one copy has to send."""

    def __init__(
        self,
        walk: walks.ObjectWalk,
        of_kernel: Mapping[int, tuple[int, int]],
        bound: Mapping[str, Any],
        complete: set[str],
    ) -> None:
        """`of_kernel` has form and digest by address, `bound` what the kernel's names are bound to.

        `complete` are names below which the kernel has looked at everything.
        """
        self._walk = walk
        self._records = walk.records
        self._of_kernel = of_kernel
        self._bound = bound
        self._complete = complete
        self._anatomist = Anatomist(walk.names)
        self.stays: list[tuple[str, str]] = []
        """Name and reason of what changed and cannot be brought back."""
        self._alive = {
            address
            for address, record in self._records.items()
            if of_kernel.get(address, (None,))[0] == record.form
        }
        self._changed: set[int] = set()
        self._replaced: set[int] = set()
        self._judge()
        self._spread()

    def _judge(self) -> None:
        for address in self._alive:
            record = self._records[address]
            theirs = self._of_kernel[address][1]
            if record.digest is None or not theirs:
                if address in self._walk.reached:
                    why = record.why or "it can no longer be compared"
                    self.stays.append((record.root, why))
            elif record.digest != theirs:
                self._change(address)

    def _change(self, address: int, *, has_new_owner: bool = False) -> None:
        record = self._records[address]
        if record.kind.restore is not None and not has_new_owner:
            self._changed.add(address)
        elif self._can_be_made(record):
            self._changed.discard(address)
            self._replaced.add(address)
        else:
            kind = type(record.value).__name__
            self.stays.append((record.root, f"{kind}: it went on"))

    @staticmethod
    def _can_be_made(record: walks.Record) -> bool:
        kind = record.kind
        if kind is LEAF:
            return False
        if kind.build is not None or kind.blank is not None:
            return True
        try:
            record.value.__reduce_ex__(4)
        except Exception:  # noqa: BLE001 - a library's refusal, which is the answer
            return False
        return True

    def _spread(self) -> None:
        """What holds a new object is given it."""
        parents: dict[int, list[int]] = {}
        for address in self._alive:
            for child in self._records[address].children:
                parents.setdefault(child, []).append(address)
        new = [
            child
            for child in parents
            if child not in self._alive or child in self._replaced
        ]
        while new:
            child = new.pop()
            for parent in parents.get(child, ()):
                if parent in self._replaced:
                    continue
                # A view cannot be given another array: it is made again.
                has_new_owner = self._owner_of(parent) == child
                if parent in self._changed and not has_new_owner:
                    continue
                self._change(parent, has_new_owner=has_new_owner)
                if parent in self._replaced:
                    new.append(parent)

    def _owner_of(self, address: int) -> int | None:
        """The address of what an object shows the memory of; None where it has its own."""
        record = self._records[address]
        place = record.kind.owner_at
        if place is None:
            return None
        owner = self._anatomist.take(record.value).children[place]
        return None if owner is None else id(owner)

    def packed(self) -> bytes:
        """All that the kernel needs to restore, as StateUnpickler reads it; what cannot be packed is in `stays`."""
        whole = {
            "names": self._names(),
            "changed": self._contents(),
            "all": [name for name in self._walk.names if is_of_notebook(name)],
            "complete": self._walk.complete,
        }
        try:
            told = self._pickled(whole)
        except Exception:  # noqa: BLE001 - one object spoils the whole: find it
            told = self._pickled(self._without_spoilers(whole))
        return pickle.dumps((told, self.stays[:_MOST_LISTED]), 4)

    def _names(self) -> dict[str, Any]:
        """Names of the copy that the kernel lost, or that are bound to something else."""
        found = {}
        for name in self._walk.complete:
            if not is_of_notebook(name):
                continue
            # Objects below a name that the kernel did not finish would all seem to be gone.
            if name in self._bound and name not in self._complete:
                continue
            value = self._walk.names[name]
            same = self._bound.get(name, _MISSING) == _binding(value)
            address = id(value)
            is_new = not walks.is_atom(value) and (
                address not in self._alive or address in self._replaced
            )
            if not same or is_new:
                found[name] = value
        return found

    def _contents(self) -> list[Any]:
        found = []
        for address in self._changed:
            record = self._records[address]
            taken = self._anatomist.take(record.value)
            is_whole = all(
                child in self._alive and child not in self._replaced
                for child in record.children
            )
            digest = record.digest if is_whole else None
            found.append(
                (
                    address,
                    record.kind.name,
                    record.root,
                    state_of(taken),
                    digest,
                )
            )
        return found

    def _kept(self) -> dict[int, Any]:
        return {
            address: self._records[address].value
            for address in self._alive
            if address not in self._replaced
        }

    def _pickled(self, what: Any) -> bytes:
        kept = self._kept()
        to = _BoundedStream()
        sender = StatePickler(to, kept, self._anatomist)
        sender.dump(what)
        content = to.getvalue()
        # Tried here: what cannot be made again must not stop the kernel half way.
        StateUnpickler(content, kept, dict(self._walk.names)).load()
        self.stays += [("", what_is_lost) for what_is_lost in sender.lost]
        return content

    def _without_spoilers(self, whole: dict[str, Any]) -> dict[str, Any]:
        names = {
            name: value
            for name, value in whole["names"].items()
            if self._is_sound(name, value)
        }
        changed = [
            content
            for content in whole["changed"]
            if self._is_sound(content[2], content[3])
        ]
        return {**whole, "names": names, "changed": changed}

    def _is_sound(self, name: str, what: Any) -> bool:
        """Whether this can be sent by itself; else it stays, under this name."""
        n_told = len(self.stays)
        try:
            self._pickled(what)
        except Exception as error:  # noqa: BLE001 - told by name
            self.stays.append((name, f"{type(error).__name__}: {error}"[:200]))
            return False
        # What is lost is told again, once, with the whole.
        del self.stays[n_told:]
        return True


class _BoundedStream(io.BytesIO):
    """Refuses what the kernel's memory might not hold a second time."""

    def write(self, content: Any) -> int:
        if self.tell() + len(content) > _MOST_BYTES:
            raise OverflowError("it is too large to be sent")
        return super().write(content)


_MISSING = object()


def is_lost(value: Any) -> bool:
    """Whether this only marks what could not be sent."""
    return type(value) is LostObject
