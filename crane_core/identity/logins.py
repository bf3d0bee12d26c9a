"""Who is logged in, and which invitations were given out: one small file of the data folder.

A session is named by the digest of its cookie, so the file grants no access. It holds e-mails, times and addresses;
what has expired is dropped. Whether a session was ended is for `logouts` to say.
"""

import json
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from pathlib import Path

from crane_core.domain import JsonObject
from crane_core.errors import IdentityError
from crane_core.identity.key import held, replace_file
from crane_core.identity.logouts import digest, end_cookie, is_ended, was_ended
from crane_core.identity.passes import Pass, Purpose, accepted

FILE_NAME = "sessions-open.json"
SEEN_EVERY_S = 300.0
"""How exactly the last visit of a session is known; each page of it would write the file otherwise."""
ID_LETTERS = 12
"""Of a session's digest, as lists show it."""
BY_INVITATION, BY_PROVIDER, BY_PROXY = "invitation", "provider", "proxy"


class OpenedBeforeError(IdentityError):
    """An invitation that works once was opened already."""


@dataclass(frozen=True, slots=True)
class Login:
    """One browser in which a person is logged in. `way`: invitation, provider or proxy. Times are seconds since 1970.

    `until` 0: its end is not known here.
    """

    email: str
    since: float
    seen: float
    until: float
    way: str
    address: str

    @property
    def can_end(self) -> bool:
        """Whether it ends here; a proxy logs its visitors in again with each request."""
        return self.way != BY_PROXY


@dataclass(frozen=True, slots=True)
class Invitation:
    """A link that was given out, and when it was opened."""

    email: str
    issued: float
    until: float
    is_reusable: bool
    opened: tuple[float, ...] = ()

    @property
    def is_open(self) -> bool:
        """Whether it is still valid, if it was not revoked and has not expired."""
        return self.is_reusable or not self.opened


@dataclass(frozen=True, slots=True)
class Register:
    """Sessions by the digest of their cookie, and invitations by serial number."""

    sessions: Mapping[str, Login] = field(default_factory=dict)
    invitations: Mapping[str, Invitation] = field(default_factory=dict)


def give_invitation(folder: Path, issued: Pass) -> None:
    """Note a link that was given out."""
    with held(folder, FILE_NAME):
        now = _now(folder)
        _keep(
            folder,
            replace(
                now,
                invitations={
                    **now.invitations,
                    issued.serial: _invitation(issued),
                },
            ),
        )


def open_invitation(folder: Path, text: str) -> Pass:
    """The pass of a link that is opened now. Raises IdentityError, also if it works once and was opened before."""
    found = accepted(text, Purpose.INVITATION, folder)
    with held(folder, FILE_NAME):
        now = _now(folder)
        known = now.invitations.get(found.serial) or _invitation(found)
        if known.opened and not found.is_reusable:
            raise OpenedBeforeError(
                "This invitation was opened before, and it works once.",
                remedy="Ask the person who runs this server for a new one.",
            )
        opened = replace(known, opened=(*known.opened[-9:], time.time()))
        _keep(
            folder,
            replace(now, invitations={**now.invitations, found.serial: opened}),
        )
    return found


def see(folder: Path, secret: str, login: Login) -> None:
    """Note that this session exists, or that it was used again. `secret` is its cookie."""
    name = digest(secret)
    known = _now(folder).sessions.get(name)
    if (
        known
        and known.email == login.email
        and login.seen - known.seen < SEEN_EVERY_S
    ):
        return
    with held(folder, FILE_NAME):
        now = _now(folder)
        before = now.sessions.get(name)
        since = (
            min(before.since, login.since)
            if before and before.email == login.email
            else login.since
        )
        _keep(
            folder,
            replace(
                now,
                sessions={**now.sessions, name: replace(login, since=since)},
            ),
        )


def open_sessions(folder: Path) -> dict[str, Login]:
    """Sessions that have neither expired nor been ended, the last seen first. Raises IdentityError."""
    found = {
        name: login
        for name, login in _now(folder).sessions.items()
        if _is_open(folder, name, login)
    }
    return dict(
        sorted(found.items(), key=lambda item: item[1].seen, reverse=True)
    )


def invitations(folder: Path) -> list[Invitation]:
    """Links that have not expired, those of revoked people left out, the newest first. Raises IdentityError."""
    found = [
        invitation
        for invitation in _now(folder).invitations.values()
        if invitation.until > time.time()
        and not was_ended(folder, invitation.email, invitation.issued)
    ]
    return sorted(found, key=lambda invitation: invitation.issued, reverse=True)


def end_session(folder: Path, start: str) -> Login:
    """End the session whose digest begins like this. Raises IdentityError if there is none, or more than one."""
    found = [
        (name, login)
        for name, login in open_sessions(folder).items()
        if start and name.startswith(start)
    ]
    if len(found) != 1:
        what = "No open session" if not found else "More than one session"
        raise IdentityError(
            f"{what} begins with {start[:20]!r}.",
            remedy="See `sessions` for those that are open.",
        )
    [(name, login)] = found
    if not login.can_end:
        raise IdentityError(
            f"{login.email} is logged in by a proxy, so that nothing ends here.",
            remedy="End it at the proxy, or remove the person from the roles file.",
        )
    end_cookie(folder, name)
    return login


def _is_open(folder: Path, name: str, login: Login) -> bool:
    has_expired = 0 < login.until <= time.time()
    is_over = is_ended(folder, name) or (
        login.can_end and was_ended(folder, login.email, login.since)
    )
    return not has_expired and not is_over


def _invitation(issued: Pass) -> Invitation:
    return Invitation(
        issued.email, issued.issued, issued.until, issued.is_reusable
    )


def _now(folder: Path) -> Register:
    path = folder / FILE_NAME
    try:
        status = path.stat()
    except FileNotFoundError:
        return Register()
    return _read(path, status.st_ino, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=4)
def _read(path: Path, inode: int, changed_ns: int, n_bytes: int) -> Register:
    """Read again if one of these differs."""
    try:
        body = json.loads(path.read_text("utf-8"))
        sessions = {
            str(name): Login(**members)
            for name, members in body["sessions"].items()
        }
        given = {
            str(name): _given(members)
            for name, members in body["invitations"].items()
        }
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise IdentityError(
            f"{FILE_NAME} in the data folder is damaged, so that nobody knows which invitations were opened.",
            remedy="Delete it together with identity.key; all sessions and invitations end.",
        ) from error
    return Register(sessions, given)


def _given(members: JsonObject) -> Invitation:
    return Invitation(
        **{**members, "opened": tuple(float(at) for at in members["opened"])}
    )


KEPT_S = 31 * 24 * 3600
"""For sessions whose end is not known here: a day longer after their last visit than a provider's cookie is valid."""


def _keep(folder: Path, register: Register) -> None:
    """Write the register without what has expired."""
    now = time.time()
    sessions = {
        name: asdict(login)
        for name, login in register.sessions.items()
        if (login.until or login.seen + KEPT_S) > now
    }
    given = {
        serial: asdict(one)
        for serial, one in register.invitations.items()
        if one.until > now
    }
    replace_file(
        folder, FILE_NAME, {"sessions": sessions, "invitations": given}
    )
