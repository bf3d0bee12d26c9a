"""The rate of requests to one provider: all wait when it says so, and resume one after another.

Knows only times, so that any number of loops and threads can share one limiter. Refuses to know what is sent.
"""

import asyncio
import threading
import time
from collections.abc import Callable

_FIRST_GAP_S = 0.01
_LONGEST_GAP_S = 5.0
_GROWS, _SHRINKS = 2.0, 0.9
_MINUTE_S = 60.0


class Limiter:
    """Start times for the requests to one provider.

    If it is busy, no request starts before the time that it named, and from then on the gap between two starts is
    doubled; each success makes it a tenth smaller again, until it is zero. `requests_per_minute` and
    `tokens_per_minute` space starts from the first request on.
    """

    def __init__(
        self,
        *,
        requests_per_minute: float | None = None,
        tokens_per_minute: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._gap_per_request_s = (
            _MINUTE_S / requests_per_minute if requests_per_minute else 0.0
        )
        self._gap_per_token_s = (
            _MINUTE_S / tokens_per_minute if tokens_per_minute else 0.0
        )
        self._clock = clock
        self._lock = threading.Lock()
        self._gap_s = 0.0
        self._next_start = 0.0
        self._not_before = 0.0
        self._grew_at = float("-inf")

    @property
    def counts_tokens(self) -> bool:
        """Whether `turn` needs the number of tokens of a request."""
        return self._gap_per_token_s > 0

    async def turn(self, n_tokens: int = 0) -> None:
        """Wait until a request with this number of tokens may start."""
        start = self.claim(n_tokens)
        # Asked again after each sleep, because a refusal meanwhile may have moved the start.
        while (wait_s := max(start, self._not_before) - self._clock()) > 0:
            await asyncio.sleep(wait_s)

    def claim(self, n_tokens: int = 0) -> float:
        """The moment (of `clock`) at which a request may start; it is taken by this request."""
        with self._lock:
            start = max(self._clock(), self._next_start, self._not_before)
            gap_s = max(
                self._gap_s,
                self._gap_per_request_s,
                self._gap_per_token_s * n_tokens,
            )
            self._next_start = start + gap_s
            return start

    def busy(self, wait_s: float) -> None:
        """The provider refused a request and asks to wait this long. A storm widens the gap once, not per refusal."""
        with self._lock:
            now = self._clock()
            self._not_before = max(self._not_before, now + wait_s)
            # Requests that were on their way at the first refusal are refused too; they belong to the same
            # storm.
            if now >= self._grew_at:
                self._gap_s = min(
                    _LONGEST_GAP_S, max(_FIRST_GAP_S, self._gap_s * _GROWS)
                )
                self._grew_at = self._not_before
            self._next_start = max(self._next_start, self._not_before)

    def went_well(self) -> None:
        """A request was answered."""
        if self._gap_s:
            with self._lock:
                self._gap_s = (
                    self._gap_s * _SHRINKS
                    if self._gap_s > _FIRST_GAP_S / 4
                    else 0.0
                )


_limiters: dict[str, Limiter] = {}
_limiters_lock = threading.Lock()


def limiter_of(host: str) -> Limiter:
    """The one limiter of a provider in this process."""
    with _limiters_lock:
        return _limiters.setdefault(host, Limiter())
