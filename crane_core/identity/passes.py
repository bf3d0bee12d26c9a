"""Signed passes: an invitation is sent to a person, and opening it starts a session in the browser.

Both expire. A pass holds a person, an expiry and a purpose; a pass for one purpose is not accepted for the other.
Refuses to know roles.
"""

import hashlib
import secrets
import time
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path

from itsdangerous import BadData, URLSafeSerializer
from itsdangerous.encoding import base64_decode, base64_encode

from crane_core.errors import IdentityError
from crane_core.identity.key import signing_key
from crane_core.identity.logouts import is_logged_out, was_ended

MAX_CHARACTERS = 2_000
"""Characters of a pass as text; longer ones are not examined."""


class Purpose(StrEnum):
    """The purpose of a pass."""

    INVITATION = "invitation"
    SESSION = "session"


@dataclass(frozen=True, slots=True)
class Pass:
    """`email` may come in from `issued` until `until` (seconds since 1970). `serial` distinguishes two of one person.

    Passes of older versions do not say when they were issued. An invitation works once unless it `is_reusable`; those
    of older versions do not say, and work once.
    """

    email: str
    until: int
    serial: str
    issued: float = 0.0
    is_reusable: bool = False


def new_pass(
    email: str,
    *,
    seconds: int,
    now: float | None = None,
    is_reusable: bool = False,
) -> Pass:
    """A pass that is valid for this long from now on."""
    start = time.time() if now is None else now
    return Pass(
        email,
        int(start) + seconds,
        secrets.token_urlsafe(9),
        start,
        is_reusable,
    )


def signed(issued: Pass, purpose: Purpose, key: bytes) -> str:
    """The pass as text that fits into an address and a cookie."""
    return str(_serializer(purpose, key).dumps(asdict(issued)))


def opened(
    text: str, purpose: Purpose, key: bytes, *, now: float | None = None
) -> Pass:
    """Parse a pass. Raises IdentityError if it was not signed here for this purpose, or has expired.

    Exactly as it was signed: the last letter of a signature holds bits that are not read, and another letter there
    would make another text of a pass that was ended.
    """
    try:
        members = _serializer(purpose, key).loads(text[: MAX_CHARACTERS + 1])
        signature = text.rpartition(".")[2]
        if base64_encode(base64_decode(signature)) != signature.encode():
            raise BadData("not as it was signed")
    except BadData as error:
        raise IdentityError(
            f"This {purpose} was not issued by this server.",
            remedy=_AGAIN[purpose],
        ) from error
    found = Pass(**members)
    if found.until <= (time.time() if now is None else now):
        raise IdentityError(
            f"This {purpose} has expired.", remedy=_AGAIN[purpose]
        )
    return found


def accepted(text: str, purpose: Purpose, folder: Path) -> Pass:
    """The pass, signed with the key of a data folder and not revoked there. Raises IdentityError."""
    found = opened(text, purpose, signing_key(folder))
    if was_ended(folder, found.email, found.issued) or is_logged_out(
        folder, text
    ):
        raise IdentityError(
            f"This {purpose} was ended.", remedy=_AGAIN[purpose]
        )
    return found


_AGAIN = {
    Purpose.INVITATION: "Ask the person who runs this server for a new invitation.",
    Purpose.SESSION: "Log in again.",
}


def _serializer(purpose: Purpose, key: bytes) -> URLSafeSerializer:
    options = {"key_derivation": "hmac", "digest_method": hashlib.sha256}
    return URLSafeSerializer(
        key, salt=f"crane {purpose}", signer_kwargs=options
    )
