"""What the names of a piece of code stand for while it is read in the order of evaluation.

Knows three kinds of name: local to a function or comprehension, given a value by the target before, and of the
kernel. A local name may be another word for an object of the kernel, a known value, or a function.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..anatomy import MISSING
from .asked import Steps

NOTHING_KNOWN: Any = MISSING


class Alias(NamedTuple):
    """Another word for what a chain of the kernel leads to.

    `copy` is 0 for the kernel's own object. What a call gave, as in `b = a.copy()`, may be changed without it: each
    such value has its own number.
    """

    name: str
    steps: Steps = ()
    copy: int = 0

    @property
    def owner(self) -> tuple[str, int]:
        """What is changed when this object is changed."""
        return self.name, self.copy


class Literal(NamedTuple):
    """A known value."""

    value: Any


class Closure(NamedTuple):
    """A function or class that the code itself defines, with the scopes it was defined in."""

    node: Any
    scopes: tuple[dict[str, Any], ...]


class KnownNames(NamedTuple):
    """What the target's names and those of the local scopes stood for at one place."""

    target: dict[str, Any]
    locals: tuple[dict[str, Any], ...]


class Scopes:
    """Which names stand for what, now."""

    def __init__(self) -> None:
        self.target: dict[str, Any] = {}
        """Names that the target has given a value, with what is known of it."""
        self.locals: tuple[dict[str, Any], ...] = ()
        """Local scopes, the innermost last."""
        self.perhaps: set[str] = set()
        """Names that the target assigns on some ways, not on all."""
        self.made: set[tuple[tuple[str, int], str]] = set()
        """Items and attributes of kernel objects that the target has set."""
        self.changed: set[tuple[str, int]] = set()
        """Kernel objects whose items the target may have changed."""
        self.called: set[tuple[str, int]] = set()
        """Kernel objects of which the target has called a method, or which it has handed to a function."""

    def meaning(self, name: str) -> Any:
        """What a name that is not the kernel's refers to; an Alias to itself for a name of the kernel."""
        for scope in reversed(self.locals):
            if name in scope:
                return scope[name]
        # A name that nothing binds is the kernel's, or missing.
        return self.target.get(name, Alias(name))

    def bind(self, name: str, meaning: Any = NOTHING_KNOWN) -> None:
        """Binds the name in the scope to which it belongs."""
        for scope in reversed(self.locals):
            if name in scope:
                scope[name] = meaning
                return
        self.target[name] = meaning

    def unbind(self, name: str) -> None:
        """The target deletes the name: it is the kernel's again, as far as is known."""
        self.target.pop(name, None)

    def snapshot(self) -> KnownNames:
        """Copies of the target's names and of the local scopes, to be restored."""
        # Copies: a branch is read into the same dicts and must be taken back.
        return KnownNames(
            dict(self.target), tuple(dict(scope) for scope in self.locals)
        )

    def restore(self, taken: KnownNames) -> None:
        """Put back what `snapshot` returned."""
        self.target = dict(taken.target)
        for scope, names in zip(self.locals, taken.locals):
            scope.clear()
            scope.update(names)

    def join(self, ends: list[KnownNames]) -> None:
        """After branches: a name is the target's own only where each branch assigns it."""
        some = set().union(*(end.target for end in ends))
        self.target = _joined([end.target for end in ends])
        # Bound on some ways: neither the kernel's for certain nor the target's.
        self.perhaps |= some - set(self.target)
        for at, scope in enumerate(self.locals):
            joined = _joined([end.locals[at] for end in ends])
            # A local name stays local on every way, whatever it holds.
            scope.update(
                {name: joined.get(name, NOTHING_KNOWN) for name in scope}
            )


def _joined(ends: list[dict[str, Any]]) -> dict[str, Any]:
    first = ends[0]
    shared = [name for name in first if all(name in end for end in ends)]
    return {
        # By identity: two branches that bind equal values are rare, and comparing may run code.
        name: first[name]
        if all(end[name] is first[name] for end in ends)
        else NOTHING_KNOWN
        for name in shared
    }
