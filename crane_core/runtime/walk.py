"""All cells of a notebook in one kernel, from top to bottom: before each, what the kernel holds; then the cell.

Knows the order of the two and how the kernel's end is explained. Refuses to know what is concluded from a state, and
whether a cell that raised ends the walk.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from crane_core.notebooks import CodeCell, CrashOutput, crash_output
from crane_core.runtime import interpreters
from crane_core.runtime.capture import Captured
from crane_core.runtime.endings import ended
from crane_core.runtime.kernel import EndedError, Kernel, fresh_kernel
from crane_core.runtime.limits import KernelLimits
from crane_core.runtime.plan import NotebookPlan
from crane_core.runtime.program import program
from crane_core.runtime.run_up import RunUp


class NotebookWalk:
    """One kernel on its way through a notebook. `ran` are the cells so far, in their order."""

    def __init__(
        self,
        name: str,
        cells: Sequence[CodeCell],
        kernel: Kernel,
        limits: KernelLimits,
    ) -> None:
        self._name = name
        self._cells = list(cells)
        self._limits = limits
        self.ran: list[CodeCell] = []
        self._way = RunUp(
            self.plan(self._cells[0]), kernel, installs=limits.installs
        )
        # Threads of the kernel itself: what is added later is the notebook's.
        self._own = self._way.greeting()

    def plan(self, cell: CodeCell) -> NotebookPlan:
        """The notebook with this cell as its target, and what has run so far as executed."""
        return NotebookPlan(self._name, self._cells, list(self.ran), cell)

    def look(self, cell: CodeCell) -> Captured:
        """What this cell will meet. Raises LookError, or another KernelError if the kernel ended."""
        self._way.toward(self.plan(cell))
        try:
            result = self._way.look((), self._own)
        except EndedError as error:
            raise ended(
                error.end, self._way.what, None, self._limits
            ) from error
        return Captured(
            notebook=self._name,
            target=cell.index,
            cells=tuple(self._way.ran),
            result=result,
            # Known only when the kernel has ended; threads are known, and count alike.
            processes=(),
            kernel_seconds=0.0,
        )

    def run(self, cell: CodeCell) -> tuple[CrashOutput | None, float]:
        """What the cell raised, if anything, and its wall time in seconds. Raises KernelError if the kernel ended."""
        self.ran.append(cell)
        try:
            reply = self._way.run(cell)
        except EndedError as error:
            raise ended(
                error.end, self._way.what, cell.index, self._limits
            ) from error
        if reply.exception is None:
            return None, reply.seconds
        # The kernel counts from 1, whatever the file says.
        crash = crash_output(
            reply.exception, reply.message, reply.traceback, len(self.ran)
        )
        return crash, reply.seconds


@contextmanager
def walk(
    notebook: Path,
    cells: Sequence[CodeCell],
    *,
    python: str | Path | None,
    kernel: str | None,
    limits: KernelLimits,
) -> Iterator[NotebookWalk]:
    """A fresh kernel in the notebook's folder, for `cells`, one at least. Raises KernelStartError or LookError."""
    with_kernel = program(kernel=kernel, python=python)
    if python is not None:
        # An interpreter that runs the notebook may also be asked about its libraries.
        interpreters.name(with_kernel.argv[0])
    folder = notebook.resolve().parent
    with fresh_kernel(with_kernel, folder, limits) as running:
        yield NotebookWalk(notebook.name, cells, running, limits)
