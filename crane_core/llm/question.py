"""What goes in at the door to models and what comes out: a question, its answer, the tally of all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


@dataclass(frozen=True, slots=True)
class Question:
    """A text to send, and the JSON Schema that the reply is held to where the endpoint can do that.

    `key` tells the caller which question an answer belongs to. `seed` is sent where the endpoint takes one.
    """

    key: Hashable
    text: str
    schema: dict[str, Any] | None = None
    schema_name: str = "reply"
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """`text` is None where nothing usable came; `trouble` then says why, in words without secrets.

    `seconds` runs from the first request to the end of the last, pauses included; `attempts` counts requests. Tokens
    are those that the endpoint counted, None where it did not. `left_out` names what the endpoint refused to take and
    was not sent: of "response_format", "temperature", "seed", "max_tokens", "max_completion_tokens". `usd` is the cost
    that the endpoint reports, None where it reports none.
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


class Stopped(StrEnum):
    """Why questions were left unasked."""

    BUDGET = "budget"
    STOP = "stop"


@dataclass(slots=True)
class Tally:
    """Counts over all answers that were handed over. `stopped` is None where every question was asked."""

    n_answered: int = 0
    n_troubles: int = 0
    n_requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    spent_usd: float | None = None
    troubles: Counter[str] = field(default_factory=Counter)
    left_out: set[str] = field(default_factory=set)
    stopped: Stopped | None = None

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
