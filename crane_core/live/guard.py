"""Stops a cell that will certainly crash before it runs, unless its comment says to run it.

Knows how IPython lets a cell be rejected. When the check itself fails, it says so and the cell runs.
"""

from __future__ import annotations

import ast
import re
import tokenize
from typing import Any

from IPython.core.error import InputRejected

from crane_core.live.session import Session
from crane_core.live.verdict import LiveVerdict
from crane_core.runtime.live_history import OUR_CELL

OVERRIDE = "# crane: run"
_OVERRIDES = re.compile(r"#[ \t]*crane:[ \t]*run\b", re.IGNORECASE)
_OURS = re.compile(r"\s*%%?crane\b")


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

    def __init__(self, verdict: LiveVerdict) -> None:
        super().__init__(verdict.title)
        self.verdict = verdict

    def _render_traceback_(self) -> list[str]:
        return [
            "Stopped by %crane guard: this cell was not run.",
            repr(self.verdict),
            f"Run it anyway: add the comment {OVERRIDE}",
        ]


class Guard(ast.NodeTransformer):
    """Sees each cell just before it runs: IPython passes its tree to `visit`, and its text to `before`."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._cell = ""

    def before(self, info: Any) -> None:
        """IPython's event pre_run_cell."""
        self._cell = "" if info.silent else info.raw_cell

    def visit(self, node: ast.AST) -> Any:
        cell, self._cell = self._cell, ""
        if (
            not cell.strip()
            or _OURS.match(cell)
            or OUR_CELL.match(cell)
            or is_overridden(cell)
        ):
            return node
        try:
            verdict = self._session.verdict(cell, is_hurried=True)
        except Exception as error:  # noqa: BLE001 - whatever goes wrong with the check, the notebook goes on
            print(  # noqa: T201 - the cell's output
                f"%crane guard could not check this cell, which runs: {error}"
            )
            return node
        if verdict.crashes:
            raise StoppedCell(verdict)
        return node
