"""A copy of what names stand for, in which nothing that is changed later changes the original.

Knows how values hold each other: two names of one object share one copy. Code of the notebook is not copied, as
nothing changes a syntax tree, and definitions are compared by identity.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.heap import Scope

_SAME = ("is_foreign", "path", "definition", "words")
"""Attributes of a value that hold no other value and are never changed in place."""


def copied_values(
    names: Mapping[str, AbstractValue],
) -> dict[str, AbstractValue]:
    """The names with copies of their values, and of all that those lead to."""
    copying = _Copying()
    copies = {name: copying.value(value) for name, value in names.items()}
    copying.fill()
    return copies


class _Copying:
    """One copy of each value and scope. Filled from a list, as a chain of 5,000 lists nests too deep for calls."""

    def __init__(self) -> None:
        self._values: dict[AbstractValue, AbstractValue] = {}
        self._scopes: dict[int, tuple[Scope, Scope]] = {}
        self._open: list[AbstractValue] = []

    def value(self, original: AbstractValue) -> AbstractValue:
        """The copy of a value, which is empty until `fill` comes to it."""
        made = self._values.get(original)
        if made is None:
            made = self._values[original] = AbstractValue()
            self._open.append(original)
        return made

    def fill(self) -> None:
        while self._open:
            original = self._open.pop()
            self._fill(original, self._values[original])

    def _fill(self, original: AbstractValue, made: AbstractValue) -> None:
        for name in _SAME:
            setattr(made, name, getattr(original, name))
        # The parts below the properties, as reading those counts as a change.
        made.type = original.type
        made.facts = self._part(original._facts)
        made.literal = self._part(original._literal)
        made.items = self._part(original._items)
        made.members = self._part(original._members)
        made.attributes = self._part(original._attributes)
        made.bound_to = self._part(original.bound_to)
        made.scope = self._part(original.scope)

    def _part(self, part: Any) -> Any:
        """A fact or field; types that the heap does not copy for a branch are not copied here either."""
        if isinstance(part, AbstractValue):
            return self.value(part)
        if isinstance(part, Scope):
            return self._scope(part)
        if isinstance(part, dict):
            return {key: self._part(held) for key, held in part.items()}
        if type(part) in (list, tuple, set):
            return type(part)(map(self._part, part))
        return part

    def _scope(self, original: Scope) -> Scope:
        known = self._scopes.get(id(original))
        if known is not None:
            return known[1]
        made = replace(original, names={}, elsewhere={})
        # The original is kept beside its copy, so that no other scope gets its id meanwhile.
        self._scopes[id(original)] = (original, made)
        made.names = self._part(original.names)
        made.outer = self._part(original.outer)
        made.elsewhere = self._part(original.elsewhere)
        return made
