"""What a remedy sees: the target, the crash that it came to in a copy of its kernel, and what was known before it.

Knows places in the source. Lines count from 1; spans count characters of the source from 0.
"""

import ast
import builtins
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from crane_core.detectors.rules.cell_code import read_cell
from crane_core.domain import KernelState, VariableState
from crane_core.repair.changed_names import assigns, changes, makes
from crane_core.repair.fix import EarlierCell, Fix, SourceEdit, edited
from crane_core.runtime.kernel_side.crane_probe.syntax.names import (
    bound_names,
    called_name,
)
from crane_core.runtime.rehearsal import Rehearsal

Node = TypeVar("Node", bound=ast.AST)
_ABSENT = ("column", "key", "label", "name", "attribute")
"""Facts of an absence that say which name is not there."""
_HEADERS = ("test", "iter", "items", "subject")
"""Parts of a compound statement that run on its own lines; its body is other statements."""


@dataclass(frozen=True)
class KnownCell:
    """A cell of the notebook: how it is called, its place in the file (None if unknown), and whether it ran."""

    called: str
    source: str
    index: int | None
    has_run: bool

    def as_first(self) -> EarlierCell:
        """The same as a cell that has to run before the target."""
        return EarlierCell(self.called, self.source)

    def binds(self, name: str) -> bool:
        """Whether a statement of its top level assigns the name."""
        return assigns(self.source, name)

    def makes(self, name: str) -> bool:
        """Whether it assigns the name without using the one before."""
        return makes(self.source, name)

    def touches(self, name: str) -> bool:
        """Whether it assigns the name, or changes the value that it has."""
        if assigns(self.source, name):
            return True
        return changes(self.source, name)


