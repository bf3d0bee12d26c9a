"""Keys of endpoints: their origin, the address each belongs to, and their removal from every text.

Knows the environment and a `.env` file in the working directory. Refuses to take a key from anywhere else, to send it
to an address without a configured key, and to show it.
"""

import base64
import html
import ipaddress
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn
from urllib.parse import quote, urlsplit

from dotenv import dotenv_values

from crane_core.errors import DetectorError
from crane_core.prompts.secrets import redacted

OPENAI = "https://api.openai.com/v1"
PROVIDERS = {
    "OPENAI_API_KEY": OPENAI,
    "GEMINI_API_KEY": "https://generativelanguage.googleapis.com/v1beta/openai",
    "OPENROUTER_API_KEY": "https://openrouter.ai/api/v1",
}
"""Environment variables with a key of a provider, and the address that it is for."""
_BY_HOST = {
    urlsplit(address).hostname: name for name, address in PROVIDERS.items()
}

BASE_URL = "CRANE_BASE_URL"
OPENAI_BASE_URL = "OPENAI_BASE_URL"
_STATED = {"OPENAI_API_KEY": OPENAI_BASE_URL, "CRANE_API_KEY": BASE_URL}
"""Environment variables with a key, and the one that states the address that it is for."""

DOTENV = ".env"
_MARK = "<key>"
_SHORTEST = 4
_SHORTEST_BEGINNING = 8
"""Letters of a cut key; fewer are the public part ("sk-proj") or an ordinary word."""
_MAX_DOTENV_BYTES = 1_000_000
_known: set[str] = set()

Environ = Mapping[str, str] | None
"""Variables in place of those of this process, for tests; None: those of this process."""


class Secret:
    """A key. Only `reveal` returns its text, and `without_secrets` removes it from now on."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text
        # A shorter one would be cut out of ordinary words.
        if len(text) >= _SHORTEST:
            _known.update(_written(text))

    def reveal(self) -> str:
        """The key itself, for the header of a request and nothing else."""
        return self._text

    def __repr__(self) -> str:
        return "Secret(...)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._text == self._text

    def __hash__(self) -> int:
        return hash(self._text)

    def __reduce__(self) -> NoReturn:
        raise TypeError("keys are not stored")


def _written(text: str) -> set[str]:
    """A key as servers quote it: plain, in an address, in JSON (with or without escaped slashes), HTML or base64."""
    in_json = json.dumps(text)[1:-1]
    # Go's encoder writes these letters as numbers.
    in_go = (
        in_json.replace("&", "\\u0026")
        .replace("<", "\\u003c")
        .replace(">", "\\u003e")
    )
    packed = {
        base64.b64encode(each.encode()).decode().rstrip("=")
        for each in (text, f"Bearer {text}")
    }
    return {
        text,
        quote(text, safe=""),
        in_json,
        in_json.replace("/", "\\/"),
        in_go,
        html.escape(text),
        *packed,
    }


def without_keys(text: str) -> str:
    """The text without the keys that this process knows; nothing else is changed.

    A long text of an endpoint is read up to a limit, which may lie within a key: its beginning at the end goes too.
    """
    # The longest first: a key that holds another one is removed whole.
    for key in sorted(_known, key=len, reverse=True):
        text = text.replace(key, _MARK)
    n_cut = max((_n_begun(text, key) for key in _known), default=0)
    return text[:-n_cut] + _MARK if n_cut else text


def _n_begun(text: str, key: str) -> int:
    """With how many characters of a key the text ends; 0 where these are too few to tell anything."""
    lengths = range(len(key) - 1, _SHORTEST_BEGINNING - 1, -1)
    return next(
        (length for length in lengths if text.endswith(key[:length])), 0
    )


def without_secrets(text: str) -> str:
    """The text without known keys, and without anything in the form of a key or password."""
    return redacted(without_keys(text))


def is_local(host: str) -> bool:
    """Whether the host is this machine's own loopback."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def value_of(
    name: str, environ: Environ = None, folder: Path | None = None
) -> str:
    """A variable of the environment, else of `.env` in `folder` (the working directory), else nothing."""
    return _from_environment(name, environ) or _from_dotenv(
        folder or Path.cwd(), name
    )


def bound_key(
    base_url: str, environ: Environ = None, folder: Path | None = None
) -> str | None:
    """The variable whose key is configured for this scheme, host and port; None if there is none.

    An address in a file of the working directory applies only to keys of that file: a folder from a stranger cannot
    have a key of the environment sent to another address.
    """
    for name in (*PROVIDERS, "CRANE_API_KEY"):
        in_environment = bool(_from_environment(name, environ))
        address = _from_environment(_STATED.get(name, ""), environ)
        if not in_environment and not address and name in _STATED:
            address = _from_dotenv(folder or Path.cwd(), _STATED[name])
        address = address or PROVIDERS.get(name, "")
        if (
            address
            and _origin(address) == _origin(base_url)
            and value_of(name, environ, folder)
        ):
            return name
    return None


def key_for(
    base_url: str,
    *,
    key_env: str | None = None,
    environ: Environ = None,
    folder: Path | None = None,
) -> Secret | None:
    """The key in `key_env`, else the one that is configured for this address, else none.

    Keys come from the environment, else from `.env` in `folder` (the working directory). Raises DetectorError if
    `key_env` or a provider's variable holds none, or if a provider's key would be sent unencrypted.
    """
    address = urlsplit(base_url)
    host = address.hostname or ""
    of_provider = _BY_HOST.get(host)
    if of_provider and address.scheme != "https":
        raise DetectorError(
            f"The key of {host} would be sent unencrypted.",
            remedy="Use an https:// address.",
        )
    name = key_env or bound_key(base_url, environ, folder)
    text = value_of(name, environ, folder) if name else ""
    if text:
        if not text.isascii() or not text.isprintable():
            raise DetectorError(
                f"{name} contains characters that are not allowed in a key.",
                remedy=f"Set {name} again.",
            )
        return Secret(text)
    wanted = name or of_provider
    if wanted is None:
        return None
    raise DetectorError(
        f"There is no key for {host}.",
        remedy=f"Set {wanted} in the environment, or in a {DOTENV} file in the working directory; see "
        "docs/reference/settings.md.",
    )


def _origin(base_url: str) -> tuple[str, str, int | None]:
    """Scheme, host and port: what a key belongs to."""
    try:
        address = urlsplit(base_url.strip())
        port = address.port or {"https": 443, "http": 80}.get(address.scheme)
    except ValueError:
        return ("", base_url, None)
    return address.scheme, address.hostname or "", port


def _from_environment(name: str, environ: Environ) -> str:
    return (os.environ if environ is None else environ).get(name, "").strip()


def _from_dotenv(folder: Path, name: str) -> str:
    path = folder / DOTENV
    try:
        if not path.is_file():
            return ""
        if path.stat().st_size > _MAX_DOTENV_BYTES:
            raise DetectorError(
                f"{DOTENV} is too large for a file of keys.",
                remedy="Check this file.",
            )
        return (
            # A dollar sign in a key is a dollar sign.
            dotenv_values(path, interpolate=False, encoding="utf-8").get(name)
            or ""
        ).strip()
    # Only the error's class is shown: a decoding error quotes bytes of the file, which may be a key.
    except (OSError, UnicodeDecodeError) as error:
        raise DetectorError(
            f"{DOTENV} cannot be read: {type(error).__name__}.",
            remedy="Check its permissions; it must be UTF-8 text.",
        ) from None
