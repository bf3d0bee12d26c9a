"""Sends the questions of a job to a model and stores its unchanged, unparsed replies.

Knows what a reply costs by the prices of the job. How a model is asked, and when it is asked again, belongs to llm.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from threading import Event
from typing import NamedTuple, TypedDict, cast

from crane_core.domain import JsonObject, JudgeReply, Prompt, Reply
from crane_core.llm.asking import ask_all
from crane_core.llm.budget import Budget
from crane_core.llm.endpoint import Endpoint
from crane_core.llm.prices import Price, price_for_cap, price_of
from crane_core.llm.question import Answer, Question, StopReason
from crane_core.llm.retrying import RETRIES, RetryPatience
from crane_core.pipeline.jobs.files import Standing, now, sayable
from crane_core.pipeline.jobs.work import INTERRUPTED, Keep, Key, Worker

MOST_TOKENS = 2**31 - 1


class Came(TypedDict):
    """The fields that an answer adds to a Reply or a JudgeReply."""

    answered_at: str
    text: str | None
    trouble: str | None
    finish_reason: str | None
    seconds: float | None
    attempts: int
    input_tokens: int | None
    output_tokens: int | None
    usd: float | None
    is_usd_reported: bool | None


_OVER_BUDGET = "the next question could cost more than the budget leaves"


@dataclass(frozen=True, slots=True)
class Caps:
    """Caps of a whole job, including earlier starts; None means no cap."""

    usd: float | None = None
    tokens: int | None = None


@dataclass(frozen=True, slots=True)
class AskingOptions:
    """How a model is asked: where, how many at a time, at which prices (None: unknown), within which caps.

    `seed` is that of the first run and repetition; the next ones use the next seeds.
    """

    endpoint: Endpoint
    concurrency: int
    price: Price | None = None
    caps: Caps = Caps()
    seed: int | None = None
    retries: int = RETRIES

    def options(self, template: str) -> JsonObject:
        """The options that affect the answers, and the prices. An endpoint of this process has no lasting address."""
        shaping = {
            "model": self.endpoint.model,
            "base_url": self.endpoint.base_url,
            "temperature": self.endpoint.temperature,
            "max_output_tokens": self.endpoint.max_output_tokens,
            "template": template,
        }
        seed = {} if self.seed is None else {"seed": self.seed}
        extra = (
            {"extra_body": dict(self.endpoint.extra)}
            if self.endpoint.extra
            else {}
        )
        return (
            shaping
            | seed
            | extra
            | ({} if self.price is None else {"prices": self.price._asdict()})
        )

    def budget(self, before: Standing) -> Budget:
        """The caps minus what earlier starts used: at least the cost of their tokens at this price.

        Tokens that the endpoint did not count are counted here, as they were during the request.
        """
        spent = before.spent
        is_capped = self.caps.usd is not None or self.caps.tokens is not None
        more_in, more_out = (
            before.uncounted_tokens()
            if is_capped and spent.n_uncounted
            else (0, 0)
        )
        n_in, n_out = (
            spent.input_tokens + more_in,
            spent.output_tokens + more_out,
        )
        by_price = self.price.usd(n_in, n_out) if self.price else 0.0
        # Replies from before a price was known have no cost stored; their tokens at today's price count.
        usd = max(spent.usd or 0.0, by_price)
        return Budget(
            self.caps.usd,
            self.caps.tokens,
            self.price,
            spent_usd=usd,
            spent_tokens=n_in + n_out,
        )


def asking(
    endpoint: Endpoint,
    *,
    concurrency: int,
    given: Price | None = None,
    caps: Caps | None = None,
    seed: int | None = None,
    retries: int = RETRIES,
) -> AskingOptions:
    """With the price given or known. Raises DetectorError for a cap in USD without a price."""
    wanted = caps or Caps()
    price = (
        price_of(endpoint, given)
        if wanted.usd is None
        else price_for_cap(endpoint, given)
    )
    return AskingOptions(
        endpoint=endpoint,
        concurrency=concurrency,
        price=price,
        caps=wanted,
        seed=seed,
        retries=retries,
    )


class CostEstimate(NamedTuple):
    """The planned requests. USD None: no price is known; `most_usd` is for replies of the longest kind.

    `most_tokens` is the cap of the whole job; None: no cap.
    """

    n_requests: int
    input_tokens: int
    input_usd: float | None
    most_usd: float | None
    most_tokens: int | None = None


def estimate(
    asked: AskingOptions, n_requests: int, input_tokens: int
) -> CostEstimate:
    """What `n_requests` with so many tokens of input may cost, at the price that is known, if one is."""
    cap = asked.caps.tokens
    if asked.price is None:
        return CostEstimate(n_requests, input_tokens, None, None, cap)
    price, longest = asked.price, n_requests * asked.endpoint.max_output_tokens
    return CostEstimate(
        n_requests,
        input_tokens,
        price.usd(input_tokens, 0),
        price.usd(input_tokens, longest),
        cap,
    )


def of_model(
    asked: AskingOptions,
    before: Standing,
    *,
    text_of: Callable[[Key], str],
    prompt_of: Callable[[Key], Prompt | None],
    repeat_of: Callable[[Key], int],
    reply_of: Callable[[Key, Came], Reply | JudgeReply],
    schema: JsonObject,
    schema_name: str,
    chance_of: str | None = None,
) -> Worker:
    """A worker that asks the model. By key: the text to send, the Prompt to keep, which repeat it is (from 1).

    chance_of: the boolean member of a reply whose chance is kept, where the endpoint tells it.
    """

    def work(items: Sequence[Key], keep: Keep, stop: Event) -> str | None:
        def questions() -> Iterator[Question]:
            for key in items:
                # Another seed for each repetition: with the same one a deterministic server would answer
                # alike five times.
                seed = (
                    None
                    if asked.seed is None
                    else asked.seed + repeat_of(key) - 1
                )
                yield Question(
                    key, text_of(key), schema, schema_name, seed, chance_of
                )

        def on_answer(answer: Answer) -> None:
            key = cast(Key, answer.key)
            reply = reply_of(key, came_of(answer, asked.price))
            # Of a judge's label no chance is asked for.
            if isinstance(reply, Reply):
                reply = replace(reply, chance=answer.chance)
            keep(reply, prompt_of(key))

        tally = ask_all(
            questions(),
            asked.endpoint,
            concurrency=asked.concurrency,
            budget=asked.budget(before),
            on_answer=on_answer,
            stop=stop,
            patience=RetryPatience(max_attempts=asked.retries + 1),
        )
        if tally.stopped is StopReason.BUDGET:
            return over_budget(tally.why_stopped)
        return None if tally.stopped is None else INTERRUPTED

    return work


def over_budget(why: str) -> str:
    """Why a job ends before a question that its caps leave no room for."""
    return (
        f"{_OVER_BUDGET}: {why}; raise the budget, or shorten the longest reply"
    )


def is_over_budget(ended: str | None) -> bool:
    """Whether this is why a job ended: its budget is used up."""
    return ended is not None and ended.startswith(_OVER_BUDGET)


def came_of(answer: Answer, price: Price | None) -> Came:
    """The answer in a form that a ledger line can hold; counts that do not fit become unknown."""
    used = _tokens(answer.input_tokens), _tokens(answer.output_tokens)
    return Came(
        answered_at=now(),
        text=None if answer.text is None else sayable(answer.text),
        trouble=None if answer.trouble is None else sayable(answer.trouble),
        finish_reason=None
        if answer.finish_reason is None
        else sayable(answer.finish_reason),
        seconds=float(answer.seconds),
        attempts=answer.attempts,
        input_tokens=used[0],
        output_tokens=used[1],
        usd=usd_of(price, *used) if answer.usd is None else answer.usd,
        is_usd_reported=True if answer.usd is not None else None,
    )


def _tokens(n: int | None) -> int | None:
    return n if n is not None and 0 <= n <= MOST_TOKENS else None


def usd_of(
    price: Price | None, input_tokens: int | None, output_tokens: int | None
) -> float | None:
    """What a reply cost; None if price or tokens are unknown: an unknown cost is not 0."""
    if price is None or input_tokens is None or output_tokens is None:
        return None
    return float(price.usd(input_tokens, output_tokens))
