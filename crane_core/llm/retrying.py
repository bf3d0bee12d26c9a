"""What a failed request means for the next one: whether, when and how often to retry.

Knows status codes, the codes that endpoints write beside them, and Retry-After. Refuses to know the question; what the
words of an error say is known to `refusals`.
"""

import email.utils
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from random import Random
from typing import NamedTuple

RETRIES = 7
"""Number of times that a failed request is sent again by default."""


class FailureScope(StrEnum):
    """The scope of a failure."""

    TRANSIENT = "transient"
    """The moment: the same request may succeed later."""
    BUSY = "busy"
    """The moment, and every other request to the provider should wait too."""
    SILENT = "silent"
    """The request was taken, and no reply came in time."""
    UNREACHABLE = "unreachable"
    """The connection: nothing was sent."""
    QUESTION = "question"
    """This one question: the same request would fail again."""
    ENDPOINT = "endpoint"
    """Every question: no further request can succeed."""


class Failure(NamedTuple):
    """A failed request. `why` is free of secrets. `may_cost`: the endpoint may charge for it.

    `is_of_text`: it is about the question's own words or length, and says nothing of the next one.
    """

    kind: FailureScope
    why: str
    retry_after_s: float | None = None
    may_cost: bool = False
    remedy: str = ""
    is_of_text: bool = False


@dataclass(frozen=True, slots=True)
class RetryPatience:
    """How long a question is retried: requests, seconds in total, and the pauses between.

    A pause doubles from `first_s` up to `longest_s`; a seeded share of it is left out, so that retries do not coincide.
    An endpoint that asks to wait longer than `longest_wait_s` is not waited for.
    """

    max_attempts: int = RETRIES + 1
    total_s: float = 900.0
    first_s: float = 0.5
    longest_s: float = 30.0
    longest_wait_s: float = 120.0
    seed: int = 0

    def pause_s(self, n_failed: int, failure: Failure, random: Random) -> float:
        """Seconds before the next request, after `n_failed` failures."""
        # The exponent is bounded, because 2.0 ** 1024 does not fit a float.
        grown = min(self.longest_s, self.first_s * 2.0 ** min(n_failed - 1, 30))
        return max(
            grown * random.uniform(0.5, 1.0), failure.retry_after_s or 0.0
        )


class Refusal(NamedTuple):
    """What the words of an error say of all further requests, and what to do.

    The wordings are those of OpenAI, LiteLLM, vLLM, Transformers, llama.cpp, Ollama, LM Studio, OpenRouter, Gemini,
    DeepSeek, Mistral and Anthropic, which use almost every status for them.
    """

    why: str
    remedy: str


KEY = Refusal(
    "The endpoint refuses the key",
    "Check the key, or set the variable that holds it: --key-env NAME.",
)
MODEL = Refusal(
    "The endpoint has no such model",
    "Check --model; the endpoint lists its models at BASE_URL/models.",
)
PAYMENT = Refusal(
    "The endpoint asks for payment",
    "Add credit at the provider, then run the same command again.",
)

_MODEL = re.compile(
    r"model_not_found|model_not_exist|invalid_model|DeploymentNotFound|key_model_access_denied"
    r"|\b(?:invalid|unknown|no such|nonexistent) model\b|not a valid model|model identifier is invalid"
    r"|\bmodels?\b[^\n]{0,160}?(?:does not exist|doesn't exist|\bnot exist|\bnot found|could not be found)"
    r"|\bnot found the model|\bno models? (?:is |are )?loaded|unable to access model|not allowed to access model"
    r"|(?:do not|don't) have access to (?:the )?model|not supported by any provider|LLM Provider NOT provided"
    r"|server is pinned to",
    re.IGNORECASE,
)
_KEY = re.compile(
    r"invalid_api_key|\bauthentication ?(?:error|failed|fails)|\bunauthori[sz]ed\b|no auth credentials|no connected db"
    r"|\b(?:invalid|incorrect|expired|missing|wrong|malformed) (?:api[ _-]?|access |virtual |proxy server )?"
    r"(?:key|token)\b"
    r"|\bno (?:api[ _-]?key|cookie auth) (?:was |is )?(?:provided|passed|found|set)|virtual key expected"
    r"|\bapi[ _-]?key\b[^\n]{0,40}?(?:not valid|invalid|required|missing|expired|must be set|not found|is wrong)",
    re.IGNORECASE,
)
_PAYMENT = re.compile(
    r"budget_exceeded|budget has been exceeded|exceeded budget|credit balance is too low|billing_(?:hard|not)"
    r"|insufficient[ _](?:balance|credits?|funds|quota)",
    re.IGNORECASE,
)


