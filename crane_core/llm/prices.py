"""What tokens cost: by model, as a source said on a date, or as the caller says.

Knows prices.toml. Refuses to guess: a model that it does not name has no price.
"""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import NamedTuple

from crane_core.errors import DetectorError
from crane_core.llm.endpoint import Endpoint

FILE = Path(__file__).with_name("prices.toml")
_MILLION = 1_000_000
_FREE = 0.0


class Price(NamedTuple):
    """USD per million tokens, and where it comes from."""

    input: float
    output: float
    source: str = "given by the caller"

    def usd(self, input_tokens: int, output_tokens: int) -> float:
        return (input_tokens * self.input + output_tokens * self.output) / _MILLION


def price_of(endpoint: Endpoint, given: Price | None = None) -> Price | None:
    """`given`, else nothing for a local endpoint, else what prices.toml says of the model at its provider."""
    if given is not None:
        return given
    if endpoint.is_local:
        return Price(_FREE, _FREE, "a model on this machine")
    return _listed().get((endpoint.host, endpoint.model))


def price_for_cap(endpoint: Endpoint, given: Price | None = None) -> Price:
    """The price that a cap in USD is kept by. Raises DetectorError where there is none."""
    price = price_of(endpoint, given)
    if price is None:
        raise DetectorError(
            f"What {endpoint.model} costs at {endpoint.host} is not known, so a cap in USD cannot be kept.",
            remedy="Give its price per million tokens (input and output), or a cap in tokens.",
        )
    return price


@cache
def _listed() -> dict[tuple[str, str], Price]:
    document = tomllib.loads(FILE.read_text("utf-8"))
    return {
        (provider["host"], model): Price(float(pair[0]), float(pair[1]), f"{provider['source']}, {provider['read_on']}")
        for provider in document["provider"]
        for model, pair in provider["models"].items()
    }
