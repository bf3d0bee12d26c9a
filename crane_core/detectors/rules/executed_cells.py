"""The executed cells, interpreted in their order by the rules of the target.

Knows that they ran without an exception: a crash predicted in them contradicts what happened, and what was known until
then is given up. Within `one_notebook` each cell is interpreted once, however many targets below it are judged.

What is kept is a copy, in which nothing that is changed later changes the original: two names of one object share one
copy. Code of the notebook is not copied, as nothing changes a syntax tree, and definitions are compared by identity.
"""

import ast
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import Any, NamedTuple

from crane_core.detectors.rules import interpreter
from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.answer import Crash
from crane_core.detectors.rules.bindings import global_names
from crane_core.detectors.rules.heap import Scope
from crane_core.detectors.rules.initial_state import EmptyKernel
from crane_core.detectors.rules.prefix import Prefix
from crane_core.runtime.kernel_side.crane_probe.syntax.names import bound_names

MOST_STEPS = 30_000
_MOST_CONTRADICTIONS = 1
_SAME = ("is_foreign", "path", "definition", "words")
"""Attributes of a value that hold no other value and are never changed in place."""


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


class Contradiction(NamedTuple):
    """What was predicted of the cells that ran, or known by them, and is not so."""

    cell: int
    """Position among the executed cells, -1 where the state contradicts what is known after all of them."""
    what: str


class ExecutedCells:
    """The cells that were interpreted so far. `contradictions` are what they did otherwise than was predicted."""

    def __init__(self, packages: Mapping[str, str]) -> None:
        self.packages = packages
        self.contradictions: list[Contradiction] = []
        self._kernel = EmptyKernel(packages)
        self.interpreter = interpreter.Interpreter(self._kernel, MOST_STEPS)
        self._texts: tuple[str, ...] = ()

    def leads_to(self, prefix: Prefix, packages: Mapping[str, str]) -> bool:
        """Whether these are the first of the prefix's cells, in the same environment."""
        n_done = len(self._texts)
        return (
            prefix.texts[:n_done] == self._texts and packages == self.packages
        )

    def interpret(self, prefix: Prefix) -> None:
        """Follow the cells of the prefix that are new."""
        self.interpreter.asker.begin_again()
        n_done = len(self._texts)
        for position, grown in enumerate(prefix.grown()[n_done:], n_done):
            self._run_cell(grown, position)
        self._texts = prefix.texts

    def names(self) -> dict[str, AbstractValue]:
        """What names stand for now; a copy, as a target changes what it finds."""
        # After several contradictions the cells did something else than was
        # followed.
        if len(self.contradictions) > _MOST_CONTRADICTIONS:
            return {}
        names = self.interpreter.memory.module.names
        return copied_values(
            {name: value for name, value in names.items() if value is not None}
        )

    def _run_cell(self, prefix: Prefix, position: int) -> None:
        code, self._kernel.prefix = prefix.codes[-1], prefix
        memory = self.interpreter.memory
        # Before the first branch of the cell, so that `len` is the same value on every path.
        memory.know(sorted(prefix.last.names))
        # A cell that cannot be read here has run all the same, and may have done anything.
        if code.error:
            memory.havoc()
        for statement in code.tree.body:
            self._run(statement, position)

    def _run(self, statement: ast.stmt, position: int) -> None:
        """One statement that ran to its end; where it cannot be followed, nothing is known after it."""
        try:
            self.interpreter.run(statement)
        # The cell did run, so the crash is a mistake of the rules: what led to it is forgotten.
        except Crash as crash:
            is_code = isinstance(crash.place, ast.AST)
            place = ast.unparse(crash.place) if is_code else ""
            what = f"{crash.exception} at {place}: {crash.why}"
            self.contradictions.append(Contradiction(position, what))
            self._forget_after(statement)
        except (
            interpreter.GiveUpError,
            interpreter.ControlFlowExitError,
            RecursionError,
        ):
            self._forget_after(statement)
        # A cell that ran found its names, so none is ever claimed to be missing in it.
        self.interpreter.memory.is_unsure_of_names = False

    def _forget_after(self, statement: ast.stmt) -> None:
        memory = self.interpreter.memory
        memory.havoc()
        for name in {*bound_names(statement), *global_names(statement)}:
            memory.module.names[name] = AbstractValue(words=name)


class _CurrentNotebook:
    """What is kept of the notebook whose cells are judged one after another."""

    executed: ExecutedCells | None = None


_current: ContextVar[_CurrentNotebook | None] = ContextVar(
    "current", default=None
)


@contextmanager
def one_notebook() -> Iterator[None]:
    """Targets that are judged meanwhile are cells of one notebook, from its top to its end.

    Without this, the cells above are interpreted again for each target: four times the work for twice the cells.
    """
    before = _current.set(_CurrentNotebook())
    try:
        yield
    finally:
        _current.reset(before)


def executed_cells(
    prefix: Prefix, packages: Mapping[str, str]
) -> ExecutedCells:
    """All cells of the prefix, interpreted; those that were before, for a target above, are not interpreted again."""
    current = _current.get()
    executed = current.executed if current is not None else None
    if executed is None or not executed.leads_to(prefix, packages):
        executed = ExecutedCells(packages)
    # Put back once it is done: what stopped half way is not continued.
    if current is not None:
        current.executed = None
    executed.interpret(prefix)
    if current is not None:
        current.executed = executed
    return executed


def copied_values(
    names: Mapping[str, AbstractValue],
) -> dict[str, AbstractValue]:
    """The names with copies of their values, and of all that those lead to."""
    copying = _Copying()
    copies = {name: copying.value(value) for name, value in names.items()}
    copying.fill()
    return copies