def refusal_in(words: str) -> Refusal | None:
    """What an error with these words (its code, type and message) refuses to every question; None: nothing."""
    found = ((_PAYMENT, PAYMENT), (_KEY, KEY), (_MODEL, MODEL))
    return next(
        (refusal for form, refusal in found if form.search(words)), None
    )


_TRANSIENT = frozenset({408, 409, 425})
_PERMISSION = {
    401: KEY,
    402: PAYMENT,
    403: Refusal(
        "The endpoint refuses access", "Check the permissions of the key."
    ),
    404: Refusal(
        "The endpoint has no such model or address",
        "Check --model and --base-url.",
    ),
    405: Refusal("The address accepts no requests", "Check --base-url."),
}
_MOVED = Refusal(
    "The endpoint has moved",
    "Use the address that it redirects to: --base-url.",
)
_SPENT = frozenset(
    {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"}
)
_ABOUT_CONTENT = ("moderation", "flagged", "content_filter", "content policy")
_BUSY = frozenset({429, 503})


def failure_of(
    status: int, code: str, message: str, headers: Mapping[str, str]
) -> Failure:
    """The failure that a reply with an error status means. `code` may hold its type too; `message` has no secrets."""
    why = f"status {status}: {message}" if message else f"status {status}"
    # The same status means two things: wait a moment, or nothing is left to pay with.
    if status == 429:
        if _SPENT.intersection(code.split()):
            remedy = "Raise the quota at the provider, then run the same command again."
            return Failure(
                FailureScope.ENDPOINT,
                f"The quota is used up: {why}",
                remedy=remedy,
            )
        return Failure(FailureScope.BUSY, why, retry_after_s(headers))
    words = f"{code} {message}"
    is_of_text = any(word in words.lower() for word in _ABOUT_CONTENT)
    refusal = _refusal(status, words, is_of_text=is_of_text)
    if refusal is not None:
        return Failure(
            FailureScope.ENDPOINT,
            f"{refusal.why}: {why}",
            remedy=refusal.remedy,
        )
    if status in _TRANSIENT or status >= 500:
        scope = FailureScope.BUSY if status == 503 else FailureScope.TRANSIENT
        return Failure(scope, why, retry_after_s(headers), may_cost=True)
    # 413 is about the length of this text; the next one may be shorter.
    return Failure(
        FailureScope.QUESTION, why, is_of_text=is_of_text or status == 413
    )


def _refusal(status: int, words: str, *, is_of_text: bool) -> Refusal | None:
    """What a status and its words refuse to every question; None: nothing."""
    # A moderated text may quote the words of any other error.
    if not is_of_text and status not in _BUSY and (told := refusal_in(words)):
        return told
    if 300 <= status < 400:
        return _MOVED
    return None if is_of_text else _PERMISSION.get(status)


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Seconds that an endpoint asks to wait: Retry-After-Ms, or Retry-After as seconds or as a date."""
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1e3
    told = headers.get("retry-after", "")
    seconds = _number(told)
    if seconds is not None or not told:
        return seconds
    try:
        return max(
            0.0,
            email.utils.parsedate_to_datetime(told).timestamp() - time.time(),
        )
    except (ValueError, OverflowError):
        return None


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if 0.0 <= number < float("inf") else None
