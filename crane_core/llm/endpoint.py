"""One model at one address, and the parameters of its requests."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from crane_core.errors import DetectorError
from crane_core.llm import keys

MODEL = "CRANE_MODEL"
"""Environment variable with the default model; BASE_URL is the one with its address."""

TEMPERATURE = 0.01
"""As in the study (paper, section 4.3)."""

MAX_OUTPUT_TOKENS = 16_384
TIMEOUT_S = 300.0


@dataclass(frozen=True, slots=True)
class Endpoint:
    """`base_url` ends before `/chat/completions`. `max_output_tokens` counts hidden reasoning too.

    `extra` holds further members of each request, such as reasoning_effort.
    `timeout_s` bounds one request from its first byte to the last of its reply, however slowly they come.
    """

    model: str
    base_url: str = keys.OPENAI
    key: keys.Secret | None = None
    temperature: float | None = TEMPERATURE
    max_output_tokens: int = MAX_OUTPUT_TOKENS
    timeout_s: float = TIMEOUT_S
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def host(self) -> str:
        """Name and port: the key of a limiter."""
        return urlsplit(self.base_url).netloc

    @property
    def is_local(self) -> bool:
        """Whether the address is this machine's own, which is reached without a proxy."""
        return keys.is_local(urlsplit(self.base_url).hostname or "")


def configured_endpoint(
    model: str | None = None,
    base_url: str | None = None,
    *,
    key_env: str | None = None,
    folder: Path | None = None,
) -> Endpoint | None:
    """The model named here, else the one that the environment names; else None. Raises DetectorError.

    folder: where `.env` may lie; the working directory by default.
    """
    named = model or os.environ.get(MODEL, "").strip()
    return (
        resolve(named, base_url, key_env=key_env, folder=folder)
        if named
        else None
    )


def resolve(
    model: str,
    base_url: str | None = None,
    *,
    key_env: str | None = None,
    environ: keys.Environ = None,
    folder: Path | None = None,
    temperature: float | None = TEMPERATURE,
    max_output_tokens: int = MAX_OUTPUT_TOKENS,
    timeout_s: float = TIMEOUT_S,
    extra: Mapping[str, Any] | None = None,
) -> Endpoint:
    """An endpoint with the key that is configured for its address, or that the variable `key_env` holds.

    The address is `base_url`, else CRANE_BASE_URL, else OPENAI_BASE_URL, else OpenAI's. Variables come from the
    environment or from `.env` in `folder` (the working directory). Raises DetectorError if the address is invalid or
    contains a secret, and if there is no key.
    """
    if not model.strip():
        raise DetectorError("No model was given.", remedy="Set one: --model M.")
    stated = (
        keys.value_of(name, environ, folder)
        for name in (keys.BASE_URL, keys.OPENAI_BASE_URL)
    )
    address = checked_address(
        base_url or next(filter(None, stated), keys.OPENAI)
    )
    key = keys.key_for(address, key_env=key_env, environ=environ, folder=folder)
    return Endpoint(
        model.strip(),
        address,
        key,
        temperature=temperature,
        max_output_tokens=max_output_tokens,
        timeout_s=timeout_s,
        extra=extra or {},
    )


def checked_address(base_url: str) -> str:
    """The address without /chat/completions. Raises DetectorError if it is invalid or contains a secret."""
    # People paste the address that a provider's page shows, which is the one of the request itself.
    address = base_url.strip().rstrip("/").removesuffix("/chat/completions")
    remedy = f"Use the address before /chat/completions, such as {keys.OPENAI} or http://127.0.0.1:11434/v1."
    try:
        parts = urlsplit(address)
        is_address = (
            parts.scheme in ("http", "https")
            and bool(parts.hostname)
            and parts.port != 0
        )
    except ValueError:
        is_address = False
    if not is_address:
        raise DetectorError(
            "The base URL of the endpoint is not the address of a server.",
            remedy=remedy,
        )
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise DetectorError(
            "The base URL of the endpoint contains a password or options, but URLs are stored.",
            remedy=remedy,
        )
    return address
