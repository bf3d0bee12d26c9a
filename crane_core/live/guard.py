"""Stops a cell that will certainly crash, or did in a copy of the kernel, unless its comment says to run it.

Knows how IPython lets a cell be rejected. When the check itself fails, it says so and the cell runs; so does a cell of
which the copy cannot tell (GPU, threads, network, programs, input) or did not come to its end.
"""

import ast
import re
import sys
import tokenize
from enum import StrEnum
from typing import Any

from IPython.core.error import InputRejected

from crane_core.live.session import Session
from crane_core.live.verdict import LiveVerdict, Rehearsed
from crane_core.runtime.live_history import OUR_CELL

OVERRIDE = "# crane: run"
_OVERRIDES = re.compile(r"#[ \t]*crane:[ \t]*run\b", re.IGNORECASE)
REHEARSED_S = 1.0
"""A cell waits no longer for its copy to begin, and as long for it to end."""
# `sys.exit()` is how a cell is left on purpose.
_ON_PURPOSE = (None, "SystemExit")
_OURS = re.compile(r"\s*%%?crane\b")


class GuardStep(StrEnum):
    """How much is done before a cell runs."""

    OFF = "off"
    PREDICT = "predict"
    REHEARSE = "rehearse"


def is_overridden(cell: str) -> bool:
    """Whether a comment says to run the cell: on its own line, or behind code. A string that says so does not count."""
    lines = iter(cell.splitlines(keepends=True))
    try:
        for token in tokenize.generate_tokens(lambda: next(lines, "")):
            if token.type == tokenize.COMMENT and _OVERRIDES.match(
                token.string
            ):
                return True
    except (tokenize.TokenError, SyntaxError):
        # A line for a shell need not be Python; what follows it is read again.
        rest = "".join(lines)
        return bool(rest) and is_overridden(rest)
    return False


class StoppedCell(InputRejected):
    """A cell that was not run, and why; IPython shows it instead of a traceback."""

    def __init__(self, why: LiveVerdict | Rehearsed) -> None:
        super().__init__(why.title)
        self.why = why

    def _render_traceback_(self) -> list[str]:
        is_rehearsed = isinstance(self.why, Rehearsed)
        how = ", but rehearsed in a copy of the kernel" if is_rehearsed else ""
        return [
            f"Stopped by %crane guard: this cell was not run{how}.",
            repr(self.why),
            f"Run it anyway: add the comment {OVERRIDE}",
        ]


class Guard(ast.NodeTransformer):
    """Sees each cell just before it runs: IPython passes its tree to `visit`, and its text to `before`."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._cell = ""
        self._shown: tuple[int, int] = (0, 0)
        self.rehearses = False
        """Whether a cell in which nothing is predicted runs in a copy first."""
        self.n_undo = 1
        """Cells that can be undone."""

    def before(self, info: Any) -> None:
        """IPython's event pre_run_cell."""
        self._cell = "" if info.silent else info.raw_cell

    def after(self, result: Any) -> None:
        """IPython's event post_run_cell."""
        # %%time and %%capture show an exception themselves, and the cell counts as a success.
        has_failed = not result.success or _last_shown() != self._shown
        self._session.copies_ended(has_failed=has_failed)

    def visit(self, node: ast.AST) -> Any:
        cell, self._cell = self._cell, ""
        if not cell.strip() or _OURS.match(cell) or OUR_CELL.match(cell):
            return node
        is_open = not _only_defines(node)
        if not is_overridden(cell):
            self._stop(cell, is_open=is_open)
        if self.n_undo and is_open and not _only_looks(node):
            self._keep_copy(cell)
        return node

    def _stop(self, cell: str, *, is_open: bool) -> None:
        """Raises StoppedCell for a cell that will crash."""
        try:
            why = self._crash(cell, is_open=is_open)
        except Exception as error:  # noqa: BLE001 - whatever goes wrong with the check, the notebook goes on
            print(  # noqa: T201 - the cell's output
                f"%crane guard could not check this cell, which runs: {error}"
            )
            return
        if why is not None:
            raise StoppedCell(why)

    def _keep_copy(self, cell: str) -> None:
        self._shown = _last_shown()
        try:
            self._session.keep_copy(cell, self.n_undo)
        except Exception as error:  # noqa: BLE001 - as above
            print(  # noqa: T201 - the cell's output
                f"%crane guard kept no copy for an undo of this cell: {error}"
            )

    def _crash(
        self, cell: str, *, is_open: bool
    ) -> LiveVerdict | Rehearsed | None:
        """The crash that is predicted, else the one of the copy, else None. Raises CraneError."""
        verdict = self._session.verdict(cell, is_hurried=True)
        if verdict.crashes:
            return verdict
        if not (self.rehearses and is_open):
            return None
        told = self._session.rehearsal(cell, REHEARSED_S, start_s=REHEARSED_S)
        return None if told.exception in _ON_PURPOSE else told


def _last_shown() -> tuple[int, int]:
    """Which traceback the shell has shown last, without holding it."""
    trace = getattr(sys, "last_traceback", None)
    return id(trace), getattr(trace, "tb_lineno", 0)


# Looking after a crash must not cost the copy from before it.
_LOOKING_WORDS = (
    "print len type repr display dir id isinstance head tail info describe"
    " keys items values"
)
_LOOKS = frozenset(_LOOKING_WORDS.split())
_LOOKING = (
    ast.Module,
    ast.Expr,
    ast.Name,
    ast.Attribute,
    ast.Subscript,
    ast.Constant,
    ast.Slice,
    ast.UnaryOp,
    ast.USub,
    ast.Tuple,
    ast.Load,
    ast.Call,
    ast.keyword,
    ast.JoinedStr,
    ast.FormattedValue,
)


def _only_looks(node: ast.AST) -> bool:
    """Whether a cell only shows what names hold."""
    for part in ast.walk(node):
        if not isinstance(part, _LOOKING):
            return False
        if isinstance(part, ast.Call):
            called = part.func
            name = (
                called.id
                if isinstance(called, ast.Name)
                else getattr(called, "attr", "")
            )
            if name not in _LOOKS:
                return False
    return True


def _only_defines(node: ast.AST) -> bool:
    """Whether a cell only imports and defines functions: a crash there loses nothing, and a copy costs its time."""
    kinds = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.Pass)
    body = node.body if isinstance(node, ast.Module) else [node]
    return all(isinstance(statement, kinds) for statement in body)
