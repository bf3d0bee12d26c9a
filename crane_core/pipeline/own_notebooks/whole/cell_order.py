"""Which cells need another order than the notebook has, by its code and execution counts, without a kernel.

Knows what a cell reads for certain before it assigns it. Refuses to say anything behind code that may give names a
value without spelling them, such as a star import, `%run` or `exec`.
"""

import ast
import builtins
import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple

from crane_core.detectors.rules import bindings, cell_code
from crane_core.notebooks import CodeCell
from crane_core.runtime.kernel_side.crane_probe.syntax.names import bound_names

_SHELL = frozenset(
    {"In", "Out", "display", "exit", "quit", "get_ipython", "_", "__", "___"}
)
"""What IPython itself puts into every notebook."""
_HOSTED = frozenset({"spark", "sc", "sqlContext", "dbutils", "displayHTML"})
"""What Databricks and Spark kernels put into theirs: a notebook without these names may be right where it belongs."""
_NUMBERED = re.compile(r"_(?:i|ii|iii|i?\d+)|__\w+__")
_ENDS = frozenset({"exit", "quit"})
MOST_COUNTS = 5


_PASSED: dict[type[ast.AST], tuple[str, ...]] = {
    ast.FunctionDef: ("decorator_list", "args"),
    ast.AsyncFunctionDef: ("decorator_list", "args"),
    ast.ClassDef: ("decorator_list", "bases"),
    ast.Lambda: ("args",),
    ast.arguments: ("defaults", "kw_defaults"),
    ast.If: ("test",),
    ast.IfExp: ("test",),
    ast.While: ("test",),
    ast.Assert: ("test",),
    ast.For: ("iter",),
    ast.AsyncFor: ("iter",),
    # `with suppress(NameError):` lets its body stop anywhere.
    ast.With: ("items",),
    ast.AsyncWith: ("items",),
    ast.withitem: ("context_expr",),
    ast.Try: (),
    ast.TryStar: (),
    ast.Match: ("subject",),
    ast.Assign: ("value", "targets"),
    # An annotation is not looked up in every Python.
    ast.AnnAssign: ("value", "target"),
}
"""The fields of a node that are evaluated whenever it is; of other nodes all are."""


class OrderKind(StrEnum):
    """Why the cell raises NameError in a fresh run from top to bottom."""

    BOUND_LATER = "bound later"
    DELETED_CELL = "deleted cell"


class OrderFinding(NamedTuple):
    """Code cell `cell` reads `name` in its `line` (from 1), which only `bound_in` assign, or no cell of the file.

    `missing_counts` are execution counts that no cell has, below the cell's: cells that were deleted or run again.
    """

    kind: OrderKind
    cell: int
    line: int
    name: str
    bound_in: tuple[int, ...] = ()
    missing_counts: tuple[int, ...] = ()

    @property
    def message(self) -> str:
        """One sentence without its full stop; cells are counted from 0."""
        start = f"code cell {self.cell} uses `{self.name}`"
        if self.kind is OrderKind.BOUND_LATER:
            return f"{start}, bound only in {_cells(self.bound_in)}"
        counts = _listed(self.missing_counts)
        return f"{start}, which no cell binds; cells that ran as {counts} are not in the file"

    @property
    def remedy(self) -> str:
        """What to do about it."""
        if self.kind is OrderKind.BOUND_LATER:
            return f"Move code cell {self.bound_in[0]} before code cell {self.cell}."
        return f"Assign `{self.name}` in a cell before code cell {self.cell}."


class _CellRead(NamedTuple):
    """A cell with its tree."""

    cell: CodeCell
    code: cell_code.CellCode

    @property
    def hides_names(self) -> bool:
        """Whether it may give any name a value."""
        # A cell that cannot be read here may be a later Python's, and do anything.
        return bool(
            self.code.error or self.code.automagic
        ) or bindings.may_define_any(self.code.tree)

    @property
    def bound(self) -> set[str]:
        tree = self.code.tree
        return {*bound_names(tree), *bindings.global_names(tree)}


def order_findings(cells: Sequence[CodeCell]) -> tuple[OrderFinding, ...]:
    """The names that a fresh run from top to bottom lacks, the first read of each name in each cell.

    Cells that are left out by a tag count as run where they assign, because their author may run them by hand.
    """
    read = [
        _CellRead(cell, cell_code.read_cell(cell.source))
        for cell in cells
        if cell.language is None
    ]
    bound = [one.bound for one in read]
    known: set[str] = set()
    found: list[OrderFinding] = []
    for place, one in enumerate(read):
        if one.hides_names:
            break
        if not (one.cell.is_skipped or one.cell.may_raise):
            later = {
                other.cell.index: names
                for other, names in zip(
                    read[place:], bound[place:], strict=True
                )
            }
            found += _lacking(one, known, later, cells)
        known |= bound[place]
    has_hidden = any(one.hides_names for one in read)
    return tuple(
        finding
        for finding in found
        # The cell that is gone from the file may be found in what another cell runs.
        if finding.kind is OrderKind.BOUND_LATER or not has_hidden
    )


