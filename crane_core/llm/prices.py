"""Prices of tokens: by model, from a source at a date, or from the caller.

Knows prices.toml. Refuses to guess: a model that it does not name has no price at any provider. An address on this
machine is not a sign of a model that costs nothing: gateways to paid models listen there, too.
"""

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import NamedTuple

from crane_core.errors import DetectorError
from crane_core.llm.endpoint import Endpoint

FILE = Path(__file__).with_name("prices.toml")
_MILLION = 1_000_000
_DATED = re.compile(r"-\d{4}-\d{2}-\d{2}$")
"""The suffix of a model snapshot's name; it has the model's price."""


class Price(NamedTuple):
    """USD per million tokens, and where it comes from."""

    input: float
    output: float
    source: str = "set by the user"

    def usd(self, input_tokens: int, output_tokens: int) -> float:
        """USD for so many tokens of input and output."""
        return (
            input_tokens * self.input + output_tokens * self.output
        ) / _MILLION


def price_of(endpoint: Endpoint, given: Price | None = None) -> Price | None:
    """`given`, else the price in prices.toml of the model at this host, else the list price at its provider.

    Gateways such as LiteLLM and OpenRouter write the provider before the model ("openai/gpt-5"). None: unknown.
    """
    if given is not None:
        return given
    return _listed().get((endpoint.host, _plain(endpoint.model))) or list_price(
        endpoint.model
    )


def list_price(model: str) -> Price | None:
    """The list price of a model at its provider; None: unknown."""
    return _list_prices().get(_plain(model))


def _plain(model: str) -> str:
    """The name without provider and date."""
    return _DATED.sub("", model.rpartition("/")[2])


def price_for_cap(endpoint: Endpoint, given: Price | None = None) -> Price:
    """The price for a cap in USD. Raises DetectorError if there is none."""
    price = price_of(endpoint, given)
    if price is None:
        raise DetectorError(
            f"The price of {endpoint.model} at {endpoint.host} is unknown, so a cap in USD cannot be enforced.",
            remedy="Cap the tokens instead: --budget-tokens N; or state its price per million: --price-in and "
            "--price-out (0 and 0 if it is free).",
        )
    return price


def _list_prices() -> dict[str, Price]:
    """By model, at any provider."""
    return {
        model: price._replace(source=f"list price at {host}: {price.source}")
        for (host, model), price in _listed().items()
    }


@cache
def _listed() -> dict[tuple[str, str], Price]:
    document = tomllib.loads(FILE.read_text("utf-8"))
    return {
        (provider["host"], model): Price(
            float(pair[0]),
            float(pair[1]),
            f"{provider['source']}, {provider['read_on']}",
        )
        for provider in document["provider"]
        for model, pair in provider["models"].items()
    }
