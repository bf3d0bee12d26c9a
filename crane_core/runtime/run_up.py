"""The way to the target in one kernel: the cells before it, one by one, then the look.

Knows what a cell that raises means, and what the probe has to look at. Refuses to know why a kernel ended.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from crane_core.errors import CellRaisedError, LookError
from crane_core.notebooks import CodeCell
from crane_core.runtime import probe_source
from crane_core.runtime.endings import short
from crane_core.runtime.installs import n_installs, without_installs
from crane_core.runtime.kernel import ExpressionError, Kernel, KernelReply
from crane_core.runtime.plan import NotebookPlan
from crane_core.runtime.rehearsal import (
    Rehearsal,
    Visit,
    again,
    rehearsal_of,
    request,
)

_INPUT_ERROR = "StdinNotImplementedError"
_NO_MODULE = "ModuleNotFoundError"
_HOSTED = {
    "dbutils": "Databricks",
    "sc": "Databricks",
    "spark": "Databricks",
    "_deepnote_execute_sql": "Deepnote",
    "_dntk": "Deepnote",
}
"""Names that a hosted service puts into its notebooks, and no other kernel has."""
_UNDEFINED = re.compile(r"name '(?P<name>\w+)' is not defined")
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

    def toward(self, plan: NotebookPlan) -> None:
        """Go on in the same kernel, which has run the cells of this plan, to another target."""
        self._plan = plan

    @property
    def what(self) -> str:
        """What is going on, to begin a sentence with."""
        return (
            "Capturing the state"
            if self.cell is None
            else self._called(self.cell)
        )

    def _called(self, cell: int) -> str:
        return f"Code cell {cell} of {self._plan.name}"

    def make(
        self,
        probes: Sequence[str],
        *,
        keep_going: bool,
        rehearse_s: float | None = None,
        runs_again: bool = True,
        visit: Visit | None = None,
    ) -> ProbeResult:
        """Run the cells, then look, then rehearse. Raises LookError, and CellRaisedError unless it must continue.

        runs_again: also make the request for a second kernel where the copy lacks threads. `visit` comes last.
        """
        # Threads of the kernel itself, before any cell: what is added later is the notebook's.
        own = self.greeting()
        for cell in self._plan.executed:
            reply = self.run(cell)
            # `raises-exception` marks cells that are meant to raise.
            goes_on = keep_going or cell.may_raise
            if reply.exception is not None and not goes_on:
                raise self._raised(cell, reply)
        result = self.look(probes, own, rehearse_s, runs_again=runs_again)
        if visit is not None and rehearse_s is not None:
            seconds = rehearse_s

            def rehearse(source: str, names: Sequence[str]) -> Rehearsal:
                asked = request(source, seconds, names)
                return self._rehearsal(own["magic"], asked)

            visit(result.state, result.rehearsal, rehearse)
        return result

    def run(self, cell: CodeCell) -> KernelReply:
        """Run one cell, whatever it raises."""
        self.cell = cell.index
        reply = self._kernel.run(self._code(cell))
        self.ran.append(_ran(cell, reply))
        self.cell = None
        return reply

    def look(
        self,
        probes: Sequence[str],
        own: dict[str, Any],
        rehearse_s: float | None = None,
        *,
        runs_again: bool = False,
    ) -> ProbeResult:
        """What the target of the plan will meet; `own` is the greeting before any cell. Raises LookError."""
        known = {ident for ident, _ in own["threads"]}
        threads = tuple(
            name
            for ident, name in self.greeting()["threads"]
            if ident not in known
        )
        # Probes twice: that the look changes nothing can be checked by the user.
        before = self._evaluated(probes)
        seen = self._asked(
            probe_source.look(self._plan.request(), own["magic"])
        )
        rehearsal = asked_again = None
        if rehearse_s is not None:
            rehearsal = self._rehearsal(
                own["magic"], request(self._plan.target.source, rehearse_s)
            )
            asked_again = (
                self._again(own["magic"], rehearse_s)
                if runs_again and rehearsal.lacks_threads
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

    def _rehearsal(self, magic: str, asked: dict[str, Any]) -> Rehearsal:
        return rehearsal_of(
            self._asked(probe_source.rehearse(asked, magic), asked["seconds"])
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

    def greeting(self) -> dict[str, Any]:
        """Which Python the kernel is, and its threads. Raises LookError for one that is too old."""
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
        undefined = _UNDEFINED.match(reply.message)
        if undefined and undefined["name"] in _HOSTED:
            service = _HOSTED[undefined["name"]]
            return (
                f"Only {service} has {undefined['name']}: leave the cell out with the tag skip-execution, choose it"
                " with --target, or continue past it with --keep-going."
            )
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
                f"{self._called(cell.index)} waits for input, which is not available.",
                remedy="Write the value in the code.",
                cell=cell.index,
            )
        said = (
            f"{reply.exception}: {short(reply.message)}"
            if reply.message
            else str(reply.exception)
        )
        return CellRaisedError(
            f"{self._called(cell.index)}, which ran before the target (code cell {self._plan.target.index}),"
            f" raised {said}.",
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
