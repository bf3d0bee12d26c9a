"""How long a reply may be where an endpoint says that it was asked for too many tokens.

Knows the wordings of OpenAI, vLLM, LiteLLM and llama.cpp. Refuses to guess a limit that no number speaks for.
"""

from __future__ import annotations

import re

LEAST = 64
"""Tokens below which a reply has no room."""

_SPARE = 16
"""Tokens left free: servers count the marks around messages differently."""

_AT_MOST = re.compile(
    r"(?:at most|less than or equal to|no more than|maximum (?:allowed )?(?:value|number) of (?:\w+ )?tokens(?: is|:)?"
    r"|must be (?:<=|less than)) (?P<n>\d[\d,]*)(?: (?:completion|output))?",
    re.IGNORECASE,
)
_CONTEXT = re.compile(
    r"(?:context (?:length|window|size)|max_model_len|n_ctx)\D{0,40}?(?P<n>\d[\d,]*)"
    r"|(?P<m>\d[\d,]*)[- ]tokens? context",
    re.IGNORECASE,
)
_INPUT = re.compile(
    r"(?P<a>\d[\d,]*) (?:tokens )?(?:in|from|of) (?:the |your )?(?:messages|prompt|input)"
    r"|(?P<b>\d[\d,]*) (?:input|prompt) tokens|(?:prompt|input)\D{0,20}? (?P<c>\d[\d,]*) tokens",
    re.IGNORECASE,
)


def is_about_length(message: str) -> bool:
    """Whether the message names the context length or how long a reply may be."""
    return bool(_CONTEXT.search(message) or _AT_MOST.search(message))


def fitting(message: str, asked: int) -> int | None:
    """A limit below `asked` that the message leaves room for, in tokens; None if it leaves none, or names none."""
    context, most, used = _number(_CONTEXT, message), _number(_AT_MOST, message), _number(_INPUT, message)
    if context is not None:
        room = context - used - _SPARE if used is not None else context // 2
    elif most is not None:
        room = most
    else:
        return None
    return room if LEAST <= room < asked else None


def _number(form: re.Pattern[str], message: str) -> int | None:
    found = form.search(message)
    if found is None:
        return None
    return int(next(group for group in found.groups() if group).replace(",", ""))