@dataclass(frozen=True)
class CrashSite:
    """`cells` are those that ran, in their order, then the others; `index` is the target's place in the file."""

    source: str
    crash: Rehearsal
    state: KernelState
    cells: tuple[KnownCell, ...] = ()
    index: int | None = None

    @property
    def exception(self) -> str:
        return self.crash.exception or ""

    @property
    def message(self) -> str:
        return self.crash.message or ""

    @property
    def ran(self) -> list[KnownCell]:
        """The cells that ran, in their order."""
        return [cell for cell in self.cells if cell.has_run]

    @cached_property
    def tree(self) -> ast.Module:
        """Without statements where IPython moves the code before Python reads it: places would be wrong."""
        written = self.source.lstrip("\n")
        is_indented = written[:1].isspace()
        if is_indented or written.startswith((">>>", "In [")):
            return ast.Module([], [])
        return read_cell(self.source).tree

    @cached_property
    def statement(self) -> ast.stmt | None:
        """The innermost statement at the crash's line."""
        line = self.crash.line
        if line is None:
            return None
        statements = self.anywhere(ast.stmt)
        around = [
            node
            for node in statements
            if node.lineno <= line <= (node.end_lineno or node.lineno)
        ]
        # The innermost begins last; a one-line `if` begins where its test does.
        return max(
            around,
            key=_start,
            default=None,
        )

    def here(self, kind: type[Node]) -> list[Node]:
        """Nodes of a kind in the statement that crashed, in reading order; of a loop only those of its first lines."""
        if self.statement is None:
            return []
        return _of_kind(_parts(self.statement), kind)

    def anywhere(self, kind: type[Node]) -> list[Node]:
        """Nodes of a kind in the whole target, in reading order."""
        return _of_kind([self.tree], kind)

    def calls(self, *names: str) -> list[ast.Call]:
        """Calls of a function or method of one of these names, in the statement that crashed."""
        calls = self.here(ast.Call)
        return [call for call in calls if called_name(call) in names]

    def named(self, name: str) -> list[ast.Name]:
        """Where the target has the name."""
        nodes = self.anywhere(ast.Name)
        return [node for node in nodes if node.id == name]

    def similar(self, group: str, name: str) -> list[str]:
        """What the probe found near a name that is absent, in a group of the state's absences."""
        found: list[str] = []
        for entry in self.state.absent.get(group, ()):
            if name in map(entry.get, _ABSENT):
                similar = entry.get("similar", ())
                found += map(str, similar)
        return found

    def variable(self, node: ast.AST) -> VariableState | None:
        """What is known of a name, unless the target itself assigns it before the crash's line."""
        if not isinstance(node, ast.Name):
            return None
        line = self.crash.line or 0
        earlier = [
            statement for statement in self.tree.body if statement.lineno < line
        ]
        if node.id in bound_names(*earlier):
            return None
        return self.state.variables.get(node.id)

    def is_builtin(self, name: str) -> bool:
        return hasattr(builtins, name)

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Its first character and the one after the last. `node` has a place in the source."""
        place: Any = node
        start = self._offset(place.lineno, place.col_offset)
        end = self._offset(place.end_lineno, place.end_col_offset)
        return start, end

    def _offset(self, line: int, column: int) -> int:
        """The place of a character; the syntax tree counts columns in bytes of UTF-8."""
        lines = self.source.split("\n")
        above = lines[: line - 1]
        before = sum(len(each) + 1 for each in above)
        if line > len(lines):
            return before
        text = lines[line - 1].encode()
        return before + len(text[:column].decode())

    def text(self, node: ast.AST) -> str:
        start, end = self.span(node)
        return self.source[start:end]

    def replaced(self, node: ast.AST, text: str) -> SourceEdit:
        return SourceEdit(*self.span(node), text)

    def after(self, node: ast.AST, text: str) -> SourceEdit:
        """Text added behind a node."""
        _, end = self.span(node)
        return SourceEdit(end, end, text)

    def with_argument(self, call: ast.Call, text: str) -> SourceEdit:
        """One more argument at the end of a call."""
        given = [*call.args, *call.keywords]
        if given:
            last = max(given, key=self.span)
            return self.after(last, f", {text}")
        # `f()` has no argument to stand behind: the place is before its bracket.
        _, end = self.span(call)
        return SourceEdit(end - 1, end - 1, text)

    def fix(self, sentence: str, *edits: SourceEdit) -> Fix:
        """The target with these edits."""
        return Fix(edited(self.source, edits), sentence)

    def with_import(
        self, statement: str, sentence: str, *edits: SourceEdit
    ) -> Fix:
        """The target with these edits and an import above its first statement."""
        # Before the first statement, and so below the line of a cell magic.
        first = self.tree.body[0]
        start = self._offset(first.lineno, 0)
        added = SourceEdit(start, start, f"{statement}\n")
        return self.fix(sentence, added, *edits)


def _parts(statement: ast.stmt) -> list[ast.AST]:
    if not hasattr(statement, "body"):
        return [statement]
    headers: list[ast.AST] = []
    for name in _HEADERS:
        part = getattr(statement, name, None)
        if isinstance(part, list):
            headers += part
        elif part is not None:
            headers.append(part)
    return headers


def _of_kind(roots: Sequence[ast.AST], kind: type[Node]) -> list[Node]:
    found: list[Node] = []
    for root in roots:
        found += (
            node
            for node in ast.walk(root)
            # What a magic was replaced by has no place in the source.
            if isinstance(node, kind) and hasattr(node, "end_lineno")
        )
    return sorted(found, key=_start)


def _start(node: Any) -> tuple[int, int]:
    """Where a node with a place begins: its line, and the column there."""
    return node.lineno, node.col_offset


def facts_of(variable: VariableState, name: str) -> Iterator[Any]:
    """The fact of this name in each group of a state's entry that has it."""
    for group in ("structure", "representation", "values"):
        usual = getattr(variable, group)
        further = variable.plus.get(group, {})
        for part in (usual, further):
            if isinstance(part, Mapping) and name in part:
                yield part[name]
