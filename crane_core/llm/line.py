"""A thread with an event loop that sends questions and receives answers, a bounded number at a time.

Knows the queues of tasks and outcomes, and how to stop everything. Refuses to call the caller back.
"""

from __future__ import annotations

import asyncio
import queue
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Self

from crane_core.llm.attempts import Attempts, Task, TaskOutcome, Terms

if TYPE_CHECKING:
    from crane_core.llm.for_openai import OpenAIClient


class TaskLine:
    """Within its `with`: send tasks and receive their outcomes. Nothing is left afterwards."""

    def __init__(self, terms: Terms, concurrency: int) -> None:
        self._terms = terms
        self._concurrency = concurrency
        self._loop = asyncio.new_event_loop()
        self._inbox: asyncio.Queue[Task] = asyncio.Queue()
        self._outbox: queue.SimpleQueue[TaskOutcome] = queue.SimpleQueue()
        self._closing = asyncio.Event()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="asking")
        self._ended: Future[None] | None = None

    def __enter__(self) -> Self:
        self._ended = self._thread.submit(self._run)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Drop what is in flight and wait until nothing is left; a second time does nothing."""
        with suppress(RuntimeError):  # of a loop that has ended by itself
            self._loop.call_soon_threadsafe(self._closing.set)
        self._thread.shutdown()

    def send(self, task: Task) -> None:
        """Put a task at the end of the line. Raises the exception that ended the line, if any."""
        try:
            self._loop.call_soon_threadsafe(self._inbox.put_nowait, task)
        except RuntimeError:
            if self._ended is not None:
                self._ended.result()  # waits: the loop closes a moment before its thread ends with the exception
            raise

    def receive(self, timeout_s: float) -> list[TaskOutcome]:
        """The outcomes received, in order of arrival; waits a moment for the first."""
        try:
            first = self._outbox.get(timeout=timeout_s)
        except queue.Empty:
            self._raise_what_ended_it()
            return []
        return [first, *self.rest()]

    def rest(self) -> list[TaskOutcome]:
        """The outcomes received, without waiting."""
        came = []
        while not self._outbox.empty():
            came.append(self._outbox.get())
        return came

    def _raise_what_ended_it(self) -> None:
        if self._ended is not None and self._ended.done():
            self._ended.result()

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._work())

    async def _work(self) -> None:
        from crane_core.llm.for_openai import (
            OpenAIClient,
        )  # takes a second to import, and only questions need it

        async with (
            OpenAIClient(self._terms.endpoint, self._concurrency) as client,
            asyncio.TaskGroup() as group,
        ):
            workers = [
                group.create_task(self._worker(client))
                for _ in range(self._concurrency)
            ]
            await self._closing.wait()
            for worker in workers:
                worker.cancel()

    async def _worker(self, client: OpenAIClient) -> None:
        while True:
            task = await self._inbox.get()
            if self._terms.begins_more:
                self._outbox.put(
                    await Attempts(self._terms, client, task).run()
                )
            else:
                # The caller counts what it sent, so each task comes back, even unstarted.
                self._outbox.put(TaskOutcome())
