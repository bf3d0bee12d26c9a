"""`invite`: print a link that logs one person in, list those that were given out, or end all of a person."""

import argparse
import os
from pathlib import Path
from urllib.parse import urlencode

from crane_core import arguments
from crane_core.arguments import add, flag, option
from crane_core.domain import AuditAction
from crane_core.errors import IdentityError
from crane_core.identity import key, logins, logouts
from crane_core.identity.passes import Purpose, new_pass, signed
from crane_core.identity.roles import (
    FILE,
    add_person,
    as_email,
    configured_roles,
)
from crane_core.identity.visitor import Role, Visitor
from crane_core.pipeline.audit import at_the_terminal, note, note_roles
from crane_core.pipeline.places import DataFolder
from crane_core.terminal import give, tell
from crane_core.verbs.sessions import moment, session_line

NAME = "invite"
HELP = "print a personal link that logs a person of the roles file in, for labs without a login provider"
EXAMPLE = "python -m crane_core invite ana@lab.example --role annotator --url https://crane.lab.example"
MAX_DAYS = 365


def add_arguments(verb: argparse.ArgumentParser) -> None:
    """Declare who is invited, in which role, for how long, and where the roles file is."""
    add(
        verb,
        option("email EMAIL", "who is invited", nargs="?"),
        option(
            "--role",
            "add the person to the roles file with this role",
            choices=[str(role) for role in Role],
        ),
        option(
            "--days",
            "how long the link can be opened (default: 14)",
            _days,
            default=14,
        ),
        flag(
            "--reusable",
            "the link can be opened again until then; otherwise it works once",
        ),
    )
    others = verb.add_argument_group("instead of a link")
    add(
        others,
        flag(
            "--list",
            "list invitations that have not expired, and who is logged in",
        ),
    )
    add(
        verb.add_argument_group("where"),
        option(
            "--url",
            "address of the app in the link",
            arguments.web_address,
            default="http://127.0.0.1:8501",
        ),
        option(
            "--roles FILE",
            f"roles file, created if missing (default: {FILE}; format: docs/admin/server.md)",
            arguments.path,
        ),
    )
    add(
        others,
        flag(
            "--revoke",
            "end all invitations and sessions that this person has, and print none",
        ),
    )


def _days(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= MAX_DAYS:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a number of days in 1..{MAX_DAYS}"
        )
    return int(text)


def run(chosen: argparse.Namespace, folder: DataFolder) -> int:
    """Print a link that logs one person in, list invitations, or end all access of a person; returns 0.

    Raises IdentityError if the address is malformed or the person is not in the roles file.
    """
    if chosen.list:
        give(_listed_words(folder))
        return 0
    given = chosen.email or ""
    email = as_email(given)
    if email is None:
        raise IdentityError(
            f"{given[:80]!r} is not an e-mail address.",
            remedy="Give one like ana@lab.example.",
        )
    if chosen.revoke:
        logouts.end_all(folder.path, email)
        note(
            folder,
            at_the_terminal(),
            AuditAction.END_ACCESS,
            email,
            "all invitations and sessions",
        )
        tell(
            f"All invitations and sessions of {email} have ended. Who is still in the roles file can be invited again, "
            "and can log in with a provider."
        )
        return 0
    path = chosen.roles or os.environ.get(FILE, "").strip()
    if not path:
        raise IdentityError(
            "No roles file is given, so nobody can be invited.",
            remedy=f"Name one with --roles FILE, or {FILE}.",
        )
    place = Path(path).expanduser()
    visitor = _listed(place, email, chosen.role)
    if roles := configured_roles({FILE: str(place)}):
        # The audit log says who had which role from when on, also where the file was edited by hand.
        note_roles(folder, roles, at_the_terminal())
    issued = new_pass(
        email, seconds=chosen.days * 86_400, is_reusable=chosen.reusable
    )
    token = signed(issued, Purpose.INVITATION, key.signing_key(folder.path))
    # Noted in the data folder, so that it can be listed, counted as opened and revoked.
    logins.give_invitation(folder.path, issued)
    how = "as often as wanted" if chosen.reusable else "once"
    note(
        folder,
        at_the_terminal(),
        AuditAction.INVITE,
        email,
        f"as {visitor.role}, {chosen.days} days, {how}",
    )
    tell(
        f"{email} is {visitor.role}, called {visitor.name} in campaigns; the link works for {chosen.days} days, {how}."
    )
    give(f"{chosen.url.rstrip('/')}/invitation?{urlencode({'token': token})}")
    return 0


def _listed_words(folder: DataFolder) -> str:
    given = [
        f"  {_invitation_words(invitation)}"
        for invitation in logins.invitations(folder.path)
    ]
    there = [
        f"  {session_line(name, login)}"
        for name, login in logins.open_sessions(folder.path).items()
    ]
    return "\n".join(
        [
            "invitations",
            *(given or ["  none"]),
            "sessions",
            *(there or ["  nobody is logged in"]),
        ]
    )


def _invitation_words(invitation: logins.Invitation) -> str:
    opened = [moment(at) for at in invitation.opened]
    was = f"opened {', '.join(opened)}" if opened else "not opened"
    how = "reusable" if invitation.is_reusable else "works once"
    dates = f"given out {moment(invitation.issued)}, until {moment(invitation.until)}"
    return f"{invitation.email}, {how}, {dates}, {was}"


def _listed(path: Path, email: str, role: str | None) -> Visitor:
    """The person, added to the file where a role is given and they are not in it yet."""
    # A file that does not exist yet is made below, by the first invitation with a role.
    roles = (
        configured_roles({FILE: str(path)})
        if path.exists() or role is None
        else None
    )
    if role is not None and (roles is None or email not in roles.people):
        add_person(path, email, Role[role.upper()])
        roles = configured_roles({FILE: str(path)})
    visitor = roles.visitor(email) if roles else None
    if visitor is None:
        raise IdentityError(
            f"{email} is not in the roles file.",
            remedy="Add the person with --role ROLE.",
        )
    if role is not None and visitor.role is not Role[role.upper()]:
        raise IdentityError(
            f"{email} has the role {visitor.role} in the roles file.",
            remedy="Change it there, or leave --role out.",
        )
    return visitor