def _lacking(
    one: _CellRead,
    known: set[str],
    later: dict[int, set[str]],
    cells: Sequence[CodeCell],
) -> Iterator[OrderFinding]:
    """What the cell reads that is not known and not a name of Python or IPython."""
    index = one.cell.index
    for name, line in _first_reads(one.code.tree, known):
        if not _is_of_the_notebook(name):
            continue
        bound_in = tuple(at for at, names in later.items() if name in names)
        # A cell that assigns the name itself, later, ran twice: its first run had to have the name.
        others = tuple(at for at in bound_in if at != index)
        if others:
            yield OrderFinding(OrderKind.BOUND_LATER, index, line, name, others)
        elif not bound_in and (missing := _missing_counts(one.cell, cells)):
            yield OrderFinding(
                OrderKind.DELETED_CELL, index, line, name, (), missing
            )


def _is_of_the_notebook(name: str) -> bool:
    is_given = name in _SHELL or name in _HOSTED or hasattr(builtins, name)
    return not is_given and _NUMBERED.fullmatch(name) is None


def _missing_counts(
    cell: CodeCell, cells: Sequence[CodeCell]
) -> tuple[int, ...]:
    """Counts below the cell's that no cell has; none where the cell did not run, or raised when it did."""
    count = cell.execution_count
    if count is None or cell.crash is not None:
        return ()
    seen = {other.execution_count for other in cells}
    return tuple(n for n in range(1, count) if n not in seen)


def _first_reads(
    tree: ast.Module, known: set[str]
) -> Iterator[tuple[str, int]]:
    """Names that the cell certainly reads before any statement of it may have assigned them, with their lines."""
    bound = set(known)
    for statement in tree.body:
        inside = {
            part.target.id
            for part in ast.walk(statement)
            if isinstance(part, ast.NamedExpr)
        }
        for node in _evaluated(statement):
            if node.id not in bound | inside:
                yield node.id, node.lineno
                # The first read alone: a NameError ends the cell there.
                bound.add(node.id)
        bound |= {
            *bound_names(statement),
            *bindings.global_names(statement),
        }
        if _may_end(statement):
            return


def _may_end(statement: ast.stmt) -> bool:
    """Whether nothing behind it is certain to run: `raise`, `exit()`, `sys.exit()`."""
    return any(
        isinstance(node, ast.Raise)
        or (isinstance(node, ast.Name) and node.id in _ENDS)
        or (isinstance(node, ast.Attribute) and node.attr in (*_ENDS, "_exit"))
        for node in ast.walk(statement)
    )


def _evaluated(node: ast.AST) -> Iterator[ast.Name]:
    """The names that are read whenever a statement or expression is evaluated, in their order."""
    if isinstance(node, ast.Name):
        if not isinstance(node.ctx, ast.Store):
            yield node
        return
    for part in _always(node):
        yield from _evaluated(part)


def _always(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a node that no condition, call or exception can pass over, in the order of their evaluation."""
    match node:
        case ast.BoolOp():
            yield node.values[0]
        case ast.Compare():
            yield from (node.left, node.comparators[0])
        case (
            ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp()
        ):
            yield node.generators[0].iter
        case ast.AugAssign(target=ast.Name(id=name)):
            # `n += 1` reads n, though the tree calls it a store.
            yield ast.copy_location(ast.Name(name, ast.Load()), node.target)
            yield node.value
        case _ if type(node).__name__ == "TypeAlias":
            # `type Lane = late` of Python 3.12, a class that 3.11 lacks: evaluated when it is used.
            return
        case _:
            fields = _PASSED.get(type(node), node._fields)
            for field in fields:
                value = getattr(node, field)
                parts = value if isinstance(value, list) else [value]
                yield from (one for one in parts if isinstance(one, ast.AST))


def _cells(indices: Sequence[int]) -> str:
    word = "code cell" if len(indices) == 1 else "code cells"
    return f"{word} {_listed(indices)}"


def _listed(numbers: Sequence[int]) -> str:
    shown = ", ".join(map(str, numbers[:MOST_COUNTS]))
    return shown if len(numbers) <= MOST_COUNTS else f"{shown}, ..."
