"""Many questions to one endpoint: a bounded number at a time, in order, each answer handed over on arrival.

    ask_all(questions, endpoint, concurrency=8, on_answer=keep) -> Tally

Knows when there is more to send and when to end. Questions are pulled and answers handed over in the caller's own
thread. Refuses to know what the questions are about.
"""

from __future__ import annotations

import asyncio
import functools
import json
import queue
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Self

from crane_core.errors import DetectorError
from crane_core.llm.attempts import Attempts, Task, TaskOutcome, Terms
from crane_core.llm.budget import Budget
from crane_core.llm.endpoint import Endpoint
from crane_core.llm.limiter import Limiter, limiter_of
from crane_core.llm.question import Answer, Question, StopReason, Tally
from crane_core.llm.retrying import Failure, FailureScope, RetryPatience
from crane_core.prompts.tokens import count_tokens

_AHEAD = 16
"""Maximum number of questions that are taken before a connection is free for them."""

_LOOK_S = 0.1
"""How often the stop event is checked, in seconds."""

OnAnswer = Callable[[Answer], None]


def ask_all(
    questions: Iterable[Question],
    endpoint: Endpoint,
    *,
    on_answer: OnAnswer,
    concurrency: int = 8,
    budget: Budget | None = None,
    stop: threading.Event | None = None,
    patience: RetryPatience | None = None,
    limiter: Limiter | None = None,
) -> Tally:
    """Ask every question and hand each answer to `on_answer`, called in this thread, one at a time.

    Questions are started in order and pulled on demand: at most `concurrency` are in flight, and few more are held. A
    failed request is an Answer with trouble. When `stop` is set, requests in flight are dropped and it returns within a
    second; when the budget is spent, those in flight are still waited for. Raises DetectorError, after handing over the
    answers received, if no further request can succeed: a key or model that is refused, a spent quota, an endpoint that
    cannot be reached or does not reply, or first questions that all fail alike. An exception of `questions` or
    `on_answer` stops it too.
    """
    concurrency = max(1, concurrency)
    terms = Terms(
        endpoint,
        patience or RetryPatience(),
        limiter or limiter_of(endpoint.host),
        budget,
    )
    with TaskLine(terms, concurrency) as line:
        # Some questions wait where the requests are made, so that a free connection never waits for the
        # caller's thread.
        n_places = concurrency + min(concurrency, _AHEAD)
        return _Asking(questions, terms, line, n_places, on_answer).run(
            stop or threading.Event()
        )


class _Asking:
    """The caller's side of a line: the next task to send, and the answers received."""

    def __init__(
        self,
        questions: Iterable[Question],
        terms: Terms,
        line: TaskLine,
        n_places: int,
        on_answer: OnAnswer,
    ) -> None:
        self._questions = iter(questions)
        self._terms = terms
        self._line = line
        self._n_places = n_places
        self._on_answer = on_answer
        self._tally = Tally()
        self._waiting: Task | None = None
        self._is_all_sent = False
        self._n_open = 0
        self._end: Failure | None = None
        self._drops_rest = False

    def run(self, stop: threading.Event) -> Tally:
        """Send and receive until every question has an outcome, the job is stopped, or it has ended."""
        while True:
            self._fill(stop)
            if stop.is_set():
                self._tally.stopped = StopReason.STOP
                self._line.close()
                # Answers that came before the line was closed are paid for, so they are kept.
                self._take(self._line.rest())
                break
            if not self._n_open or self._drops_rest:
                break
            self._take(self._line.receive(_LOOK_S))
        return self._sum()

    def _fill(self, stop: threading.Event) -> None:
        """Send tasks while there is a place; a question that does not fit the budget waits for those in flight."""
        while (
            not (self._is_all_sent or stop.is_set())
            and self._n_open < self._n_places
        ):
            # The question that did not fit is held, so that questions keep their order; a cheaper one behind
            # it does not overtake.
            task = self._waiting or self._pulled()
            if task is None:
                self._is_all_sent = True
                return
            self._waiting = task
            if not self._send(task):
                return

    def _send(self, task: Task) -> bool:
        """Whether it fits the budget. If not, and nothing is in flight, the budget is spent."""
        budget = self._terms.budget
        if budget is not None:
            reserved = budget.reserve(
                task.n_tokens, self._terms.endpoint.max_output_tokens
            )
            if reserved is None:
                if not self._n_open:
                    self._tally.stopped, self._is_all_sent = (
                        StopReason.BUDGET,
                        True,
                    )
                    self._tally.why_stopped = budget.why_refused
                return False
            task = task._replace(reserved=reserved)
        self._line.send(task)
        self._waiting = None
        self._n_open += 1
        return True

    def _pulled(self) -> Task | None:
        question = next(self._questions, None)
        if question is None:
            return None
        # Counting tokens takes time for each text, so it is done only where a limit needs it.
        is_counted = (
            self._terms.budget is not None or self._terms.limiter.counts_tokens
        )
        return Task(question, _tokens(question) if is_counted else 0, None)

    def _take(self, came: list[TaskOutcome]) -> None:
        for done in came:
            self._n_open -= 1
            if done.end is not None and self._end is None:
                self._end, self._is_all_sent = done.end, True
                # A mute endpoint will not answer those in flight either, and each of them would be waited for
                # its whole time.
                self._drops_rest = done.end.kind is FailureScope.SILENT
            if done.answer is not None:
                self._tally.add(done.answer)
                self._on_answer(done.answer)

    def _sum(self) -> Tally:
        budget = self._terms.budget
        self._tally.spent_usd = (
            budget.spent_usd
            if budget is not None and budget.price is not None
            else None
        )
        if self._end is not None:
            remedy = (
                self._end.remedy
                or "Check the endpoint, then run the same command again to resume."
            )
            raise DetectorError(f"{self._end.why.rstrip('.')}.", remedy=remedy)
        return self._tally


def _tokens(question: Question) -> int:
    schema = json.dumps(question.schema) if question.schema is not None else ""
    return _counted(question.text) + (_counted(schema) if schema else 0)


@functools.lru_cache(maxsize=64)
def _counted(text: str) -> int:
    """Questions are repeated, and their repetitions often follow one another."""
    return count_tokens(text).n


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
        # Takes a second to import, and only questions need it.
        from crane_core.llm.for_openai import OpenAIClient

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
