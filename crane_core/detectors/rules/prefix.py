"""The cells that ran, as code: what names they give, and what attributes. Grown cell by cell.

Knows statements, not values. What a cell may do is judged by the cells up to it: what has not run can change nothing.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import NamedTuple

from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.bindings import Bindings, bindings_of
from crane_core.detectors.rules.cell_code import CellCode, as_magic, read_cell
from crane_core.runtime.kernel_side.crane_probe.syntax.names import (
    names_bound_here,
)

_BUILTIN = vars(builtins)
_MOST_KEPT = 1_024
_MOST_NESTED = 100


class Spelled(NamedTuple):
    """What a piece of code spells: its names, attributes that it may give to objects, names that it binds anywhere."""

    names: frozenset[str] = frozenset()
    given_attributes: frozenset[str] = frozenset()
    bound: frozenset[str] = frozenset()

    def and_also(self, other: Spelled) -> Spelled:
        """What either of two pieces spells."""
        return Spelled(
            self.names | other.names,
            self.given_attributes | other.given_attributes,
            self.bound | other.bound,
        )


def spelled(tree: ast.Module) -> Spelled:
    """Given attributes are those assigned or deleted, and all texts and names of arguments, which may name one."""
    names, given = set(), set()
    bound: set[str] = set()
    for node in ast.walk(tree):
        bound.update(names_bound_here(node))
        if isinstance(node, ast.arg):
            bound.add(node.arg)
        if isinstance(node, ast.Name):
            names.add(node.id)
        elif isinstance(node, ast.Attribute) and not isinstance(
            node.ctx, ast.Load
        ):
            given.add(node.attr)
        # `setattr(made, 'scale', 3)` and `made.__dict__.update(scale=3)` set an attribute as well.
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            given.add(node.value)
        elif isinstance(node, ast.keyword) and node.arg is not None:
            given.add(node.arg)
    return Spelled(frozenset(names), frozenset(given), frozenset(bound))


@dataclass(frozen=True, slots=True)
class Prefix:
    """The first cells that ran, and those `before` the last. Immutable: `and_then` returns that of one more."""

    before: Prefix | None = None
    texts: tuple[str, ...] = ()
    codes: tuple[CellCode, ...] = ()
    bindings: Bindings = field(default_factory=Bindings)
    may_define_any: bool = False
    """Whether some cell may give names a value without spelling them, or cannot be read."""
    spelled: Spelled = field(default_factory=Spelled)
    last: Spelled = field(default_factory=Spelled)
    """What the last cell alone spells."""
    # Kept: of a notebook of 137 cells, each checked, a third of the time went into searching the same texts.
    _mentioned: dict[str, bool] = field(
        default_factory=dict, compare=False, repr=False
    )

    def and_then(self, text: str) -> Prefix:
        """The prefix with one more cell."""
        code = read_cell(text)
        # `reset -f` is a magic here even if a later cell assigns `reset`.
        if code.automagic and code.automagic not in self.bindings.bound:
            code = as_magic(text)
        bindings = bindings_of([code.tree], self.bindings, len(self.codes))
        last = spelled(code.tree)
        return replace(
            self,
            before=self,
            texts=(*self.texts, text),
            codes=(*self.codes, code),
            bindings=bindings,
            # A cell that cannot be read here has run, and may have assigned any name.
            may_define_any=self.may_define_any
            or bindings.may_define_any
            or bool(code.error),
            spelled=self.spelled.and_also(last),
            last=last,
            _mentioned={},
        )

    def grown(self) -> list[Prefix]:
        """The prefixes of one cell, of two, and so on, up to this one."""
        found: list[Prefix] = []
        each = self
        while each.before is not None:
            found.append(each)
            each = each.before
        return found[::-1]

    def mentions(self, text: str) -> bool:
        """Whether a text is in one of the cells."""
        if text not in self._mentioned:
            self._mentioned[text] = any(text in code for code in self.texts)
        return self._mentioned[text]

    def of_python(self, name: str) -> AbstractValue | None:
        """A name of Python's own, or what IPython adds to them, where no cell rebinds it."""
        # `list = [1]` in any cell takes `list` away from Python, even if a later one deletes it.
        if name in self.bindings.bound or self.may_define_any:
            return None
        # IPython adds `display` to the names of every notebook, without an import.
        if name == "display":
            return AbstractValue(path="IPython.display.display", words=name)
        return builtin(name) if name in _BUILTIN else None


@lru_cache(_MOST_KEPT)
def _kept_prefix(texts: tuple[str, ...]) -> Prefix:
    return _kept_prefix(texts[:-1]).and_then(texts[-1]) if texts else Prefix()


def prefix_of(texts: Sequence[str]) -> Prefix:
    """The prefix of these cells. Those of the same notebook share what they have in common."""
    # The shorter first: each knows the one before it, and a call for each of 1,000 cells would nest too deep.
    for n_texts in range(0, len(texts), _MOST_NESTED):
        _kept_prefix(tuple(texts[:n_texts]))
    return _kept_prefix(tuple(texts))


def is_builtin(name: str) -> bool:
    """Whether Python has its own name for it, that is seen again when a global of the same name is deleted."""
    return name in _BUILTIN


def builtin(name: str) -> AbstractValue:
    """The AbstractValue of one of Python's own names."""
    value = _BUILTIN[name]
    if value is None or isinstance(value, bool):
        return AbstractValue(type(value).__name__, literal=value)
    return AbstractValue(
        type(value).__name__, path=f"builtins.{name}", words=name
    )
