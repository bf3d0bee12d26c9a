"""A notebook's cells executed by nbclient in a fresh kernel, until one raises, a limit is met, or all have run.

nbclient drives the cells and tells what they raise; the kernel is started, isolated and ended as for a capture. Outputs
are counted and dropped. Refuses to know what should have happened.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

import nbformat
import zmq
import zmq.asyncio
from jupyter_client.asynchronous.client import AsyncKernelClient
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, DeadKernelError

from crane_core.errors import KernelError
from crane_core.notebooks import CodeCell
from crane_core.runtime.endings import ended
from crane_core.runtime.guarded import Guarded
from crane_core.runtime.kernel import guarded_kernel, not_started
from crane_core.runtime.limits import KernelLimits
from crane_core.runtime.program import Program

T = TypeVar("T")
# How soon a stop from outside is noticed.
_TICK_S = 0.25


class Execution(NamedTuple):
    """How far the cells came. `at` is the position of the cell that ended it, None if all cells ran.

    `exception` and `message` are what that cell raised; `stopped` is why the kernel ended instead, with the remedy.
    `seconds` is wall time without the kernel's start.
    """

    at: int | None
    exception: str | None
    message: str
    stopped: str | None
    seconds: float


Tolerated = Callable[[int, str], bool]
"""Whether the cell at this position may raise this exception and the next one runs."""


def execute(
    name: str,
    cells: Sequence[CodeCell],
    folder: Path,
    program: Program,
    limits: KernelLimits,
    *,
    tolerated: Tolerated = lambda at, exception: False,
    stop: threading.Event | None = None,
) -> Execution:
    """Run `cells` in their order in a fresh kernel that works in `folder`; `name` is the notebook's, for messages.

    `limits.cell_s` holds for all cells together. Raises KernelStartError, and KernelError when `stop` is set.
    """
    with guarded_kernel(program, folder, limits) as (guarded, connection):
        session = _Session(
            guarded, connection, limits, stop or threading.Event()
        )
        return asyncio.run(session.run(name, cells, program, tolerated))


class _Client(AsyncKernelClient):
    """A client of a kernel whose life the watchdog tells."""

    def __init__(self, has_ended: asyncio.Event, **options: Any) -> None:
        super().__init__(**options)
        self._has_ended = has_ended

    # nbclient asks the client whether its kernel lives; ours has no manager that would know.
    async def _async_is_alive(self) -> bool:
        return not self._has_ended.is_set()

    is_alive = _async_is_alive


class _QuietNotebook(NotebookClient):
    """nbclient with what is printed or shown only counted, so that a cell cannot fill our memory."""

    n_output = 0
    allowed = 0
    too_much: asyncio.Event

    def process_message(
        self, msg: dict[str, Any], cell: Any, cell_index: int
    ) -> Any:
        if msg["msg_type"] == "status":
            # Only these end a cell: everything else is dropped unread.
            return super().process_message(msg, cell, cell_index)
        # By length alone: a picture in the output is not decoded.
        self.n_output += len(repr(msg["content"])) + sum(
            map(len, msg["buffers"])
        )
        if self.n_output > self.allowed:
            self.too_much.set()
        return None


def _book(cells: Sequence[CodeCell]) -> nbformat.NotebookNode:
    """The bare code: tags that tell nbclient to skip a cell or to let it raise are left out."""
    # Tags of a notebook must not decide how it is judged.
    made = [nbformat.v4.new_code_cell(cell.source) for cell in cells]  # type: ignore[no-untyped-call]
    book: nbformat.NotebookNode = nbformat.v4.new_notebook(cells=made)  # type: ignore[no-untyped-call]
    return book


def _cut(
    socket: zmq.asyncio.Socket, too_much: asyncio.Event
) -> asyncio.Task[None]:
    """Watches a connection: it is cut when the kernel is gone, or one message is larger than all that may be said."""
    # A message that is too long is not delivered: the cut connection is its only sign.
    monitor = socket.get_monitor_socket(zmq.EVENT_DISCONNECTED)

    async def watch() -> None:
        await monitor.recv_multipart()
        too_much.set()

    return asyncio.create_task(watch())


class _Session:
    """One notebook in one kernel."""

    def __init__(
        self,
        guarded: Guarded,
        connection: dict[str, Any],
        limits: KernelLimits,
        stop: threading.Event,
    ) -> None:
        self._guarded = guarded
        self._connection = connection
        self._limits = limits
        self._stop = stop
        self._at: int | None = None

    async def run(
        self,
        name: str,
        cells: Sequence[CodeCell],
        program: Program,
        tolerated: Tolerated,
    ) -> Execution:
        has_ended, too_much = asyncio.Event(), asyncio.Event()
        handle = self._guarded.handle
        # The watchdog's handle can be read when the kernel has ended.
        asyncio.get_running_loop().add_reader(handle, has_ended.set)
        context = zmq.asyncio.Context()
        # Before the sockets are made, which take it from their context.
        context.setsockopt(zmq.MAXMSGSIZE, self._limits.output_bytes)
        client = _Client(has_ended, context=context)
        client.load_connection_info(cast(Any, self._connection))
        # A cell that asks for input raises instead of waiting for ever.
        client.allow_stdin = False
        monitors: list[asyncio.Task[None]] = []
        try:
            # Without heartbeat, as the watchdog tells of the end, and without input.
            client.start_channels(hb=False, stdin=False)
            if not await self._until(
                client.wait_for_ready(), self._limits.start_s, has_ended
            ):
                raise not_started(self._guarded.end(), program)
            monitors = [
                _cut(channel.socket, too_much)
                for channel in (client.shell_channel, client.iopub_channel)
            ]
            # Without timeout of nbclient, as the time for all cells together is the watchdog's.
            notebook = _QuietNotebook(
                _book(cells), timeout=None, record_timing=False
            )
            notebook.kc, notebook.allowed, notebook.too_much = (
                client,
                self._limits.output_bytes,
                too_much,
            )
            started = time.perf_counter()
            finished = await self._until(
                self._cells(notebook, tolerated),
                self._limits.cell_s,
                has_ended,
                too_much,
            )
            seconds = time.perf_counter() - started
        finally:
            for monitor in monitors:
                monitor.cancel()
            asyncio.get_running_loop().remove_reader(handle)
            client.stop_channels()
            # linger 0, else a message to a dead kernel holds the program.
            context.destroy(linger=0)
        if finished and (raised := finished.result()) is not None:
            return Execution(*raised, None, seconds)
        # Too much output first: a cut connection looks like the end of the kernel.
        if too_much.is_set():
            end = self._guarded.end_for_output(
                is_cut=notebook.n_output <= self._limits.output_bytes
            )
        else:
            end = self._guarded.end()
        at = self._at or 0
        # Time is that of the whole notebook, the rest is over one cell.
        what = (
            name
            if end.why == "time"
            else f"Code cell {cells[at].index} of {name}"
        )
        why = ended(end, what, cells[at].index, self._limits)
        return Execution(self._at, None, "", str(why), seconds)

    async def _cells(
        self, notebook: _QuietNotebook, tolerated: Tolerated
    ) -> tuple[int | None, str | None, str] | None:
        """Position, class and message of what ended it; None where the kernel did."""
        for at, cell in enumerate(notebook.nb.cells):
            self._at = at
            try:
                await notebook.async_execute_cell(cell, at)
            except CellExecutionError as error:
                if not tolerated(at, str(error.ename)):
                    return at, str(error.ename), str(error.evalue)
            except DeadKernelError:
                return None
        return None, None, ""

    async def _until(
        self,
        work: Coroutine[Any, Any, T],
        allowed_s: float,
        *over: asyncio.Event,
    ) -> asyncio.Task[T] | None:
        """`work` when it is done, None if one of `over` comes first. Raises KernelError when it has to stop."""
        # The watchdog counts the time: our own loop may be held up.
        self._guarded.allow(allowed_s)
        task = asyncio.create_task(work)
        others = [asyncio.ensure_future(event.wait()) for event in over]
        try:
            while not task.done() and not any(event.is_set() for event in over):
                await asyncio.wait(
                    [task, *others],
                    timeout=_TICK_S,
                    return_when=asyncio.FIRST_COMPLETED,
                )
                if self._stop.is_set():
                    raise KernelError(
                        "The execution was stopped.", remedy="Run it again."
                    )
            if not task.done():
                return None
            # No limit between two steps, in which our own work must not end the kernel.
            self._guarded.allow(None)
            return task
        finally:
            for left in (task, *others):
                left.cancel()
            # Awaited after it was cancelled, or asyncio complains about it at the end.
            await asyncio.gather(task, *others, return_exceptions=True)
