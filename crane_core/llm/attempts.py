"""One question, from its first request to its answer: retried if that may help, and accounted for.

Knows what all questions of a job share: retry policy, limiter, budget. Refuses to raise on an endpoint's failure.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, NamedTuple

from crane_core.llm.budget import Budget, Reserved
from crane_core.llm.endpoint import Endpoint
from crane_core.llm.limiter import Limiter
from crane_core.llm.question import (
    Answer,
    ModelReply,
    Question,
    UnsupportedParameter,
)
from crane_core.llm.retrying import Failure, FailureScope, RetryPatience
from crane_core.prompts.tokens import count_tokens

if TYPE_CHECKING:
    from crane_core.llm.for_openai import OpenAIClient

_MAX_NOT_TAKEN = 8
_UNREACHABLE_ATTEMPTS = 3
"""Number of requests to an unreachable endpoint before giving up."""
_SILENT_ATTEMPTS = 2
"""Number of requests in a row without a reply in time before giving up."""
_HOPELESS_REMEDY = (
    "Check --model, --base-url, --key-env, --max-tokens and --extra-body; the same command resumes, and asks again "
    "what has no answer."
)
_ALIKE = 5
"""Number of questions that must fail in the same way, before any was answered, for the next ones to be left unasked."""
_NUMBERS = re.compile(r"\b[0-9a-f-]*\d[0-9a-f-]*\b", re.IGNORECASE)
"""Counts, times and identifiers of requests, which differ between errors that are the same."""


class Task(NamedTuple):
    """A question, its tokens if they are counted, and the amount reserved for it."""

    question: Question
    n_tokens: int
    reserved: Reserved | None


class TaskOutcome(NamedTuple):
    """The outcome of a task: an answer, the end of the whole job, both, or neither because it was not started."""

    answer: Answer | None = None
    end: Failure | None = None


@dataclass(slots=True)
class Terms:
    """What all questions of a job share. `begins_more` is False once no further request makes sense.

    `was_reached`: a connection was made; `was_answered`: a model replied. `silent` counts, by question, the requests
    without a reply in time since anything came from the endpoint; `failed_alike`, by words, the questions that failed.
    """

    endpoint: Endpoint
    patience: RetryPatience
    limiter: Limiter
    budget: Budget | None = None
    was_reached: bool = False
    was_answered: bool = False
    begins_more: bool = True
    silent: Counter[Hashable] = field(default_factory=Counter)
    failed_alike: Counter[str] = field(default_factory=Counter)

    @property
    def is_mute(self) -> bool:
        """Whether nothing comes any more; not so for one slow question once others came back."""
        return max(self.silent.values(), default=0) >= _SILENT_ATTEMPTS and (
            len(self.silent) > 1 or not self.was_answered
        )

    def end_after(self, failure: Failure) -> Failure | None:
        """The end of the job, once its first questions all failed alike in a way that is not about their own text.

        Endpoints refuse a model or a parameter in more words than anyone can list; this needs none. Counted where
        requests are made: until the caller's thread had looked, more requests would be made in vain.
        """
        is_of_one_question = self.was_answered or failure.is_of_text
        # A provider that is busy refuses whatever it is sent, and later takes it.
        if is_of_one_question or failure.kind is FailureScope.BUSY:
            return None
        words = _NUMBERS.sub("#", failure.why)
        self.failed_alike[words] += 1
        n_alike = self.failed_alike[words]
        if n_alike < _ALIKE:
            return None
        self.begins_more = False
        why = f"The first {n_alike} questions that ended failed alike, and none was answered: {failure.why}"
        return Failure(FailureScope.ENDPOINT, why, remedy=_HOPELESS_REMEDY)


class Attempts:
    """The requests that are made for one task."""

    def __init__(self, terms: Terms, client: OpenAIClient, task: Task) -> None:
        self._terms = terms
        self._client = client
        self._task = task
        self._reserved = task.reserved
        # Seeded by the question: pauses differ between questions, and a repeated job makes the same ones.
        self._random = Random(f"{terms.patience.seed} {task.question.key!r}")
        self._started = time.monotonic()
        self._n_requests = 0
        self._n_failed = 0
        self._n_not_taken = 0
        self._n_silent = 0

    async def run(self) -> TaskOutcome:
        """Ask until there is an answer or retries are exhausted."""
        try:
            await self._terms.limiter.turn(self._task.n_tokens)
            # The time of an answer is without the wait for the limiter, which says nothing about the model.
            self._started = time.monotonic()
            while True:
                self._n_requests += 1
                outcome = await self._client.ask(self._task.question)
                done = await self._next_step(outcome)
                if done is not None:
                    return done
        # A request that is dropped on its way may have been worked on, and is charged then.
        except asyncio.CancelledError:
            self._pay_all()
            raise

    async def _next_step(
        self, outcome: ModelReply | Failure | UnsupportedParameter
    ) -> TaskOutcome | None:
        if isinstance(outcome, Failure) and outcome.kind is FailureScope.SILENT:
            return await self._after_silence(outcome)
        self._n_silent = 0
        # Whatever came, the endpoint is there: silence is counted from now on.
        self._terms.silent.clear()
        if isinstance(outcome, ModelReply):
            return self._replied(outcome)
        if isinstance(outcome, UnsupportedParameter):
            self._n_not_taken += 1
            return self._without(outcome)
        self._n_failed += 1
        if outcome.kind in (FailureScope.QUESTION, FailureScope.ENDPOINT):
            return self._given_up(
                outcome, is_end=outcome.kind is FailureScope.ENDPOINT
            )
        return await self._wait(outcome)

    async def _after_silence(self, failure: Failure) -> TaskOutcome | None:
        """Ask once more; a second time without a reply, the question has none, and perhaps no question has."""
        self._n_failed += 1
        self._n_silent += 1
        self._terms.silent[self._task.question.key] += 1
        if self._terms.is_mute:
            return self._given_up(
                _mute(failure, self._terms.endpoint), is_end=True
            )
        if self._n_silent >= _SILENT_ATTEMPTS:
            return self._given_up(failure)
        return await self._wait(failure)

    def _replied(self, reply: ModelReply) -> TaskOutcome:
        self._terms.was_reached = self._terms.was_answered = True
        self._terms.limiter.went_well()
        self._pay_for(reply)
        return TaskOutcome(
            Answer(
                self._task.question.key,
                text=reply.text,
                trouble=reply.trouble,
                finish_reason=reply.finish_reason,
                seconds=time.monotonic() - self._started,
                attempts=self._n_requests,
                input_tokens=reply.input_tokens,
                output_tokens=reply.output_tokens,
                left_out=reply.left_out,
                usd=reply.usd,
                chance=reply.chance,
            )
        )

    def _without(self, refused: UnsupportedParameter) -> TaskOutcome | None:
        """Ask again without the refused parameter; without a limit of tokens no cap can be enforced."""
        self._terms.was_reached = True
        if self._n_not_taken > _MAX_NOT_TAKEN:
            return self._given_up(
                Failure(
                    FailureScope.QUESTION,
                    f"the endpoint refuses {refused.parameter}",
                )
            )
        budget = self._terms.budget
        if (
            budget is not None
            and budget.is_capped
            and not self._client.has_limit
        ):
            why = "The endpoint accepts no token limit, so a budget cannot be enforced"
            return self._given_up(
                Failure(
                    FailureScope.ENDPOINT, why, remedy="Run without a budget."
                ),
                is_end=True,
            )
        return None

    async def _wait(self, failure: Failure) -> TaskOutcome | None:
        """Pause before the next request, if there is one."""
        patience = self._terms.patience
        self._terms.was_reached |= failure.kind is not FailureScope.UNREACHABLE
        pause_s = patience.pause_s(self._n_failed, failure, self._random)
        # The limiter makes all questions to this provider wait, not this one alone.
        if failure.kind is FailureScope.BUSY:
            if pause_s > patience.longest_wait_s:
                return self._given_up(_too_long(failure, pause_s), is_end=True)
            self._terms.limiter.busy(failure.retry_after_s or 0.0)
        if not self._may_go_on(pause_s):
            return self._given_up(
                failure, is_end=failure.kind is FailureScope.UNREACHABLE
            )
        if failure.may_cost and not self._afford_again():
            return self._given_up(
                failure._replace(
                    why=f"{failure.why}; a retry would exceed the budget"
                )
            )
        await asyncio.sleep(pause_s)
        await self._terms.limiter.turn(self._task.n_tokens)
        # Another question may have ended the job during the pause.
        return None if self._terms.begins_more else self._given_up(failure)

    def _may_go_on(self, pause_s: float) -> bool:
        terms = self._terms
        # An address that was never reached is probably wrong; a server that was reached may come back.
        most = (
            terms.patience.max_attempts
            if terms.was_reached
            else _UNREACHABLE_ATTEMPTS
        )
        spent_s = time.monotonic() - self._started
        return (
            terms.begins_more
            and self._n_failed < most
            and spent_s + pause_s <= terms.patience.total_s
        )

    def _given_up(
        self, failure: Failure, *, is_end: bool = False
    ) -> TaskOutcome:
        """An answer with the trouble; if the whole job ends, the question stays unanswered."""
        if failure.may_cost:
            self._pay_all()
        elif self._terms.budget is not None and self._reserved is not None:
            self._terms.budget.give_back(self._reserved)
        if is_end:
            self._terms.begins_more = False
            return TaskOutcome(end=failure)
        answer = Answer(
            self._task.question.key,
            trouble=failure.why,
            seconds=time.monotonic() - self._started,
            attempts=self._n_requests,
            left_out=self._client.left_out,
        )
        return TaskOutcome(answer, self._terms.end_after(failure))

    def _afford_again(self) -> bool:
        budget = self._terms.budget
        if budget is None or self._reserved is None:
            return True
        # The failed request may be charged in full, so the retry needs separate room beside it.
        self._pay_all()
        self._reserved = budget.reserve(
            self._task.n_tokens, self._terms.endpoint.max_output_tokens
        )
        return self._reserved is not None

    def _pay_all(self) -> None:
        if self._terms.budget is not None and self._reserved is not None:
            self._terms.budget.lose(self._reserved)
            self._reserved = None

    def _pay_for(self, reply: ModelReply) -> None:
        """By the endpoint's counts, else by local counts, else by the maximum."""
        if self._terms.budget is None or self._reserved is None:
            return
        n_input = (
            self._task.n_tokens
            if reply.input_tokens is None
            else reply.input_tokens
        )
        n_output = reply.output_tokens
        if n_output is None and reply.text is not None:
            n_output = count_tokens(reply.text).n
        # A reply without a text or a count may have been as long as the limit allows.
        if n_output is None:
            self._pay_all()
        else:
            self._terms.budget.settle(
                self._reserved, n_input, n_output, reply.usd
            )


def _mute(failure: Failure, endpoint: Endpoint) -> Failure:
    why = f"The endpoint takes requests and does not reply: {failure.why}, {_SILENT_ATTEMPTS} times in a row"
    remedy = (
        f"Check the server at {endpoint.base_url}. If it is only slow: raise --timeout-s, or lower --max-tokens or "
        "--concurrency; the same command resumes."
    )
    return Failure(FailureScope.SILENT, why, may_cost=True, remedy=remedy)


def _too_long(failure: Failure, wait_s: float) -> Failure:
    why = f"The endpoint asks to wait {wait_s:,.0f} s: {failure.why}"
    return Failure(
        FailureScope.ENDPOINT,
        why,
        remedy="Run the same command again after that to resume.",
    )
