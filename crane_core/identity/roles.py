"""Who may do what: one TOML file, which CRANE_ROLES names, from verified e-mail to role.

    "lea@lab.example" = "lead"
    "ana@lab.example" = { role = "annotator", name = "ana" }   # name: what campaigns call her; default: before the @
    "*@lab.example" = "viewer"                                 # all others of this domain: viewer, nothing more

Anyone who is not listed cannot log in. The file is read again when it changed, so a removed line takes effect at once.
"""

import os
import re
import tempfile
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from crane_core.annotation.plan import NAME
from crane_core.errors import IdentityError
from crane_core.identity.visitor import Role, Visitor

FILE = "CRANE_ROLES"
"""Environment variable with the path of the file; without it the app has no logins of persons."""

EMAIL = re.compile(
    r"[a-z0-9.!#$%&'+/=?^_`{|}~-]{1,64}@[a-z0-9-]+(\.[a-z0-9-]+)*"
)
"""Addresses in ASCII and lower case: no two different ones look the same."""

MAX_BYTES = 1_000_000
_ROLES = {str(role): role for role in Role}
_FORM = "docs/admin/server.md shows an example of the file."


@dataclass(frozen=True, slots=True)
class Roles:
    """Those who are listed, by e-mail, and the domains whose other people are viewers."""

    people: Mapping[str, Visitor]
    domains: frozenset[str] = frozenset()

    def visitor(self, email: str) -> Visitor | None:
        """The person with this e-mail; None means no access."""
        address = as_email(email)
        if address is None:
            return None
        is_of_domain = address.rpartition("@")[2] in self.domains
        return self.people.get(address) or (
            Visitor(address, address, Role.VIEWER) if is_of_domain else None
        )

    def annotators(self) -> list[str]:
        """Names of those who may label, in the order of the file."""
        return [
            visitor.name
            for visitor in self.people.values()
            if visitor.may(Role.ANNOTATOR)
        ]


def as_email(text: str) -> str | None:
    """The address in lower case, None if it is not an address."""
    address = text.strip().lower()
    return address if len(address) <= 254 and EMAIL.fullmatch(address) else None


def configured_roles(environ: Mapping[str, str] | None = None) -> Roles | None:
    """The roles of the file that CRANE_ROLES names, None if it is not set.

    Raises IdentityError if the file cannot be read or is malformed: then all access is refused.
    """
    path = (os.environ if environ is None else environ).get(FILE, "").strip()
    if not path:
        return None
    try:
        status = Path(path).stat()
    except OSError as error:
        raise _wrong(f"cannot be read: {error.strerror}") from error
    return _read(path, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=4)
def _read(path: str, changed_ns: int, n_bytes: int) -> Roles:
    if n_bytes > MAX_BYTES:
        raise _wrong(f"has {n_bytes:,} bytes, more than {MAX_BYTES:,}")
    try:
        return parsed(Path(path).read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise _wrong(f"cannot be read: {error}") from error


def parsed(text: str) -> Roles:
    """The roles that a file's text states. Raises IdentityError, which names the first wrong entry."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _wrong(f"is not TOML: {error}") from error
    people: dict[str, Visitor] = {}
    domains = set()
    for key, entry in document.items():
        if key.startswith("*@"):
            domains.add(_domain(key, entry))
            continue
        person = _person(key, entry)
        if person.email in people:
            raise _wrong(f"lists {person.email} twice")
        people[person.email] = person
    _refuse_shared_names(people)
    if not people:
        raise _wrong("lists nobody")
    return Roles(people, frozenset(domains))


def _domain(key: str, entry: Any) -> str:
    if as_email(f"a{key[1:]}") is None:
        raise _wrong(f"names the domain {key[:80]!r}, which is not a domain")
    if entry != str(Role.VIEWER):
        raise _wrong(
            f'gives {key} another role than "viewer"; list everybody else by name'
        )
    return key[2:].lower()


def _person(key: str, entry: Any) -> Visitor:
    address = as_email(key)
    if address is None:
        raise _wrong(
            f"has the entry {key[:80]!r}, which is not an e-mail address"
        )
    members = {"role": entry} if isinstance(entry, str) else entry
    if not isinstance(members, dict) or not members.keys() <= {"role", "name"}:
        raise _wrong(f"says of {address} something other than role and name")
    role = members.get("role")
    if not isinstance(role, str) or role not in _ROLES:
        raise _wrong(
            f"gives {address} a role that is none of {', '.join(_ROLES)}"
        )
    name = members.get("name", address.partition("@")[0])
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise _wrong(
            f"needs a name for {address} of a-z, 0-9, dot, dash and underscore: {{ role = ..., name = ... }}"
        )
    return Visitor(address, name, _ROLES[role])


def _refuse_shared_names(people: Mapping[str, Visitor]) -> None:
    first: dict[str, str] = {}
    for email, person in people.items():
        other = first.setdefault(person.name, email)
        if other != email:
            raise _wrong(
                f"calls both {other} and {email} {person.name}; give one of them another name"
            )


def _wrong(what: str) -> IdentityError:
    return IdentityError(
        f"The roles file (--roles or {FILE}) {what}.", remedy=_FORM
    )


def add_person(path: Path, email: str, role: Role) -> None:
    """Append one person to the file, which is created if it is missing. Raises IdentityError, and changes nothing."""
    before = path.read_text("utf-8") if path.exists() else ""
    separator = "" if not before or before.endswith("\n") else "\n"
    text = f'{before}{separator}"{email}" = "{role}"\n'
    added = parsed(text).people.get(email)
    if added is None or added.role is not role:
        raise _wrong(f"cannot be added to; add {email} to it yourself")
    _replace(path, text)


def _replace(path: Path, text: str) -> None:
    """Write the file atomically: a concurrent reader sees the old one or the new one."""
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o600
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", dir=path.parent, delete=False
    ) as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    Path(file.name).chmod(mode)
    Path(file.name).replace(path)
