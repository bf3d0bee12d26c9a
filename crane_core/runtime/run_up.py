"""The way to the target in one kernel: the cells before it, one by one, then the look.

Knows what a cell that raises means, and what the probe has to look at. Refuses to know why a kernel ended.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from crane_core.errors import CellRaisedError, LookError
from crane_core.notebooks import CodeCell
from crane_core.runtime import probe_source
from crane_core.runtime.endings import short
from crane_core.runtime.installs import n_installs, without_installs
from crane_core.runtime.kernel import ExpressionError, Kernel, KernelReply
from crane_core.runtime.plan import NotebookPlan
from crane_core.runtime.rehearsal import Rehearsal, again, rehearsal_of, request

_INPUT_ERROR = "StdinNotImplementedError"
_NO_MODULE = "ModuleNotFoundError"
_OLDEST_PYTHON = (3, 8)


class RanCell(NamedTuple):
    """A cell that ran before the target. `cell` counts code cells from 0; `seconds` is wall time."""

    cell: int
    execution_count: int | None
    seconds: float
    exception: str | None = None
    message: str | None = None


class ProbeResult(NamedTuple):
    """What was seen: the probe's state, the seconds it took, expressions with their value before and after.

    `threads` are those that the cells left running; `rehearsal` is what the target came to in a copy, on request.
    `again` is the question to a second kernel where that copy lacked threads.
    """

    state: dict[str, Any]
    seconds: float
    probes: tuple[dict[str, Any], ...]
    threads: tuple[str, ...]
    rehearsal: Rehearsal | None = None
    again: dict[str, Any] | None = None


class RunUp:
    """One kernel's way to the target. `cell` is the code cell that runs, None before and after them."""

    def __init__(
        self, plan: NotebookPlan, kernel: Kernel, *, installs: bool = False
    ) -> None:
        self._plan = plan
        self._installs = installs
        self._kernel = kernel
        self.cell: int | None = None
        self.ran: list[RanCell] = []

    @property
    def what(self) -> str:
        """What is going on, to begin a sentence with."""
        return (
            "Capturing the state"
            if self.cell is None
            else f"Code cell {self.cell} of {self._plan.name}"
        )

    def make(
        self,
        probes: Sequence[str],
        *,
        keep_going: bool,
        rehearse_s: float | None = None,
    ) -> ProbeResult:
        """Run the cells, then look, then rehearse. Raises LookError, and CellRaisedError unless it must continue."""
        # Threads of the kernel itself, before any cell: what is added later is the notebook's.
        own = self._greeting()
        for cell in self._plan.executed:
            self.cell = cell.index
            reply = self._kernel.run(self._code(cell))
            # `raises-exception` marks cells that are meant to raise.
            goes_on = keep_going or cell.may_raise
            if reply.exception is not None and not goes_on:
                raise self._raised(cell, reply)
            self.ran.append(_ran(cell, reply))
        self.cell = None
        return self._look(probes, own, rehearse_s)

    def _look(
        self,
        probes: Sequence[str],
        own: dict[str, Any],
        rehearse_s: float | None,
    ) -> ProbeResult:
        known = {ident for ident, _ in own["threads"]}
        threads = tuple(
            name
            for ident, name in self._greeting()["threads"]
            if ident not in known
        )
        # Probes twice: that the look changes nothing can be checked by the user.
        before = self._evaluated(probes)
        seen = self._asked(
            probe_source.look(self._plan.request(), own["magic"])
        )
        rehearsal = asked_again = None
        if rehearse_s is not None:
            rehearsal = self._rehearsal(own["magic"], rehearse_s)
            asked_again = (
                self._again(own["magic"], rehearse_s)
                if rehearsal.lacks_threads
                else None
            )
        pairs = zip(probes, before, self._evaluated(probes), strict=True)
        told = tuple(
            {"expression": text, "before": was, "after": is_}
            for text, was, is_ in pairs
        )
        return ProbeResult(
            seen["state"],
            seen["seconds"],
            told,
            threads,
            rehearsal,
            asked_again,
        )

    def _rehearsal(self, magic: str, seconds: float) -> Rehearsal:
        asked = request(self._plan.target.source, seconds)
        return rehearsal_of(
            self._asked(probe_source.rehearse(asked, magic), seconds)
        )

    def _again(self, magic: str, seconds: float) -> dict[str, Any]:
        """The same rehearsal for a second kernel, which must come to the state that this one holds."""
        # Without code of the notebook: it would change the state that must be compared.
        look = self._plan.request() | {"limits": {"foreign": False}}
        state = self._asked(probe_source.look(look, magic))["state"]
        cells = [
            {
                "cell": cell.index,
                "code": self._code(cell),
                "exception": ran.exception,
            }
            for cell, ran in zip(self._plan.executed, self.ran, strict=True)
        ]
        took = sum(ran.seconds for ran in self.ran)
        return again(
            request(self._plan.target.source, seconds),
            cells,
            took,
            look=look,
            state=state,
        )

    def _code(self, cell: CodeCell) -> str:
        return cell.source if self._installs else without_installs(cell.source)

    def _greeting(self) -> dict[str, Any]:
        told: dict[str, Any] = self._asked(probe_source.greet())
        if tuple(told["version"]) < _OLDEST_PYTHON:
            raise LookError(
                f"The kernel is Python {told['python']}, which is too old for a capture.",
                remedy="Choose an interpreter with Python 3.8 or later with --python.",
            )
        return told

    def _evaluated(self, probes: Sequence[str]) -> list[Any]:
        return (
            list(self._asked(probe_source.evaluate(list(probes))))
            if probes
            else []
        )

    def _asked(self, expression: str, more_s: float = 0.0) -> Any:
        try:
            return json.loads(self._kernel.evaluate(expression, more_s))
        except (ExpressionError, ValueError, RecursionError) as error:
            raise LookError(
                f"The kernel of {self._plan.name} could not be captured: {short(str(error))}.",
                remedy="Check that it is a Python kernel.",
            ) from error

    def _remedy(self, reply: KernelReply) -> str:
        if reply.exception != _NO_MODULE:
            return "Fix it, choose it with --target, or continue past it with --keep-going."
        # A module is missing perhaps because its installation was left out.
        left_out = not self._installs and n_installs(
            cell.source for cell in self._plan.executed
        )
        bring = (
            "run the notebook's own installations with --allow-install"
            if left_out
            else "install the module there"
        )
        return (
            f"Choose the notebook's interpreter with --python, or {bring}; else choose the cell with --target, or"
            " continue past it with --keep-going."
        )

    def _raised(self, cell: CodeCell, reply: KernelReply) -> CellRaisedError:
        # input() in a cell: the exception's own message speaks of Jupyter's front end.
        if reply.exception == _INPUT_ERROR:
            return CellRaisedError(
                f"{self.what} waits for input, which is not available.",
                remedy="Write the value in the code.",
                cell=cell.index,
            )
        said = (
            f"{reply.exception}: {short(reply.message)}"
            if reply.message
            else str(reply.exception)
        )
        return CellRaisedError(
            f"{self.what}, which ran before the target (code cell {self._plan.target.index}), raised {said}.",
            remedy=self._remedy(reply),
            cell=cell.index,
        )


def _ran(cell: CodeCell, reply: KernelReply) -> RanCell:
    seconds = round(reply.seconds, 6)
    if reply.exception is None:
        return RanCell(cell.index, cell.execution_count, seconds)
    return RanCell(
        cell.index,
        cell.execution_count,
        seconds,
        reply.exception,
        short(reply.message),
    )
