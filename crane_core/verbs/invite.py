"""`invite`: print a link that logs one person in, or end all that were opened."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from urllib.parse import urlencode

from crane_core import arguments
from crane_core.errors import IdentityError
from crane_core.identity.key import signing_key
from crane_core.identity.logouts import end_all
from crane_core.identity.passes import Purpose, new_pass, signed
from crane_core.identity.roles import FILE, add_person, as_email, configured_roles
from crane_core.identity.visitor import Role, Visitor
from crane_core.pipeline.places import DataFolder
from crane_core.terminal import give, tell

NAME = "invite"
HELP = "print a personal link that logs a person of the roles file in, for labs without a login provider"
EXAMPLE = "python -m crane_core invite ana@lab.example --role annotator --url https://crane.lab.example"
MAX_DAYS = 365


def add_arguments(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("email", metavar="EMAIL", help="who is invited")
    verb.add_argument(
        "--role", choices=[str(role) for role in Role], help="add the person to the roles file with this role"
    )
    verb.add_argument("--days", type=_days, default=14, help="how long the link works (default: 14)")
    verb.add_argument("--url", default="http://127.0.0.1:8501", help="address of the app in the link")
    verb.add_argument(
        "--roles",
        type=arguments.path,
        metavar="FILE",
        help=f"roles file, created if missing (default: {FILE}; format: docs/server.md)",
    )
    verb.add_argument(
        "--revoke", action="store_true", help="end all invitations and sessions that this person has, and print none"
    )


def _days(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= MAX_DAYS:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of days in 1..{MAX_DAYS}")
    return int(text)


def run(chosen: argparse.Namespace, folder: DataFolder) -> int:
    email = as_email(chosen.email)
    if email is None:
        raise IdentityError(f"{chosen.email[:80]!r} is not an e-mail address.", remedy="Give one like ana@lab.example.")
    if chosen.revoke:
        end_all(folder.path, email)
        tell(
            f"All invitations and sessions of {email} have ended. Who is still in the roles file can be invited again, "
            "and can log in with a provider."
        )
        return 0
    path = chosen.roles or os.environ.get(FILE, "").strip()
    if not path:
        raise IdentityError(
            "No roles file is given, so nobody can be invited.", remedy=f"Name one with --roles FILE, or {FILE}."
        )
    visitor = _listed(Path(path).expanduser(), email, chosen.role)
    token = signed(new_pass(email, seconds=chosen.days * 86_400), Purpose.INVITATION, signing_key(folder.path))
    tell(f"{email} is {visitor.role}, called {visitor.name} in campaigns; the link works for {chosen.days} days.")
    give(f"{chosen.url.rstrip('/')}/invitation?{urlencode({'token': token})}")
    return 0


def _listed(path: Path, email: str, role: str | None) -> Visitor:
    """The person, added to the file where a role is given and they are not in it yet."""
    roles = configured_roles({FILE: str(path)}) if path.exists() or role is None else None
    if role is not None and (roles is None or email not in roles.people):
        add_person(path, email, Role[role.upper()])
        roles = configured_roles({FILE: str(path)})
    visitor = roles.visitor(email) if roles else None
    if visitor is None:
        raise IdentityError(f"{email} is not in the roles file.", remedy="Add the person with --role ROLE.")
    if role is not None and visitor.role is not Role[role.upper()]:
        raise IdentityError(
            f"{email} has the role {visitor.role} in the roles file.", remedy="Change it there, or leave --role out."
        )
    return visitor
