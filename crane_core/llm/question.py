"""Input and output of this package: a question, its answer, the tally of all.

The outcome of one request is here, apart from the client that sends it: that one takes a second to import.
"""

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from crane_core.domain import JsonObject


@dataclass(frozen=True, slots=True)
class Question:
    """A text to send, and the JSON Schema of the reply if the endpoint supports one.

    `key` links an answer to its question. `seed` is sent if the endpoint accepts one. `chance_of` names the boolean
    member of the reply whose chance is wanted, where the endpoint tells it.
    """

    key: Hashable
    text: str
    schema: JsonObject | None = None
    schema_name: str = "reply"
    seed: int | None = None
    chance_of: str | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """`text` is None without a usable reply; `trouble` then says why, without secrets.

    `seconds` runs from the first request to the end of the last, pauses included; `attempts` counts requests. Tokens
    are those that the endpoint counted, None if it did not. `left_out` names refused parameters that were not sent: of
    "response_format", "temperature", "seed", "logprobs", "max_tokens", "max_completion_tokens". `usd` is the cost that
    the endpoint reports, None if it reports none; `chance` is that of the member that the question names.
    """

    key: Hashable
    text: str | None = None
    trouble: str | None = None
    finish_reason: str | None = None
    seconds: float = 0.0
    attempts: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None
    left_out: tuple[str, ...] = ()
    usd: float | None = None
    chance: float | None = None


class StopReason(StrEnum):
    """Why questions were left unasked."""

    BUDGET = "budget"
    STOP = "stop"


@dataclass(slots=True)
class Tally:
    """Counts over all answers that were handed over. `stopped` is None if every question was asked."""

    n_answered: int = 0
    n_troubles: int = 0
    n_requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    spent_usd: float | None = None
    troubles: Counter[str] = field(default_factory=Counter)
    left_out: set[str] = field(default_factory=set)
    stopped: StopReason | None = None
    why_stopped: str = ""
    """Of a budget that is spent: what the next question would reserve, and what is left."""

    def add(self, answer: Answer) -> None:
        """Count one answer."""
        self.n_answered += answer.text is not None
        self.n_requests += answer.attempts
        self.input_tokens += answer.input_tokens or 0
        self.output_tokens += answer.output_tokens or 0
        self.left_out.update(answer.left_out)
        if answer.trouble is not None:
            self.n_troubles += 1
            self.troubles[answer.trouble] += 1


class ModelReply(NamedTuple):
    """A model's reply. `trouble` is set if it is not a readable answer; `usd` is the reported cost.

    `chance` is that of the member that the question names, where the endpoint tells it.
    """

    text: str | None
    trouble: str | None
    finish_reason: str | None
    input_tokens: int | None
    output_tokens: int | None
    left_out: tuple[str, ...]
    usd: float | None
    chance: float | None = None


class UnsupportedParameter(NamedTuple):
    """A request that was refused for a parameter, which is left out from now on: send it again at once."""

    parameter: str
