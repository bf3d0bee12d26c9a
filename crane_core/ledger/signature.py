"""An optional key that signs the manifest: who does not have it cannot rewrite ledger and manifest so that they agree.

CRANE_LEDGER_KEY names the file that holds the key. Knows keys and bytes. Refuses to know what is signed.
"""

import hmac
import json
import os
import stat
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from crane_core.errors import LedgerError
from crane_core.given_path import read_given

VARIABLE = "CRANE_LEDGER_KEY"
MIN_BYTES, MAX_BYTES = 32, 4_096
NOT_SIGNED = "is not signed"
WRONG = "was altered: the signature in the manifest is wrong"
_MAKE = f"Make one with `openssl rand -hex 32`, in a file that only its owner reads, and name it in {VARIABLE}."


def ledger_key(environ: Mapping[str, str] | None = None) -> bytes | None:
    """The key, None if none is configured. Raises LedgerError if it cannot be read, is short, or others read it.

    A file is read once: another key needs a restart.
    """
    path = (
        (os.environ if environ is None else environ).get(VARIABLE, "").strip()
    )
    return _read(path) if path else None


@lru_cache(maxsize=4)
def _read(path: str) -> bytes:
    try:
        key = read_given(Path(path), MAX_BYTES).strip()
        is_open = bool(stat.S_IMODE(Path(path).stat().st_mode) & 0o077)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise LedgerError(
            f"The file that {VARIABLE} names cannot be read: {why}.",
            remedy=_MAKE,
        ) from error
    if is_open:
        raise LedgerError(
            f"The file that {VARIABLE} names can be read by others.",
            remedy="Run `chmod 600` on it.",
        )
    if len(key) < MIN_BYTES:
        raise LedgerError(
            f"The key that {VARIABLE} names has fewer than {MIN_BYTES} bytes.",
            remedy=_MAKE,
        )
    return key


def signature(key: bytes, said: object) -> str:
    """Which key signed, and HMAC-SHA256 of the JSON of what is said."""
    return f"{_name_of(key)}:{_mac(key, json.dumps(said, sort_keys=True))}"


def fault(given: str, said: object) -> str | None:
    """What is wrong with a signature, in words; None if it is right, or there is none and none is wanted."""
    key = ledger_key()
    signed_by = given.partition(":")[0]
    if key is None:
        return (
            f"is signed, but {VARIABLE} is not set, so that it cannot be checked"
            if given
            else None
        )
    if not given:
        return NOT_SIGNED
    if signed_by != _name_of(key):
        return f"is signed with another key ({signed_by[:8]}) than {VARIABLE} names ({_name_of(key)})"
    is_right = hmac.compare_digest(
        given.encode(), signature(key, said).encode()
    )
    return None if is_right else WRONG


def _name_of(key: bytes) -> str:
    """A name by which people can tell keys apart; the key does not follow from it."""
    return _mac(key, "name")[:8]


def _mac(key: bytes, text: str) -> str:
    return hmac.new(key, text.encode(), "sha256").hexdigest()
