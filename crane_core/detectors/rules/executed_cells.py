"""The executed cells, interpreted in their order by the rules of the target.

Knows that they ran without an exception: a crash predicted in them contradicts what happened, and what was known until
then is given up. Within `one_notebook` each cell is interpreted once, however many targets below it are judged.
"""

import ast
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

from crane_core.detectors.rules import interpreter
from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.answer import Crash
from crane_core.detectors.rules.bindings import global_names
from crane_core.detectors.rules.copied_values import copied_values
from crane_core.detectors.rules.initial_state import EmptyKernel
from crane_core.detectors.rules.prefix import Prefix
from crane_core.runtime.kernel_side.crane_probe.syntax.names import bound_names

MOST_STEPS = 30_000
_MOST_CONTRADICTIONS = 1


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
