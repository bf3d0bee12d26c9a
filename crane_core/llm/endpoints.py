"""Endpoints that the operator configures, each with its address, models and the variable that holds its key.

Knows one TOML file, which CRANE_ENDPOINTS names, and the environment if there is none. What is not named here,
visitors of the app cannot have chosen it: they choose a name, and never an address.

    [gateway]
    base_url = "https://llm.example.org/v1"
    key_env = "GATEWAY_KEY"               # none: the key that is configured for this address, if there is one
    models = ["openai/gpt-5", "qwen3"]    # none: any model
    price_in = 0.5                        # USD per million tokens, of all its models
    price_out = 2.0
"""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import UnionType
from typing import Any

from crane_core.errors import DetectorError
from crane_core.llm import keys
from crane_core.llm.endpoint import (
    MAX_OUTPUT_TOKENS,
    TEMPERATURE,
    TIMEOUT_S,
    Endpoint,
    checked_address,
    resolve,
)
from crane_core.llm.prices import Price

FILE = "CRANE_ENDPOINTS"
"""Environment variable with the path of the file."""

_MEMBERS: dict[str, type | UnionType] = {
    "base_url": str,
    "key_env": str,
    "models": list,
    "price_in": int | float,
    "price_out": int | float,
}
_FORM = "docs/reference/files.md shows an example of the file."


@dataclass(frozen=True, slots=True)
class Configured:
    """One endpoint by its name. No `models`: any. `price` None: that of the price list."""

    name: str
    base_url: str
    key_env: str | None = None
    models: tuple[str, ...] = ()
    price: Price | None = None

    def takes(self, model: str) -> bool:
        """Whether the operator allows this model at this endpoint."""
        return bool(model.strip()) and (not self.models or model in self.models)


def configured_endpoints(
    environ: keys.Environ = None, folder: Path | None = None
) -> list[Configured]:
    """Those of the file, else those of the environment and `.env`. Raises DetectorError if the file is invalid."""
    path = (os.environ if environ is None else environ).get(FILE, "").strip()
    return _of_file(Path(path)) if path else _of_environment(environ, folder)


def named_endpoint(
    name: str,
    model: str,
    *,
    temperature: float | None = TEMPERATURE,
    max_output_tokens: int = MAX_OUTPUT_TOKENS,
    timeout_s: float = TIMEOUT_S,
    extra: Mapping[str, Any] | None = None,
    environ: keys.Environ = None,
    folder: Path | None = None,
) -> tuple[Endpoint, Price | None]:
    """The endpoint of this name for this model, with its key, and its price if one is stated.

    Raises DetectorError if none has this name, or it does not serve the model.
    """
    known = {each.name: each for each in configured_endpoints(environ, folder)}
    if name not in known:
        names = ", ".join(known) or "none"
        raise DetectorError(
            f"No endpoint is configured with the name {name[:80]!r}.",
            remedy=f"Choose a configured one ({names}), or add it to the file that {FILE} names.",
        )
    configured = known[name]
    if not configured.takes(model):
        models = ", ".join(configured.models) or "any model name"
        raise DetectorError(
            f"The endpoint {name} is not configured for the model {model[:80]!r}.",
            remedy=f"Choose one: {models}.",
        )
    endpoint = resolve(
        model,
        configured.base_url,
        key_env=configured.key_env,
        environ=environ,
        folder=folder,
        temperature=temperature,
        max_output_tokens=max_output_tokens,
        timeout_s=timeout_s,
        extra=extra,
    )
    return endpoint, configured.price


def _of_environment(
    environ: keys.Environ, folder: Path | None
) -> list[Configured]:
    """The addresses that variables state, and the providers with a configured key."""
    stated = [
        checked_address(url)
        for name in (keys.BASE_URL, keys.OPENAI_BASE_URL)
        if (url := keys.value_of(name, environ, folder))
    ]
    provided = [
        url
        for url in keys.PROVIDERS.values()
        if keys.bound_key(url, environ, folder)
    ]
    return [
        Configured(url.partition("://")[2], url)
        for url in dict.fromkeys([*stated, *provided])
    ]


def _of_file(path: Path) -> list[Configured]:
    try:
        document = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise DetectorError(
            f"The file that {FILE} names cannot be read: {error}.", remedy=_FORM
        ) from error
    return [_read(name, members) for name, members in document.items()]


def _read(name: str, members: Any) -> Configured:
    wrong = _wrong_member(members)
    if wrong is not None:
        raise DetectorError(
            f"In the file that {FILE} names, the endpoint {name} {wrong}.",
            remedy=_FORM,
        )
    prices = (members.get("price_in"), members.get("price_out"))
    return Configured(
        name,
        checked_address(members["base_url"]),
        members.get("key_env") or None,
        tuple(members.get("models", ())),
        None
        if prices[0] is None
        else Price(float(prices[0]), float(prices[1]), f"stated for {name}"),
    )


def _wrong_member(members: Any) -> str | None:
    """The first problem with the members of an endpoint, if any."""
    if not isinstance(members, dict) or "base_url" not in members:
        return "has no base_url"
    for name, value in members.items():
        if name not in _MEMBERS:
            return f"has the unknown member {name}"
        # In Python a boolean is an integer, and `price_in = true` would be a price of one dollar.
        if not isinstance(value, _MEMBERS[name]) or isinstance(value, bool):
            return f"has a {name} of the wrong type"
    prices = [
        members[name] for name in ("price_in", "price_out") if name in members
    ]
    if len(prices) == 1:
        return "has only one of two prices"
    if not all(0 <= price < float("inf") for price in prices):
        return "has a price that is not a number"
    if not all(isinstance(model, str) for model in members.get("models", ())):
        return "has a model that is not a string"
    return None
