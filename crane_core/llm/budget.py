"""How much may be spent: a cap in USD, in tokens, or both, that no request is started beyond.

Knows what was spent and what the requests in flight may still cost. Refuses to let a request start whose whole
possible cost does not fit beside them.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import NamedTuple

from crane_core.errors import DetectorError
from crane_core.llm.prices import Price

_MARGIN = 1.1
"""Other tokenizers count a text differently than ours; what an endpoint reports corrects it from then on."""

_MESSAGE_TOKENS = 16
"""What the form of a chat adds to the text."""


class Reserved(NamedTuple):
    """What one request may cost, and the tokens that its text was counted as."""

    n_counted: int
    n_tokens: int
    usd: float


@dataclass(slots=True)
class Budget:
    """Caps for one job; None means no cap. A cap in USD needs a price. Safe to use from several threads.

    What an endpoint reports as the cost of a reply goes before what the price says. Where it reports more than the
    price allows for, every later request has that much set aside: beyond the cap goes at most what was in flight when
    the first such report came.
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
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        if self.usd is not None and self.price is None:
            raise DetectorError(
                "A cap in USD needs a price.",
                remedy="Set the price per million tokens (input and output), or use a cap in tokens.",
            )

    @property
    def is_capped(self) -> bool:
        return self.usd is not None or self.tokens is not None

    def reserve(self, n_counted: int, max_output_tokens: int) -> Reserved | None:
        """Set aside what a request may cost at most; None where that does not fit beside what is in flight."""
        with self._lock:
            n_input = round(n_counted * self._margin) + _MESSAGE_TOKENS
            usd = max(self.price.usd(n_input, max_output_tokens) if self.price else 0.0, self._dearest_usd)
            wanted = Reserved(n_counted, n_input + max_output_tokens, usd)
            if not self._fits(wanted):
                return None
            self._in_flight_usd += wanted.usd
            self._in_flight_tokens += wanted.n_tokens
            return wanted

    def _fits(self, wanted: Reserved) -> bool:
        usd = self.spent_usd + self._in_flight_usd + wanted.usd
        tokens = self.spent_tokens + self._in_flight_tokens + wanted.n_tokens
        return (self.usd is None or usd <= self.usd) and (self.tokens is None or tokens <= self.tokens)

    def settle(
        self, reserved: Reserved, input_tokens: int, output_tokens: int, reported_usd: float | None = None
    ) -> None:
        """Exchange what was set aside for what the request did cost: as reported, else by the price."""
        with self._lock:
            self._release(reserved)
            self.spent_tokens += input_tokens + output_tokens
            if reported_usd is not None:
                self.spent_usd += reported_usd
                self._dearest_usd = max(self._dearest_usd, reported_usd)
            elif self.price is not None:
                self.spent_usd += self.price.usd(input_tokens, output_tokens)
            if reserved.n_counted:
                self._margin = max(self._margin, (input_tokens - _MESSAGE_TOKENS) / reserved.n_counted)

    def lose(self, reserved: Reserved) -> None:
        """Count the whole as spent: the request gave nothing, but the endpoint may have worked for it."""
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
