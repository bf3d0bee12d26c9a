"""Revoked access: cookies whose owners logged out, and everything issued to a person up to a moment.

Stored in one small file of the data folder, so that it outlives the app and other commands can add to it. Knows digests
of cookies, e-mails and times; entries whose cookie would have expired by itself are dropped.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from pathlib import Path

from crane_core.errors import IdentityError
from crane_core.identity.key import held, replace_file

FILE_NAME = "sessions-ended.json"
KEPT_S = 366 * 24 * 3600
"""Longer than any cookie or invitation is valid."""


@dataclass(frozen=True, slots=True)
class EndedSessions:
    """`cookies`: digest to the time of the logout. `people`: e-mail to a time; everything issued up to it has ended."""

    cookies: Mapping[str, float] = field(default_factory=dict)
    people: Mapping[str, float] = field(default_factory=dict)


def log_out(folder: Path, cookie: str) -> None:
    """Revoke this cookie. Only for a valid one: others need not be remembered."""
    end_cookie(folder, digest(cookie))


def end_cookie(folder: Path, name: str) -> None:
    """Revoke the cookie with this digest."""
    with _changing(folder) as (ended, keep):
        keep(replace(ended, cookies={**ended.cookies, name: time.time()}))


def is_logged_out(folder: Path, cookie: str) -> bool:
    """Whether the cookie's owner logged out. Raises IdentityError."""
    return is_ended(folder, digest(cookie))


def is_ended(folder: Path, name: str) -> bool:
    """Whether the cookie with this digest was revoked. Raises IdentityError."""
    return name in _now(folder).cookies


def end_all(folder: Path, email: str) -> None:
    """End every session and invitation that this person has up to now. Raises IdentityError."""
    with _changing(folder) as (ended, keep):
        keep(replace(ended, people={**ended.people, email: time.time()}))


def was_ended(folder: Path, email: str, issued: float) -> bool:
    """Whether this person's access was ended after the given time of issue. Raises IdentityError."""
    ended = _now(folder).people.get(email)
    return ended is not None and issued <= ended


def _now(folder: Path) -> EndedSessions:
    path = folder / FILE_NAME
    try:
        status = path.stat()
    except FileNotFoundError:
        return EndedSessions()
    return _read(path, status.st_ino, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=4)
def _read(
    path: Path, inode: int, changed_ns: int, n_bytes: int
) -> EndedSessions:
    """Read again if one of these differs. An empty file grants no access."""
    try:
        body = json.loads(path.read_text("utf-8"))
        return EndedSessions(
            *(
                {str(key): float(at) for key, at in body[part].items()}
                for part in ("cookies", "people")
            )
        )
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise IdentityError(
            f"{FILE_NAME} in the data folder is damaged, so that nobody knows which sessions have ended.",
            remedy="Delete it together with identity.key; all sessions and invitations end.",
        ) from error


@contextmanager
def _changing(folder: Path) -> Iterator[tuple[EndedSessions, _Keep]]:
    """The revocations, and a function to save changed ones; one process at a time."""
    with held(folder, FILE_NAME):
        yield _now(folder), _Keep(folder)


@dataclass(frozen=True, slots=True)
class _Keep:
    folder: Path

    def __call__(self, ended: EndedSessions) -> None:
        """Replace the file as a whole, without expired entries."""
        oldest = time.time() - KEPT_S
        recent = EndedSessions(
            *(
                {key: at for key, at in part.items() if at > oldest}
                for part in asdict(ended).values()
            )
        )
        replace_file(self.folder, FILE_NAME, asdict(recent))


def digest(cookie: str) -> str:
    """The name of a cookie where it is noted."""
    return hashlib.sha256(cookie.encode("utf-8", "surrogateescape")).hexdigest()
