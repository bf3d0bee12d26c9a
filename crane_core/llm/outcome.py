"""The outcome of one request, apart from the client that sends it: that one takes a second to import."""

from __future__ import annotations

from typing import NamedTuple


class ModelReply(NamedTuple):
    """A model's reply. `trouble` is set if it is not a readable answer; `usd` is the reported cost."""

    text: str | None
    trouble: str | None
    finish_reason: str | None
    input_tokens: int | None
    output_tokens: int | None
    left_out: tuple[str, ...]
    usd: float | None


class UnsupportedParameter(NamedTuple):
    """A request that was refused for a parameter, which is left out from now on: send it again at once."""

    parameter: str
