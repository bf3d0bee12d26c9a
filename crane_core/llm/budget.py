"""A cap in USD, in tokens, or both; no request is started beyond it.

Knows what was spent and what the requests in flight may still cost. Refuses to let a request start whose whole possible
cost does not fit beside them.
"""

import threading
from dataclasses import dataclass, field
from typing import NamedTuple

from crane_core.errors import DetectorError
from crane_core.llm.prices import Price

_MARGIN = 1.1
"""Other tokenizers count a text differently; from its first report on, an endpoint's counts correct the estimate."""

_MESSAGE_TOKENS = 16
"""Tokens that the chat format adds to the text."""


class Reserved(NamedTuple):
    """The most that one request may cost, and the counted tokens of its text."""

    n_counted: int
    n_tokens: int
    usd: float


@dataclass(slots=True)
class Budget:
    """Caps for one job; None means no cap. A cap in USD needs a price. Safe to use from several threads.

    A cost reported by an endpoint takes precedence over the price. If it reports more than the price allows for, that
    much is reserved for every later request: the cap is exceeded at most by the requests in flight at the first such
    report.
    """

    usd: float | None = None
    tokens: int | None = None
    price: Price | None = None
    spent_usd: float = 0.0
    spent_tokens: int = 0
    _in_flight_usd: float = 0.0
    _in_flight_tokens: int = 0
    _margin: float = _MARGIN
    _dearest_usd: float = 0.0
    why_refused: str = ""
    """What the last request that did not fit would have reserved, in words."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        if self.usd is not None and self.price is None:
            raise DetectorError(
                "A cap in USD needs a price.",
                remedy="Set the price per million tokens (input and output), or use a cap in tokens.",
            )

    @property
    def is_capped(self) -> bool:
        """Whether there is a cap, in USD or in tokens."""
        return self.usd is not None or self.tokens is not None

    def reserve(
        self, n_counted: int, max_output_tokens: int
    ) -> Reserved | None:
        """Reserve the most that a request may cost; None if that does not fit beside the requests in flight."""
        with self._lock:
            n_input = round(n_counted * self._margin) + _MESSAGE_TOKENS
            # An endpoint that once charged more than its price allows for may do so again.
            usd = max(
                self.price.usd(n_input, max_output_tokens)
                if self.price
                else 0.0,
                self._dearest_usd,
            )
            wanted = Reserved(n_counted, n_input + max_output_tokens, usd)
            if not self._fits(wanted):
                self.why_refused = self._words(wanted, max_output_tokens)
                return None
            self._in_flight_usd += wanted.usd
            self._in_flight_tokens += wanted.n_tokens
            return wanted

    def _fits(self, wanted: Reserved) -> bool:
        usd = self.spent_usd + self._in_flight_usd + wanted.usd
        tokens = self.spent_tokens + self._in_flight_tokens + wanted.n_tokens
        return (self.usd is None or usd <= self.usd) and (
            self.tokens is None or tokens <= self.tokens
        )

    def _words(self, wanted: Reserved, max_output_tokens: int) -> str:
        n_input = wanted.n_tokens - max_output_tokens
        told = f"it reserves {wanted.n_tokens:,} tokens ({n_input:,} of text, {max_output_tokens:,} for the reply)"
        if (
            self.tokens is not None
            and self.spent_tokens + wanted.n_tokens > self.tokens
        ):
            return f"{told}, and {max(0, self.tokens - self.spent_tokens):,} of {self.tokens:,} are left"
        if self.usd is None:
            return told
        left_usd = max(0.0, self.usd - self.spent_usd)
        return f"{told} for {wanted.usd:.4f} USD, and {left_usd:.4f} of {self.usd:g} are left"

    def settle(
        self,
        reserved: Reserved,
        input_tokens: int,
        output_tokens: int,
        reported_usd: float | None = None,
    ) -> None:
        """Replace the reserved amount by the actual cost of the request: as reported, else by the price."""
        with self._lock:
            self._release(reserved)
            self.spent_tokens += input_tokens + output_tokens
            if reported_usd is not None:
                self.spent_usd += reported_usd
                self._dearest_usd = max(self._dearest_usd, reported_usd)
            elif self.price is not None:
                self.spent_usd += self.price.usd(input_tokens, output_tokens)
            # A later request may be counted as generously as the worst so far, never less.
            if reserved.n_counted:
                self._margin = max(
                    self._margin,
                    (input_tokens - _MESSAGE_TOKENS) / reserved.n_counted,
                )

    def lose(self, reserved: Reserved) -> None:
        """Count the whole amount as spent: the request failed, but the endpoint may charge for it."""
        with self._lock:
            self._release(reserved)
            self.spent_tokens += reserved.n_tokens
            self.spent_usd += reserved.usd

    def give_back(self, reserved: Reserved) -> None:
        """The request cost nothing."""
        with self._lock:
            self._release(reserved)

    def _release(self, reserved: Reserved) -> None:
        self._in_flight_usd -= reserved.usd
        self._in_flight_tokens -= reserved.n_tokens
