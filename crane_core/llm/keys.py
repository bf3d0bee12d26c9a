"""Keys of endpoints: where they come from, and how they are kept out of every text.

Knows the environment and a `.env` file in the working directory. Refuses to take a key from anywhere else, and to show
one.
"""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn
from urllib.parse import quote, urlsplit

from dotenv import dotenv_values

from crane_core.errors import DetectorError
from crane_core.prompts.secrets import redacted

KEY_OF_HOST = {
    "api.openai.com": "OPENAI_API_KEY",
    "generativelanguage.googleapis.com": "GEMINI_API_KEY",
    "openrouter.ai": "OPENROUTER_API_KEY",
}
OTHER_KEY = "CRANE_API_KEY"
"""Environment variable with the key of any endpoint that KEY_OF_HOST does not name."""

DOTENV = ".env"
_MARK = "<key>"
_SHORTEST = 4
_MAX_DOTENV_BYTES = 1_000_000
_known: set[str] = set()


class Secret:
    """A key. Its text is had by `reveal` alone, and is known to `without_secrets` from now on."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text
        if len(text) >= _SHORTEST:
            _known.update({text, quote(text, safe="")})

    def reveal(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return "Secret(...)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._text == self._text

    def __hash__(self) -> int:
        return hash(self._text)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a key is not written anywhere")


def without_keys(text: str) -> str:
    """The text with every key that this process knows taken out, and nothing else changed."""
    for key in sorted(_known, key=len, reverse=True):
        text = text.replace(key, _MARK)
    return text


def without_secrets(text: str) -> str:
    """The text with every known key taken out, and what has the form of a key or password."""
    return redacted(without_keys(text))


def is_local(host: str) -> bool:
    """Whether the host is this machine's own loopback."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def key_name(base_url: str) -> str:
    """The environment variable that holds the key of an endpoint."""
    return KEY_OF_HOST.get(urlsplit(base_url).hostname or "", OTHER_KEY)


def key_for(base_url: str, *, environ: Mapping[str, str] | None = None, folder: Path | None = None) -> Secret | None:
    """The key of an endpoint, from the environment, else from `.env` in `folder` (the working directory).

    An endpoint on loopback (Ollama, vLLM) needs none; None is given where there is none. Raises DetectorError where
    another endpoint has no key, or where the key would go to one of KEY_OF_HOST unencrypted.
    """
    address = urlsplit(base_url)
    name, host = key_name(base_url), address.hostname or ""
    text = (os.environ if environ is None else environ).get(name, "").strip()
    text = text or _from_dotenv(folder or Path.cwd(), name)
    if not text:
        if is_local(host):
            return None
        raise DetectorError(
            f"There is no key for {host}.", remedy=f"Set {name} in the environment, or in a file {DOTENV} here."
        )
    if host in KEY_OF_HOST and address.scheme != "https":
        raise DetectorError(f"The key of {host} would be sent unencrypted.", remedy="Write the address with https://.")
    if not text.isascii() or not text.isprintable():
        raise DetectorError(f"{name} holds characters that no key has.", remedy=f"Set {name} anew.")
    return Secret(text)


def _from_dotenv(folder: Path, name: str) -> str:
    path = folder / DOTENV
    try:
        if not path.is_file():
            return ""
        if path.stat().st_size > _MAX_DOTENV_BYTES:
            raise DetectorError(f"{DOTENV} is too large to hold keys.", remedy="Check what this file is.")
        return (dotenv_values(path, interpolate=False, encoding="utf-8").get(name) or "").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise DetectorError(
            f"{DOTENV} cannot be read: {type(error).__name__}.", remedy="Check its rights; it is text in UTF-8."
        ) from None
