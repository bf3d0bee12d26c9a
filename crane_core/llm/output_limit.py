"""How long a reply may be where an endpoint refuses a number of tokens.

Knows the wordings of OpenAI, vLLM, SGLang, TGI, LiteLLM and llama.cpp. Refuses to guess a limit that no number speaks
for.
"""

import math
import re
from dataclasses import dataclass

LEAST = 64
"""Tokens below which a reply has no room."""

_SPARE = 16
"""Tokens left free: servers count the marks around messages differently."""

_MARGIN_SHARE = 10
"""One token in so many is added to our count: other tokenizers count more, until a server says what it counts."""

_AT_MOST = re.compile(
    r"(?:at most|less than or equal to|no more than|maximum (?:allowed )?(?:value|number) of (?:\w+ )?tokens(?: is|:)?"
    r"|must be (?:<=|less than)) (?P<n>\d[\d,]*)(?: (?:completion|output))?",
    re.IGNORECASE,
)
_CONTEXT = re.compile(
    r"(?:context[_ ](?:length|window|size|limit)|max_model_len|n_ctx|max_num_tokens)\D{0,40}?(?P<n>\d[\d,]*)"
    r"|(?P<m>\d[\d,]*)[- ]tokens? context"
    # TGI bounds the sum of both: "`inputs` tokens + `max_new_tokens` must be <= 2048".
    r"|\+ \W?max_new_tokens\W{0,3}must be <= (?P<o>\d[\d,]*)",
    re.IGNORECASE,
)
_INPUT = re.compile(
    r"(?P<a>\d[\d,]*) (?:tokens )?(?:in|from|of) (?:the |your )?(?:text )?(?:messages|prompt|input)"
    r"|(?P<b>\d[\d,]*) \W?(?:input|prompt)s?\W? tokens|(?:prompt|input)\D{0,20}? (?P<c>\d[\d,]*) tokens"
    r"|(?:input|request) \((?P<d>\d[\d,]*) tokens\)",
    re.IGNORECASE,
)
_LOWER_BOUND = re.compile(
    r"at least \d[\d,]* \W?(?:input|prompt)", re.IGNORECASE
)
"""vLLM stops counting once a request cannot fit: what it names then is not the length of the prompt."""


def is_about_length(message: str) -> bool:
    """Whether the message names the context length or how long a reply may be."""
    return bool(_CONTEXT.search(message) or _AT_MOST.search(message))


@dataclass(slots=True)
class OutputLimit:
    """The most tokens that a reply may have, as the user set it, and what an endpoint said of its own limits.

    `context` is what it holds for prompt and reply together, None while it has not said so. What a prompt leaves room
    for differs from one to the next, so it is the context that is kept, not the room.
    """

    most: int
    context: int | None = None
    _n_more: int = 0
    """Tokens by which the endpoint counted more for a prompt than we do: its chat template, another tokenizer."""

    def for_prompt(self, n_counted: int) -> int:
        """The limit for a prompt of so many tokens by our own count.

        At least LEAST: where a reply has no room, the endpoint says so itself.
        """
        return min(self.most, max(LEAST, self._room(n_counted)))

    def learn(self, message: str, asked: int, n_counted: int) -> bool:
        """Take in why `asked` tokens were refused; whether a shorter reply to the same prompt may fit."""
        context, most = _number(_CONTEXT, message), _number(_AT_MOST, message)
        # A message that names the context may name the longest reply too, which is then only what is left of
        # it.
        if context is not None:
            return self._learn_context(
                context, _input_tokens(message), asked, n_counted
            )
        if most is None:
            return False
        self.most = min(self.most, most)
        return LEAST <= most < asked

    def _learn_context(
        self, context: int, n_input: int | None, asked: int, n_counted: int
    ) -> bool:
        self.context = (
            context if self.context is None else min(self.context, context)
        )
        if n_input is not None:
            self._n_more = max(self._n_more, n_input - _estimated(n_counted))
        elif self._room(n_counted) >= asked:
            # Our count is too low, and the endpoint does not say its own: leave half of the room that was asked for.
            self._n_more += self._room(n_counted) - asked // 2
        return LEAST <= self._room(n_counted) < asked

    def _room(self, n_counted: int) -> int:
        """Tokens that the prompt leaves, below 0 where it is longer than the context."""
        if self.context is None:
            return self.most
        return self.context - _estimated(n_counted) - self._n_more - _SPARE


def _estimated(n_counted: int) -> int:
    return n_counted + math.ceil(n_counted / _MARGIN_SHARE)


def _input_tokens(message: str) -> int | None:
    """The tokens of the prompt where the message counts them to the end."""
    return None if _LOWER_BOUND.search(message) else _number(_INPUT, message)


def _number(form: re.Pattern[str], message: str) -> int | None:
    found = form.search(message)
    if found is None:
        return None
    return int(
        next(group for group in found.groups() if group).replace(",", "")
    )
