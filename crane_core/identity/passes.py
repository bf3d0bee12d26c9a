"""Signed passes: an invitation is sent to somebody, and opening it gives the browser a session. Both expire.

A pass says who, until when, and what it is for; one of a kind is not accepted as the other. Refuses to know roles.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from dataclasses import asdict, dataclass
from enum import StrEnum

from itsdangerous import BadData, URLSafeSerializer

from crane_core.errors import IdentityError

MAX_CHARACTERS = 2_000
"""Of a pass as text; longer ones are not looked at."""


class Purpose(StrEnum):
    """What a pass is for."""

    INVITATION = "invitation"
    SESSION = "session"


@dataclass(frozen=True, slots=True)
class Pass:
    """`email` may come in until `until` (seconds since 1970). `serial` tells two passes of one person apart."""

    email: str
    until: int
    serial: str


def new_pass(email: str, *, seconds: int, now: float | None = None) -> Pass:
    """A pass that is valid for so long from now on."""
    start = time.time() if now is None else now
    return Pass(email, int(start) + seconds, secrets.token_urlsafe(9))


def signed(issued: Pass, purpose: Purpose, key: bytes) -> str:
    """The pass as text that fits into an address and a cookie."""
    return str(_serializer(purpose, key).dumps(asdict(issued)))


def opened(text: str, purpose: Purpose, key: bytes, *, now: float | None = None) -> Pass:
    """The pass that a text is. Raises IdentityError where it was not signed here for this purpose, or has expired."""
    try:
        members = _serializer(purpose, key).loads(text[: MAX_CHARACTERS + 1])
    except BadData as error:
        raise IdentityError(f"This {purpose} was not issued by this server.", remedy=_AGAIN[purpose]) from error
    found = Pass(**members)
    if found.until <= (time.time() if now is None else now):
        raise IdentityError(f"This {purpose} has expired.", remedy=_AGAIN[purpose])
    return found


_AGAIN = {
    Purpose.INVITATION: "Ask the person who runs this server for a new invitation.",
    Purpose.SESSION: "Log in again.",
}


def _serializer(purpose: Purpose, key: bytes) -> URLSafeSerializer:
    options = {"key_derivation": "hmac", "digest_method": hashlib.sha256}
    return URLSafeSerializer(key, salt=f"crane {purpose}", signer_kwargs=options)
